"""Tests of `cli/setup/past_sessions.py` and `cli/transfer/import_note.py`: the earlier sessions that no import and no
hook has stored."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.cli.setup.past_sessions import PastSessions, past_sessions
from claude_mem_lite.install.targets import target_of
from claude_mem_lite.paths import Home
from tests.support import agent_files as made
from tests.support.fake_worker import run
from tests.support.past_sessions import LONG_AGO, SHOP, PastSession, fixed_bug
from tests.support.running import leave, payload, spool_name, wait_until


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def past_of(home: Home) -> PastSessions:
    return past_sessions(home, target_of("claude-code", "user", None, os.environ))


@pytest.mark.parametrize(
    "name",
    [
        ".local/share/opencode/auth.json",
        ".local/share/opencode/snapshot/shop/session-1.json",
        ".local/share/opencode/snapshot/shop/opencode.db",
        ".gemini/tmp/shop/logs.json",
        ".copilot/session-state/p1/workspace.json",
        ".claude/projects/-home-dev-shop/sessions.json",
    ],
)
def test_files_without_sessions_count_as_none(user: Path, home: Home, name: str) -> None:
    made.write_json(user / name, {})
    assert past_of(home).agents == []


def test_every_agent_with_a_session_is_named(user: Path, home: Home) -> None:
    fixed_bug("s1").write(user / ".claude" / "projects" / "-home-dev-shop")
    made.write_lines(user / ".codex" / "sessions" / "2026" / "rollout-c1.jsonl", made.codex_session())
    made.write_lines(user / ".copilot" / "session-state" / "p1" / "events.jsonl", made.copilot_session())
    made.write_lines(made.gemini_folder(user) / "session-g1.jsonl", [made.gemini_head(), *made.gemini_messages()])
    made.opencode_files(user / ".local" / "share")
    assert past_of(home).agents == ["Claude Code", "Codex CLI", "Copilot CLI", "Gemini CLI", "OpenCode"]


@pytest.fixture
def shop(user: Path, home: Home) -> Iterator[Path]:
    """The folder of two sessions of Claude Code; a worker that a test starts ends with it."""
    folder = user / ".claude" / "projects" / "-home-dev-shop"
    for name in ("s1", "s2"):
        fixed_bug(name).write(folder)
    yield folder
    run("worker", "stop")


def new_sessions(home: Home) -> list[str]:
    return sorted(one.session for one in past_of(home).new)


def test_imported_sessions_are_not_new(shop: Path, home: Home) -> None:
    assert new_sessions(home) == ["s1", "s2"]
    assert run("import", "transcripts") == 0
    assert new_sessions(home) == []


def test_a_session_that_goes_on_after_its_import_is_new(shop: Path, home: Home) -> None:
    assert run("import", "transcripts") == 0
    fixed_bug("s2").prompt("And now the other one.").says("Done.").write(shop)
    assert new_sessions(home) == ["s2"]
    assert run("import", "transcripts") == 0
    assert new_sessions(home) == []


def test_a_session_without_prompts_is_read_once(shop: Path, home: Home) -> None:
    PastSession("s3").system("local_command").write(shop)
    assert run("import", "transcripts") == 0
    assert new_sessions(home) == []


def test_a_session_that_hooks_have_stored_is_not_new(shop: Path, home: Home) -> None:
    assert run("import", "transcripts") == 0
    session = fixed_bug("s3")
    session.write(shop)
    for event, second in (("UserPromptSubmit", 1), ("Stop", 2)):
        time_ns = int((LONG_AGO + timedelta(seconds=second)).timestamp() * 1e9)
        leave(home, payload(event, "s3", prompt="fix it"), name=spool_name(event, time_ns))
    wait_until(lambda: not new_sessions(home), "the session of the hooks")


def test_the_note_of_another_database_counts_for_nothing(shop: Path, home: Home) -> None:
    assert run("import", "transcripts") == 0
    run("worker", "stop")
    home.memory_db.unlink()
    assert new_sessions(home) == ["s1", "s2"]


# Kills itself right before it writes the note of an import for the nth time.
KILLED = """
import os, signal, sys
left = int(sys.argv.pop(1))
def count(event, arguments):
    global left
    if event == "open" and str(arguments[0]).endswith("/imported") and arguments[2] & os.O_WRONLY:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
from claude_mem_lite.cli.entry import run
run()
"""


@pytest.mark.parametrize(("number", "left"), [(1, ["s1", "s2"]), (2, ["s1", "s2"]), (3, ["s2"]), (4, ["s2"])])
def test_the_sessions_that_a_killed_import_did_not_complete_are_new(
    shop: Path, home: Home, number: int, left: list[str]
) -> None:
    line = [sys.executable, "-c", KILLED, str(number), "import", "transcripts"]
    assert subprocess.run(line, check=False).returncode == -signal.SIGKILL
    assert new_sessions(home) == left


def test_excluded_sessions_are_named_when_all_are_read(
    shop: Path, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.config.write_text(f'exclude = ["{SHOP}"]\n')
    assert run("import", "transcripts") == 0
    capsys.readouterr()
    past_of(home).print_counts()
    assert capsys.readouterr().out == (
        "2 earlier sessions, all imported but turns of excluded folders, or of a time when memory was off.\n"
    )


def test_the_note_names_no_folder_and_no_session(shop: Path, home: Home) -> None:
    home.config.write_text(f'exclude = ["{SHOP}"]\n')
    assert run("import", "transcripts") == 0
    note = home.imported.read_text()
    assert note.count("left out") == 2
    assert str(shop) not in note
    assert '"s1"' not in note
