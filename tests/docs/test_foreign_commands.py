"""Commands of other programs that pages tell a user to run: each is run by a test, or it is said why not."""

import re
from collections.abc import Iterator

from tests.docs.pages import ROOT, Page, pages

_INSTALLERS = ("chmod", "claude", "codex", "cp", "gemini", "mv", "pip", "pipx", "rm", "sudo", "touch", "uv", "uvx")
"""Also where a sentence names them."""
_IN_BLOCKS = ("apt", "brew", "cat", "cd", "curl", "git", "mkdir", "npm", "npx", "python", "python3", "systemctl")
_PLUGIN = "tests/e2e/test_plugin.py::test_from_the_wheel_it_is_installed_by_its_own_marketplace_and_leaves_again"
_CHECKOUT = (
    "tests/e2e/test_plugin.py::test_from_a_checkout_the_first_session_is_captured_and_the_next_is_told_and_can_ask"
)
RUN = {
    'claude plugin marketplace add "$(claude-mem-lite plugin)"': _PLUGIN,
    "claude plugin install mem-lite@mem-lite": _PLUGIN,
    "claude plugin uninstall mem-lite@mem-lite": _PLUGIN,
    "claude plugin marketplace remove mem-lite": _PLUGIN,
    "claude --plugin-dir src/claude_mem_lite/plugin": _CHECKOUT,
}
_LIKE_PIPX = "needs the network; tests/pipeline/test_newcomer.py installs, replaces and removes a wheel in the same way"
_OF_THE_CLIENT = "is the client's own affair, and nothing of ours is run by it"
_NAMED = "is named, not told to be run"
NOT_RUN = {
    "uv tool install .": _LIKE_PIPX,
    "pip install .": _LIKE_PIPX,
    "pipx install .": _LIKE_PIPX,
    "pipx install --force .": _LIKE_PIPX,
    "pipx uninstall claude-mem-lite": _LIKE_PIPX,
    "python3 -m venv ~/.venvs/claude-mem-lite": _LIKE_PIPX,
    "git pull": "needs a remote",
    "mv ~/.claude-mem-lite ~/.claude-mem-lite.old": "is a plain rename; what `install` then does, other tests show",
    "touch ~/.claude-mem-lite/api-key": "makes an empty file",
    "chmod 600 ~/.claude-mem-lite/api-key": "changes a mode; tests/install/doctor/test_doctor_checks.py has the reason",
    "touch ~/.claude-mem-lite/off": "makes an empty file; what hooks do then, tests/hook shows",
    "claude plugin update mem-lite@mem-lite": _OF_THE_CLIENT,
    "claude plugin disable mem-lite": _OF_THE_CLIENT,
    "claude plugin install --scope project": _OF_THE_CLIENT,
    "claude mcp remove --scope user claude-mem-lite": _OF_THE_CLIENT,
    "claude --resume": _NAMED,
    "claude -p": _NAMED,
    "claude -p --safe-mode": _NAMED,
    "claude plugin": _NAMED,
    "uv run": _NAMED,
    "uv run pytest": _NAMED,
    "pipx run": _NAMED,
    "rm -rf": _NAMED,
}


def foreign(page: Page) -> Iterator[str]:
    """The calls of other programs that a page shows, without what is said behind them."""
    in_blocks = {line.strip().removeprefix("$ ") for body in page.blocks("") for line in body.splitlines()}
    for call in page.calls():
        program, _, rest = call.partition(" ")
        told_to_run = program in _IN_BLOCKS and any(line.startswith(call) for line in in_blocks)
        if rest and (program in _INSTALLERS or told_to_run):
            yield call.partition("  #")[0].strip()


def test_every_command_of_another_program_is_run_or_it_is_said_why_not() -> None:
    shown = {call: page.name for page in pages() for call in foreign(page)}
    assert {call: where for call, where in shown.items() if call not in {**RUN, **NOT_RUN}} == {}, "new ones"
    assert [call for call in (*RUN, *NOT_RUN) if call not in shown] == [], "no page shows these any more"
    assert RUN.keys() & NOT_RUN.keys() == set()


def test_the_tests_that_run_them_are_there() -> None:
    for place in RUN.values():
        path, _, name = place.partition("::")
        assert re.search(rf"^def {name}\(", (ROOT / path).read_text("utf-8"), re.M), place
