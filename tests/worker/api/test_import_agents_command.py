"""Tests of `cli/transfer/transcript_report.py`: `import transcripts` over the files of several agents, with a real
worker."""

import json
from pathlib import Path

import pytest

from tests.support import agent_files as made
from tests.support.past_sessions import Json, fixed_bug
from tests.support.running import Machine, dump, query
from tests.worker.commands import run_here as run_on

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session of each agent, and a file of another format."""
    fixed_bug("s1").write(tmp_path / "claude")
    made.write_lines(tmp_path / "codex" / "rollout-c1.jsonl", made.codex_session())
    made.write_lines(tmp_path / "copilot" / "p1" / "events.jsonl", made.copilot_session())
    chats = made.gemini_folder(tmp_path)
    made.write_lines(chats / "session-g1.jsonl", [made.gemini_head(), *made.gemini_messages()])
    made.opencode_files(tmp_path)
    made.write_lines(tmp_path / "history.jsonl", [{"display": "fix it"}])
    return tmp_path


def report(machine: Machine, *arguments: str | Path) -> Json:
    told: Json = json.loads(run_on(machine, "import", "transcripts", "--json", *arguments).stdout)
    return told


def test_the_sessions_of_all_agents_are_stored_once(machine: Machine, folder: Path) -> None:
    first, again = report(machine, folder), report(machine, folder)
    assert (first["sessions"], first["turns"], first["waiting"]) == (5, 5, 0)
    assert (again["turns"], again["known"]) == (0, 5)
    agents = {"claude-code": 1, "codex": 1, "copilot": 1, "gemini": 1, "opencode": 1}
    assert first["files"] == agents
    stored = query(machine.view.memory_db, "select id from sessions")
    assert sorted(id_ for (id_,) in stored) == ["c1", "g1", "p1", "s1", "ses_o1"]


def test_files_and_reasons_are_counted_and_listed(machine: Machine, folder: Path) -> None:
    told = run_on(machine, "import", "transcripts", folder).stdout.splitlines()
    assert "Read 5 files: 1 of Claude Code, 1 of Codex CLI, 1 of Copilot CLI, 1 of Gemini CLI, " in told[1]
    hint = "(`claude-mem-lite import transcripts --verbose` lists them)"
    assert told[2] == f"1 file gave nothing new: 1 in another format {hint}."
    told = run_on(machine, "import", "transcripts", folder, "--verbose").stdout.splitlines()
    assert told[-7] == "6 files gave nothing new: 5 already known, 1 in another format."
    assert f"  {folder / 'history.jsonl'}: in another format" in told
    assert f"  {folder / 'codex' / 'rollout-c1.jsonl'}: already known" in told


def test_an_empty_file_has_a_reason_and_counts_for_no_agent(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    told = report(machine, tmp_path)
    assert told["files"] == {}
    assert [(one["agent"], one["reason"]) for one in told["unused"]] == [("", "empty")]


def test_a_database_of_opencode_with_the_name_of_a_channel_can_be_named(machine: Machine, tmp_path: Path) -> None:
    database = made.opencode_database(tmp_path)
    assert report(machine, database.rename(database.with_name("opencode-dev.db")))["turns"] == 1


def test_an_agent_limits_the_import(machine: Machine, folder: Path) -> None:
    told = report(machine, folder, "--agent", "codex", "--agent", "gemini")
    assert told["files"] == {"codex": 1, "gemini": 1}
    assert query(machine.view.memory_db, "select count(*) from sessions") == [(2,)]


def test_excluded_sessions_of_agents_are_left_out_with_the_reason(machine: Machine, folder: Path) -> None:
    machine.home.config.write_text(f'exclude = ["{made.CWD}"]\n')
    told = report(machine, folder, "--agent", "copilot")
    assert told["turns"] == 0
    assert {"file": str(folder / "copilot" / "p1" / "events.jsonl"), "agent": "copilot", "reason": "excluded"} in told[
        "unused"
    ]


def test_secrets_in_sessions_of_agents_are_not_stored(machine: Machine, tmp_path: Path) -> None:
    shown = f"Process exited with code 1\nOutput:\nbad credentials {SECRET}\n"
    lines = [
        made.codex_head("c1"),
        *made.codex_prompt(1, "t1", f"log in with {SECRET}"),
        *made.codex_call(2, "x1", "exec_command", {"cmd": f"gh auth {SECRET}"}, shown),
        *made.codex_end(4, "t1", f"The token {SECRET} is refused, because it has ended."),
    ]
    made.write_lines(tmp_path / "r.jsonl", lines)
    assert report(machine, tmp_path)["turns"] == 1
    assert SECRET not in str(dump(machine.view.memory_db))
    assert SECRET not in str(machine.rows())
