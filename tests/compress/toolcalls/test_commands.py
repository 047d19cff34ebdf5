"""Reading a command takes time in proportion to its length: steps are counted, not seconds."""

import sys
from collections.abc import Iterator

import pytest

from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.toolcalls import commits, shell
from tests.support.regex_steps import Count

SIZE = 100
MAX_STEPS_PER_CHARACTER = 1_500
UNITS = (
    " ", "\t", "\n", "\n ", "a", "a ", "1", "-", " -a", " -v", "/", ".", "(", ")", "$(", "`", "`gh -", '"', '\\"', "'",
    "\\", "&", "&&", "|", ";", "; ", ">", "> ", ">>", "<", "< ", "<<a", "<<'a", "<<a\n", "&> ", "A=", "A=1 ", "sudo ",
    "sudo -a ", "env ", "time ", "timeout ", "! ", "npx ", "npx -a ", "uv run ", "python -m ", "bin/", "cd ", "cd a;",
    "git ", "git -c a ", "git -C ", "git --a ", "git commit ", "-m ", "-m '", '-m "', "-m $'\\", "-xargs ", "xargs -",
    "xargs ", "sh -c ", "ssh ", "ssh -a ", "gh -a ", "curl ", "requests", "urllib", "fetch(", "nohup ", "watch -a ",
    "gradle ", "mvn ", "for a in ", "[main 1234567] a\n", "[a", " Author:\n", "Signed-off-by:\n",
)  # fmt: skip
HEADS = ("", "git commit -m ", 'echo "', "xargs", "make >", "cat <<")


@pytest.fixture
def deep_stack() -> Iterator[None]:
    """The matcher that counts goes one call deeper for each character."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def read(command: str) -> None:
    """Ask all that is asked of a command and its output."""
    commits.read_commits(command, f"{command}\n[main 1234567] Add a cart")
    shell.fetches(command)
    shell.hides_exit(command)
    shell.shows_end(command)
    shell.setting_back(command)
    shell.folders_outside(command, "/home/dev/shop")
    part, _ = shell.main_part(command)
    shell.key(part)
    shell.was_refused(command)
    shell.exit_code(command)


@pytest.mark.usefixtures("deep_stack")
@pytest.mark.parametrize("head", HEADS)
def test_no_command_is_gone_over_again_and_again(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch, [shell])
    for unit in UNITS:
        steps: list[int] = []
        for size in (SIZE, 2 * SIZE):
            count.taken = 0
            read(head + (unit * size)[:size] + "x")
            steps.append(count.taken)
        assert steps[1] <= 2.6 * steps[0] + 20 * SIZE, (unit, steps)
        assert steps[1] <= MAX_STEPS_PER_CHARACTER * 2 * SIZE, (unit, steps)


@pytest.mark.usefixtures("deep_stack")
def test_no_blanks_in_a_sentence_are_gone_over_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch, [headline])
    for unit in (" ", "\n", "\t", "\xa0"):
        steps: list[int] = []
        for size in (SIZE, 2 * SIZE):
            count.taken = 0
            headline.of_sentence(f"The cause{unit * size}was a lost handle of the pool")
            steps.append(count.taken)
        assert steps[1] <= 2.6 * steps[0] + 20 * SIZE, (unit, steps)
