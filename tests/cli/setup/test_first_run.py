"""Tests of the dialogue of `install`, at a real terminal: `cli/setup/first_run.py`, `cli/setup/past_sessions.py`,
`cli/setup/permission_question.py`.

Whoever stops it at any question has changed nothing; whoever kills it later finds whole files, and can run it again."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tomllib
from itertools import count
from pathlib import Path

import pytest

from claude_mem_lite.install.hook_config import hook_settings
from claude_mem_lite.install.permissions import RULES
from claude_mem_lite.paths import Home
from tests.support.agent_files import codex_session, write_lines
from tests.support.fake_worker import run
from tests.support.past_sessions import PastSession
from tests.support.running import COMMAND
from tests.support.terminals import CTRL_C, CTRL_D, Terminal, at_terminal

KEY = "sk-ant-made-up-0123456789"
IMPORT, TOOLS, MODEL, LAST = (
    "Import them? [Y/n]: ",
    "each time? [y/N]: ",
    "Who writes the notes? [rules]: ",
    "Go ahead? [Y/n]: ",
)
QUESTIONS = (IMPORT, TOOLS, MODEL, LAST)


@pytest.fixture
def user(home: Home) -> Path:
    """A user with one earlier session, whose memory is in a folder that does not exist yet."""
    shutil.rmtree(home.root)
    folder = Path.home() / ".claude" / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    (Path.home() / ".claude" / "settings.json").write_text('{"model": "opus"}\n')
    session = PastSession("0d5b0f3a-54a4-4b3e-9a37-0d3e0a3a0001").prompt("From now on always use pnpm, not npm.")
    session.says("Understood.")
    (folder / f"{session.id}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in session.lines))
    return Path.home()


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def folders_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_dir()}


def answer(terminal: Terminal, *answers: tuple[str, str]) -> None:
    """Type each answer at its question."""
    place = 0
    for question, typed in answers:
        place = terminal.wait_for(question, place)
        terminal.type(f"{typed}\n")


def test_enter_at_every_question_installs_and_imports_and_allows_nothing(user: Path, home: Home) -> None:
    with at_terminal("install") as terminal:
        answer(terminal, *((question, "") for question in QUESTIONS))
        assert terminal.finish() == 0
    assert "1 earlier session (under 0.1 MB) found on this machine:" in terminal.shown
    assert f"- Claude Code: 1 session, under 0.1 MB, in {user / '.claude' / 'projects'}" in terminal.shown
    assert "Imported 1 turn of 1 session" in terminal.shown
    settings = json.loads((user / ".claude" / "settings.json").read_text())
    assert settings == {"model": "opus", **hook_settings(home)}
    assert not home.config.exists()
    run("worker", "stop")


def test_it_shows_the_files_and_the_hooks_that_it_changes_before_any_question(user: Path, home: Home) -> None:
    with at_terminal("install") as terminal:
        terminal.wait_for(IMPORT)
    shown = terminal.shown
    assert f"Would add hooks in {user / '.claude' / 'settings.json'}, with a backup: SessionStart, " in shown
    assert f"Would make {home.root} for the data" in shown
    assert "Would register the MCP server" in shown


@pytest.mark.parametrize("place", range(len(QUESTIONS)))
@pytest.mark.parametrize("end", ["Ctrl-C", "Ctrl-D", "SIGKILL", "SIGTERM", "SIGHUP"])
def test_whoever_stops_at_a_question_has_changed_nothing(user: Path, place: int, end: str) -> None:
    before = files_below(user)
    with at_terminal("install") as terminal:
        answer(terminal, *((question, "y" if question == TOOLS else "") for question in QUESTIONS[:place]))
        terminal.wait_for(QUESTIONS[place])
        terminal.wait_until_it_reads()
        if end.startswith("Ctrl"):
            terminal.type(CTRL_C if end == "Ctrl-C" else CTRL_D)
        else:
            terminal.kill(signal.Signals[end])
        assert terminal.finish() == {"Ctrl-C": 130, "Ctrl-D": 1}.get(end) or terminal.process.returncode < 0
    assert ("nothing was done" in terminal.shown) is end.startswith("Ctrl")
    assert files_below(user) == before


def test_no_at_the_last_question_changes_nothing(user: Path) -> None:
    before = files_below(user)
    with at_terminal("install") as terminal:
        answer(terminal, (IMPORT, ""), (TOOLS, "y"), (MODEL, "claude-cli"), (LAST, "n"))
        assert terminal.finish() == 1
    assert "nothing was done" in terminal.shown
    assert files_below(user) == before


@pytest.mark.parametrize("is_there", [True, False])
def test_the_summary_says_that_the_program_that_is_to_write_notes_is_missing(
    user: Path, tmp_path: Path, is_there: bool
) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    if is_there:
        program.touch(0o755)
    variables = {**os.environ, "PATH": f"{program.parent}:/usr/bin:/bin"}
    with at_terminal("install", "--no-import", "--no-allow-tools", environment=variables) as terminal:
        answer(terminal, (MODEL, "claude-cli"), (LAST, "n"))
        terminal.finish()
    summary = "Notes by: claude-cli." if is_there else "Notes by: claude-cli, but `claude` is not on your PATH: until"
    assert summary in terminal.shown


def test_after_no_to_the_memory_tools_it_does_not_say_again_how_to_allow_them(user: Path) -> None:
    with at_terminal("install", "--no-import", "--provider", "rules") as terminal:
        answer(terminal, (TOOLS, "n"), (LAST, ""))
        assert terminal.finish() == 0
    assert "--allow-tools" not in terminal.shown


# Shown between two changes; the test kills the program there.
STEPS = (
    "Added the hooks",
    "Allowed the memory tools",
    "Registered the MCP server",
    "Wrote the skill",
    "Notes are written by",
)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("step", STEPS)
def test_what_is_killed_between_changes_leaves_whole_files_and_can_be_run_again(
    user: Path, home: Home, step: str, end: signal.Signals
) -> None:
    options = ("--no-import", "--allow-tools", "--provider", "claude-cli")
    with at_terminal("install", *options) as terminal:
        answer(terminal, (LAST, ""))
        terminal.wait_for(step)
        terminal.kill(end)
        status = terminal.finish()
    if status == 130:
        assert "Stopped. " in terminal.shown
        assert any(end in terminal.shown for end in ("Run the same command again", "All changes were made."))
    settings = user / ".claude" / "settings.json"
    expected = {"model": "opus", "permissions": {"allow": list(RULES)}, **hook_settings(home)}
    assert json.loads(settings.read_text()) == expected
    assert not home.config.exists() or tomllib.loads(home.config.read_text()) == {"provider": "claude-cli"}
    assert run("install", *options) == 0
    assert json.loads(settings.read_text()) == expected
    assert tomllib.loads(home.config.read_text()) == {"provider": "claude-cli"}
    assert run("uninstall") == 0
    assert settings.read_text() == '{"model": "opus"}\n'


# Kills itself right before it makes a folder, or puts a file into its place, for the nth time.
KILLED = """
import os, signal, sys
left = int(sys.argv.pop(1))
def count(event, arguments):
    global left
    if event not in ("os.rename", "os.mkdir"):
        return
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
from claude_mem_lite.cli.entry import run
run()
"""


@pytest.mark.parametrize("is_completed", [True, False])
def test_a_kill_before_any_file_is_replaced_leaves_old_files_or_new_ones(
    user: Path, home: Home, is_completed: bool
) -> None:
    settings, server = user / ".claude" / "settings.json", user / ".claude.json"
    new = {"model": "opus", "permissions": {"allow": list(RULES)}, **hook_settings(home)}
    options = ["install", "--allow-tools", "--provider", "anthropic", "--key-stdin"]
    before, folders = files_below(user), folders_below(user)
    for number in count(1):
        ran = subprocess.run([sys.executable, "-c", KILLED, str(number), *options], input=KEY, text=True, check=False)
        assert json.loads(settings.read_text()) in ({"model": "opus"}, new)
        assert not server.exists() or "mcpServers" in json.loads(server.read_text())
        assert not home.api_key.exists() or home.api_key.read_text() == f"{KEY}\n"
        assert not home.config.exists() or home.api_key.exists()
        if ran.returncode == 0:
            break
        assert ran.returncode == -signal.SIGKILL
        if is_completed:
            subprocess.run([COMMAND, *options], input=KEY, text=True, check=True)
            assert json.loads(settings.read_text()) == new
            assert tomllib.loads(home.config.read_text()) == {"provider": "anthropic"}
        assert run("uninstall") == 0
        shutil.rmtree(home.root, ignore_errors=True)
        assert files_below(user) == before, f"killed before the {number}th file or folder, then uninstalled"
        assert folders_below(user) == folders, f"killed before the {number}th file or folder, then uninstalled"
    assert number > 5


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_an_import_that_is_killed_is_completed_by_the_next_run(
    user: Path, end: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = user / ".claude" / "projects" / "-home-dev-shop"
    for number in range(200):
        session = PastSession(f"0d5b0f3a-54a4-4b3e-9a37-0d3e0a3b{number:04}").prompt(f"Always use port {number}.")
        session.says("Understood.")
        (folder / f"{session.id}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in session.lines))
    with at_terminal("install", "--yes", "--import") as terminal:
        terminal.wait_for("Wrote the skill")
        terminal.kill(end)
        terminal.finish()
    assert end is signal.SIGKILL or "import. Run the same command again" in terminal.shown
    assert run("install", "--import") == 0
    capsys.readouterr()
    assert run("install", "--import") == 0
    assert "201 turns were there already." in capsys.readouterr().out
    assert run("worker", "stop") == 0


def test_only_new_sessions_are_offered_and_imported_by_the_next_run(user: Path) -> None:
    assert run("install", "--import") == 0
    folder = user / ".claude" / "projects" / "-home-dev-shop"
    session = PastSession("0d5b0f3a-54a4-4b3e-9a37-0d3e0a3a0002").prompt("Always use port 1.").says("Understood.")
    session.write(folder)
    with at_terminal("install", "--provider", "rules") as terminal:
        answer(terminal, ("Import the new one? [Y/n]: ", ""), (TOOLS, ""), (LAST, ""))
        assert terminal.finish() == 0
    assert "1 of them is new, or changed since the last import." in terminal.shown
    assert "Imported 1 turn of 1 session" in terminal.shown
    assert run("worker", "stop") == 0


def test_sessions_that_are_all_imported_are_neither_asked_about_nor_offered(user: Path) -> None:
    assert run("install", "--import") == 0
    with at_terminal("install", "--provider", "rules") as terminal:
        answer(terminal, (TOOLS, ""), (LAST, ""))
        assert terminal.finish() == 0
    assert "1 earlier session, all imported." in terminal.shown
    assert "Import them?" not in terminal.shown
    assert "import transcripts" not in terminal.shown
    assert run("worker", "stop") == 0


def test_a_typed_key_is_not_shown_and_is_for_the_user_alone(user: Path, home: Home) -> None:
    with at_terminal("install", "--no-import") as terminal:
        answer(terminal, (TOOLS, ""), (MODEL, "anthropic"), ("later): ", KEY), (LAST, ""))
        assert terminal.finish() == 0
    assert KEY not in terminal.shown
    assert home.api_key.read_text() == f"{KEY}\n"
    assert stat.S_IMODE(home.api_key.stat().st_mode) == 0o600
    assert tomllib.loads(home.config.read_text()) == {"provider": "anthropic"}


def test_text_that_is_no_key_is_asked_for_again(user: Path, home: Home) -> None:
    with at_terminal("install", "--no-import") as terminal:
        answer(terminal, (TOOLS, ""), (MODEL, "anthropic"), ("later): ", "my key"), ("later): ", ""), (LAST, ""))
        assert terminal.finish() == 0
    assert "that is no key" in terminal.shown
    assert "No key yet: write it into" in terminal.shown
    assert not home.api_key.exists()


def test_a_second_run_has_the_present_answers_as_defaults(user: Path, home: Home) -> None:
    run("install", "--allow-tools", "--provider", "openai", "--model", "gpt-x")
    before = files_below(user)
    with at_terminal("install") as terminal:
        answer(terminal, (IMPORT, "n"), ("notes? [openai]: ", ""), ("later): ", ""), (LAST, ""))
        assert terminal.finish() == 0
    assert "The memory tools are allowed by" in terminal.shown
    assert "up to date; nothing changes there." in terminal.shown
    assert files_below(user) == before


def test_it_ends_with_the_next_step_and_how_to_see_that_it_works(user: Path) -> None:
    with at_terminal("install") as terminal:
        answer(terminal, (IMPORT, "n"), (TOOLS, ""), (MODEL, ""), (LAST, ""))
        terminal.finish()
    end = terminal.shown.partition("Memories are kept in")[2]
    assert "Next: start claude as usual, work, then run `claude-mem-lite status`." in end
    assert "`claude-mem-lite doctor` checks that everything works" in end


@pytest.mark.parametrize("option", ["--yes", "--dry-run"])
def test_with_yes_or_a_dry_run_nothing_is_asked_on_a_terminal(user: Path, home: Home, option: str) -> None:
    with at_terminal("install", option) as terminal:
        assert terminal.finish() == 0
    assert "]: " not in terminal.shown
    assert "Imported" not in terminal.shown
    assert not home.config.exists()


def test_a_dry_run_shows_the_import_and_the_model_of_the_options(
    user: Path, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files_below(user)
    assert run("install", "--dry-run", "--import", "--provider", "openai", "--model", "gpt-x") == 0
    shown = capsys.readouterr().out
    assert f"Would have notes written by openai gpt-x, in {home.config}." in shown
    assert "1 earlier session (under 0.1 MB) found on this machine:" in shown
    assert "Would import 1 session (under 0.1 MB);" in shown
    assert files_below(user) == before


def test_an_agent_at_a_terminal_is_asked_nothing(user: Path) -> None:
    with at_terminal("install", environment={**os.environ, "CLAUDECODE": "1"}) as terminal:
        assert terminal.finish() == 0
    assert "]: " not in terminal.shown


def test_without_a_terminal_nothing_is_asked_or_imported(user: Path, home: Home) -> None:
    ran = subprocess.run([COMMAND, "install"], input="y\ny\ny\ny\n", text=True, capture_output=True, check=True)
    assert "?" not in ran.stdout
    assert not home.memory_db.exists()


def test_a_broken_config_is_told_before_the_first_question(user: Path, home: Home) -> None:
    home.make()
    home.config.write_text("provider = 3\n")
    with at_terminal("install") as terminal:
        assert terminal.finish() == 1
    assert "provider must be a string" in terminal.shown
    assert "[Y/n]" not in terminal.shown


def write_session_of_codex(user: Path) -> Path:
    return write_lines(user / ".codex" / "sessions" / "2026" / "rollout-c1.jsonl", codex_session())


@pytest.mark.parametrize("agent", ["claude-code", "codex", "cursor"])
def test_sessions_of_all_agents_are_counted_and_imported_whatever_agent_it_is_for(user: Path, agent: str) -> None:
    write_session_of_codex(user)
    with at_terminal("install", "--agent", agent, "--provider", "rules") as terminal:
        questions = QUESTIONS if agent == "claude-code" else (IMPORT, LAST)
        answer(terminal, *((question, "") for question in questions if question != MODEL))
        assert terminal.finish() == 0
    assert "2 earlier sessions (under 0.1 MB) found on this machine:" in terminal.shown
    assert f"- Codex CLI: 1 session, under 0.1 MB, in {user / '.codex' / 'sessions'}" in terminal.shown
    assert "Imported 2 turns of 2 sessions" in terminal.shown
    run("worker", "stop")


def test_sessions_in_an_unusual_folder_of_the_agent_are_counted_and_imported(user: Path) -> None:
    write_session_of_codex(user)
    folder = (user / ".claude").rename(user / "claude-at-work")
    line = [str(COMMAND), "install", "--config-dir", str(folder), "--import"]
    shown = subprocess.run(line, text=True, capture_output=True, check=True).stdout
    assert "Imported 2 turns of 2 sessions" in shown
    assert "Read 2 files: 1 of Claude Code, 1 of Codex CLI." in shown
    run("worker", "stop")


def test_without_earlier_sessions_nothing_is_asked_about_them(user: Path) -> None:
    shutil.rmtree(user / ".claude" / "projects")
    with at_terminal("install") as terminal:
        answer(terminal, *((question, "") for question in QUESTIONS if question != IMPORT))
        assert terminal.finish() == 0
    assert (
        "No earlier sessions of Claude Code, Codex CLI, Copilot CLI, Gemini CLI or OpenCode were found."
        in terminal.shown
    )
    assert "import transcripts" not in terminal.shown


def test_an_install_that_imported_nothing_names_the_agents_with_sessions(user: Path) -> None:
    write_session_of_codex(user)
    ran = subprocess.run([COMMAND, "install"], text=True, capture_output=True, check=True)
    end = "`claude-mem-lite import transcripts` imports your earlier sessions (Claude Code, Codex CLI).\n"
    assert ran.stdout.endswith(end)


def test_flags_import_without_a_terminal(user: Path) -> None:
    ran = subprocess.run([COMMAND, "install", "--import"], text=True, capture_output=True, check=True)
    assert "Imported 1 turn of 1 session" in ran.stdout
    assert "import transcripts` imports" not in ran.stdout
    run("worker", "stop")
