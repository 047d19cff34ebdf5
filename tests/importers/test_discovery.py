"""Where the transcripts of each agent are found, and why a file is not used."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.importers.agent_session import NO_FOLDER, OF_SUBAGENT
from claude_mem_lite.importers.discovery import (
    AGENTS,
    EMPTY,
    NO_TURNS,
    OTHER_AGENT,
    OTHER_FORMAT,
    Discovery,
    discover,
    folders_of,
    why_empty,
)
from claude_mem_lite.importers.jsonl_reader import TranscriptProblem
from tests.support import agent_files as made
from tests.support.past_sessions import Json, fixed_bug


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a session of every agent."""
    monkeypatch.setenv("HOME", str(tmp_path))
    fixed_bug("s1").write(tmp_path / ".claude" / "projects" / "-home-dev-shop")
    made.write_lines(tmp_path / ".codex" / "sessions" / "2026" / "rollout-c1.jsonl", made.codex_session())
    made.write_lines(tmp_path / ".copilot" / "session-state" / "p1" / "events.jsonl", made.copilot_session())
    chats = made.gemini_folder(tmp_path)
    made.write_lines(chats / "session-g1.jsonl", [made.gemini_head(), *made.gemini_messages()])
    made.opencode_files(tmp_path / ".local" / "share")
    return tmp_path


def reasons(found: Discovery) -> list[tuple[str, str]]:
    return sorted((unused.path.name, unused.reason) for unused in found.unused)


def test_the_sessions_of_all_agents_are_found_in_their_own_folders(home: Path) -> None:
    found = discover([], AGENTS, {}, [])
    assert {(one.agent, one.session) for one in found.transcripts} == {
        ("claude-code", "s1"),
        ("codex", "c1"),
        ("copilot", "p1"),
        ("gemini", "g1"),
        ("opencode", "ses_o1"),
    }
    assert found.unused == []


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("agent", AGENTS)
def test_agents_limit_the_search(agent: str) -> None:
    found = discover([], [agent], {}, [])
    assert [one.agent for one in found.transcripts] == [agent]


def test_a_folder_of_all_agents_is_told_apart_by_the_first_lines(home: Path) -> None:
    found = discover([home], AGENTS, {}, [])
    assert sorted(one.agent for one in found.transcripts) == sorted(AGENTS)


def test_files_of_another_agent_are_named_where_one_agent_is_chosen(home: Path) -> None:
    found = discover([home], ["gemini"], {}, [])
    assert [one.agent for one in found.transcripts] == ["gemini"]
    assert {reason for _, reason in reasons(found)} == {OTHER_AGENT}
    assert len(found.unused) == 4


def test_variables_of_the_agents_name_their_folders() -> None:
    environment = {
        "CLAUDE_CONFIG_DIR": "/etc/claude",
        "CODEX_HOME": "/c",
        "COPILOT_HOME": "/p",
        "GEMINI_CLI_HOME": "/g",
        "XDG_DATA_HOME": "/x",
    }
    folders = {agent: str(folders_of(agent, environment)[0]) for agent in AGENTS}
    assert folders == {
        "claude-code": "/etc/claude/projects",
        "codex": "/c/sessions",
        "copilot": "/p/session-state",
        "gemini": "/g/.gemini/tmp",
        "opencode": "/x/opencode",
    }
    assert Path("/c/archived_sessions") in folders_of("codex", environment)


def test_without_a_variable_an_agent_has_a_folder_in_the_home_of_the_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folders_of("claude-code", {}) == [tmp_path / ".claude" / "projects"]


def test_every_file_that_is_not_read_has_a_reason(home: Path) -> None:
    sessions = home / ".codex" / "sessions"
    made.write_lines(sessions / "other.jsonl", [{"display": "fix it"}])
    (sessions / "empty.jsonl").touch()
    made.write_lines(sessions / "sub.jsonl", [made.codex_head("c9", thread_source="subagent")])
    made.write_lines(
        sessions / "nowhere.jsonl", [{**(head := made.codex_head("c8")), "payload": {**head["payload"], "cwd": ""}}]
    )
    chats = home / ".gemini" / "tmp" / "unknown" / "chats"
    made.write_lines(chats / "session-g9.jsonl", [made.gemini_head("g9")])
    made.opencode_files(home / ".local" / "share", "ses_o9", parentID="ses_o1")
    assert reasons(discover([], AGENTS, {}, [])) == [
        ("empty.jsonl", EMPTY),
        ("nowhere.jsonl", NO_FOLDER),
        ("other.jsonl", OTHER_FORMAT),
        ("ses_o9.json", OF_SUBAGENT),
        ("session-g9.jsonl", NO_FOLDER),
        ("sub.jsonl", OF_SUBAGENT),
    ]


@pytest.mark.parametrize("id_", ["ses_/../../x", "ses_..", "ses_/x", "ses_\0", "ses_"])
def test_an_id_of_opencode_that_may_lead_elsewhere_as_a_path_is_in_another_format(tmp_path: Path, id_: str) -> None:
    path = made.opencode_files(tmp_path)
    made.write_json(path, {"id": id_, "directory": made.CWD, "time": {"created": made.millis(0)}})
    found = discover([path], AGENTS, {}, [])
    assert (found.transcripts, reasons(found)) == ([], [(path.name, OTHER_FORMAT)])


def test_a_sub_agents_file_without_its_session_has_a_reason(tmp_path: Path) -> None:
    line = {"type": "user", "sessionId": "gone", "timestamp": made.stamp(0), "message": {"content": "look"}}
    beside = made.write_lines(tmp_path / "agent-a1.jsonl", [line])
    below = made.write_lines(tmp_path / "gone" / "subagents" / "agent-b2.jsonl", [line])
    noise = made.write_lines(tmp_path / "agent-c3.jsonl", [{"display": "fix it"}])
    expected = [(beside.name, OF_SUBAGENT), (below.name, OF_SUBAGENT), (noise.name, OTHER_FORMAT)]
    assert reasons(discover([tmp_path], AGENTS, {}, [])) == expected
    assert reasons(discover([beside, below, noise], AGENTS, {}, [])) == expected
    assert {reason for _, reason in reasons(discover([tmp_path], ["codex"], {}, []))} == {OTHER_AGENT}


def test_a_sub_agents_file_of_a_session_that_is_read_is_not_named(tmp_path: Path) -> None:
    fixed_bug("s1").write(tmp_path)
    made.write_lines(tmp_path / "s1" / "subagents" / "agent-b2.jsonl", [{"display": "fix it"}])
    assert discover([tmp_path], AGENTS, {}, []).unused == []


def test_a_session_of_another_agent_may_be_named_like_a_sub_agents(tmp_path: Path) -> None:
    path = made.write_lines(tmp_path / "agent-run-1.jsonl", made.codex_session())
    for given in (tmp_path, path):
        assert [(one.agent, one.path) for one in discover([given], AGENTS, {}, []).transcripts] == [("codex", path)]


def test_sessions_are_read_in_the_order_in_which_they_began(home: Path) -> None:
    made.opencode_files(home / ".local" / "share", "ses_o0", time={"created": made.millis(-60)})
    made.write_lines(home / ".codex" / "archived_sessions" / "rollout-c0.jsonl", early_codex_session())
    assert [one.session for one in discover([], AGENTS, {}, []).transcripts][:2] == ["c0", "ses_o0"]


def early_codex_session() -> list[Json]:
    head, *rest = made.codex_session("c0")
    return [{**head, "payload": {**head["payload"], "timestamp": made.stamp(-120)}}, *rest]


def test_other_files_in_the_folders_of_agents_are_no_sessions(home: Path) -> None:
    made.write_json(home / ".gemini" / "tmp" / "shop" / "logs.json", {"type": "user"})
    made.write_json(home / ".local" / "share" / "opencode" / "storage" / "session" / "p1" / "share.json", {"url": "x"})
    found = discover([], AGENTS, {}, [])
    assert (len(found.transcripts), found.unused) == (len(AGENTS), [])


def test_the_size_of_a_database_of_opencode_counts_once_and_with_its_log(tmp_path: Path) -> None:
    path = made.opencode_database(tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = wal")
        db.execute("insert into session values ('ses_o2', ?, null, ?)", (made.CWD, made.millis(5)))
        db.commit()
        log = path.with_name("opencode.db-wal").stat().st_size
        sizes = [one.size_bytes for one in discover([path], AGENTS, {}, []).transcripts]
        assert log > 0
        assert sizes == [path.stat().st_size + log, 0]


def test_an_empty_session_and_another_format_are_told_apart(tmp_path: Path) -> None:
    empty = made.write_lines(tmp_path / "a.jsonl", [made.codex_head("c1")])
    history = made.write_lines(tmp_path / "b.jsonl", [{"display": "fix it"}])
    found = {one.path: one for one in discover([tmp_path], AGENTS, {}, []).transcripts}
    assert (why_empty(found[empty]), why_empty(found[history])) == (NO_TURNS, OTHER_FORMAT)


def test_a_file_that_cannot_be_read_does_not_keep_the_others_from_being_found(home: Path) -> None:
    os.mkfifo(home / ".codex" / "sessions" / "pipe.jsonl")
    (home / ".local" / "share" / "opencode" / "opencode.db").write_text("no database")
    (home / ".codex" / "sessions" / "gone.jsonl").symlink_to(home / "nowhere")
    problems: list[TranscriptProblem] = []
    assert len(discover([], AGENTS, {}, problems).transcripts) == len(AGENTS)
    assert sorted(problem.path.name for problem in problems) == ["gone.jsonl", "opencode.db", "pipe.jsonl"]


@pytest.mark.parametrize("is_named", [True, False])
def test_an_unreadable_file_named_like_a_sub_agents_is_a_problem_and_of_no_format(
    tmp_path: Path, is_named: bool
) -> None:
    pipe = tmp_path / "agent-a1b2.jsonl"
    os.mkfifo(pipe)
    problems: list[TranscriptProblem] = []
    assert discover([pipe if is_named else tmp_path], AGENTS, {}, problems).unused == []
    assert [problem.path for problem in problems] == [pipe]


def test_a_document_that_is_no_json_is_a_problem(home: Path) -> None:
    broken = home / ".gemini" / "tmp" / "shop" / "chats" / "session-g2.json"
    broken.write_text('{"sessionId": "g2", ')
    problems: list[TranscriptProblem] = []
    assert discover([], ["gemini"], {}, problems).unused == []
    assert [problem.path for problem in problems] == [broken]
