"""Tests of `cli/records.py`, `cli/filters.py`, `cli/sessions.py` and `cli/search.py`: requests to the worker and
printed output of search, list, show, timeline, sessions."""

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from tests.support.fake_worker import HIT, MEMORY, FakeWorker, fake_worker, run

SESSION: dict[str, JsonValue] = {
    "id": "s1",
    "status": "completed",
    "last_event_at": "2026-01-01T00:00:00+00:00",
    "title": "Mended the login",
    "summary": {"headline": "Mended the login"},
}
TURN: dict[str, JsonValue] = {
    "id": "tttt22",
    "kind": "turn",
    "title": "Why are users logged out?",
    "text": "Two refreshes ran at once.",
    "asked": "Why are users logged out?\nSince yesterday.",
    "answered": "Two refreshes ran at once.",
    "session": "s1",
    "project": "github.com/me/shop",
    "created_at": "2026-01-01T00:00:00+00:00",
}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        yield worker


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a file in it; the current folder is inside."""
    root = (tmp_path / "shop").resolve()
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "src" / "auth").mkdir(parents=True)
    (root / "src" / "auth" / "jwt.py").touch()
    monkeypatch.chdir(root / "src")
    return root


def test_search_json_is_a_list_with_exactly_the_agreed_keys(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, "internal": 1}]})
    assert run("search", "token", "--json") == 0
    assert json.loads(capsys.readouterr().out) == [HIT]


def test_search_asks_for_the_current_folder(
    worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.answer("GET /api/search", {"hits": []})
    monkeypatch.chdir(tmp_path)
    run("search", "token")
    asked = dict(worker.last("/api/search").query)
    assert (asked["cwd"], asked["all_projects"], asked["limit"]) == (str(tmp_path), "false", "10")


def test_search_hands_on_kinds_and_times(worker: FakeWorker) -> None:
    worker.answer("GET /api/search", {"hits": []})
    run("search", "x", "--kind", "Anti-Pattern", "--kind", "rule", "--since", "2026-03-01T10:00Z", "--all-projects")
    asked = worker.last("/api/search").query
    assert [value for name, value in asked if name == "kind"] == ["anti_pattern", "rule"]
    assert dict(asked)["since"] == "2026-03-01T10:00:00+00:00"
    assert dict(asked)["all_projects"] == "true"


def test_search_shows_title_and_summary(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": [HIT]})
    run("search", "token")
    shown = capsys.readouterr().out
    assert "k7f3a9  Fix the token refresh race  [bugfix, " in shown
    assert "    Two refreshes at once logged users out." in shown
    assert "score" not in shown


def test_a_summary_that_repeats_the_title_is_not_shown(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, "summary": HIT["title"]}]})
    run("search", "token")
    assert capsys.readouterr().out.count("token refresh") == 1


def test_search_explains_when_asked(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": [HIT]})
    run("search", "token", "--explain")
    assert capsys.readouterr().out.splitlines()[2:] == [
        "    score 1.5, the sum of",
        "    title has token",
        "    recent",
    ]


def test_a_search_without_a_certain_hit_says_so_before_the_nearest(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    turn = {**HIT, "id": "t4", "kind": "turn", "certain": False}
    worker.answer("GET /api/search", {"hits": [{**HIT, "certain": False}, turn]})
    assert run("search", "banana", "smoothie") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Nothing certain; nearest:\nk7f3a9  ")
    assert "not certain" not in shown


def test_among_certain_hits_the_others_are_marked(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": [HIT, {**HIT, "id": "m9x2b4", "certain": False}]})
    run("search", "token")
    first, _, second, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("k7f3a9")
    assert "not certain" not in first
    assert second.startswith("m9x2b4")
    assert second.endswith(", not certain]")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "Try fewer or other words, --status any or --all-projects."),
        (["--all-projects"], "Try fewer or other words or --status any."),
        (["--all-projects", "--status", "any"], "Try fewer or other words or fewer filters."),
        (["--kind", "rule"], "Try fewer or other words, fewer filters, --status any or --all-projects."),
    ],
)
def test_a_search_that_finds_nothing_says_what_was_not_tried(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], more: list[str], told: str
) -> None:
    worker.answer("GET /api/search", {"hits": []})
    assert run("search", "token", *more) == 0
    assert capsys.readouterr().out == f"Nothing found for 'token'. {told}\n"


@pytest.mark.parametrize(("command", "answer"), [("search", "hits"), ("sessions", "sessions")])
def test_a_query_without_end_is_not_printed_back(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], command: str, answer: str
) -> None:
    worker.answer(f"GET /api/{command}", {answer: []})
    assert run(command, "x" * 20_000) == 0
    assert len(capsys.readouterr().out) < 500


def test_raw_text_is_told_from_a_memory_and_cut_to_a_line(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, "kind": "turn", "summary": "word " * 100}]})
    run("search", "token")
    border, head, text = capsys.readouterr().out.splitlines()
    assert border == "Said in sessions:"
    assert head.endswith("days ago]")
    assert len(text) < 310
    assert text.endswith("…")


@pytest.mark.parametrize(("command", "path"), [("search", "search"), ("sessions", "sessions")])
def test_a_query_may_be_several_words(worker: FakeWorker, command: str, path: str) -> None:
    worker.answer(f"GET /api/{path}", {"hits": [], "sessions": []})
    assert run(command, "telemetry", "opt", "out", "--limit", "3") == 0
    assert dict(worker.last(f"/api/{path}").query)["query"] == "telemetry opt out"


def test_memories_are_shown_before_what_was_said(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    said = [{**HIT, "id": "tttt22", "kind": "turn", "summary": ""}, {**HIT, "id": "ssss33", "kind": "session"}]
    hits: list[JsonValue] = [said[0], {**HIT, "summary": ""}, said[1]]
    worker.answer("GET /api/search", {"hits": hits})
    run("search", "token")
    shown = [line.split()[0] for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert shown == ["k7f3a9", "Also", "tttt22", "ssss33"]
    run("search", "token", "--json")
    assert [hit["id"] for hit in json.loads(capsys.readouterr().out)] == ["tttt22", "k7f3a9", "ssss33"]


def test_search_tells_what_no_longer_holds_and_how_many_are_alike(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, "status": "retired", "alike": ["a", "b", "c"]}]})
    run("search", "token", "--status", "any")
    head = capsys.readouterr().out.splitlines()[0]
    assert "[bugfix, retired, " in head
    assert head.endswith(" ago, +3 alike]")


def test_an_active_memory_needs_no_word_about_it(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, "status": "active", "alike": []}]})
    run("search", "token")
    head = capsys.readouterr().out.splitlines()[0]
    assert "active" not in head
    assert head.endswith(" days ago]")


def test_list_tells_what_no_longer_holds(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/memories", {"memories": [{**MEMORY, "status": "superseded"}]})
    run("list", "--status", "any")
    assert capsys.readouterr().out.split("\t")[1] == "bugfix, superseded"


def test_over_all_projects_each_is_named_as_shortly_as_can_be(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    projects = ["github.com/me/shop", "/srv/code/api", "github.com/you/api"]
    named = ["shop", "/srv/code/api", "github.com/you/api"]
    worker.answer("GET /api/search", {"hits": [{**HIT, "project": one, "summary": ""} for one in projects]})
    worker.answer("GET /api/memories", {"memories": [{**MEMORY, "project": one} for one in projects]})
    worker.answer("GET /api/sessions", {"sessions": [{**SESSION, "project": one} for one in projects]})
    run("search", "token", "--all-projects")
    shown = [line.rpartition(", ")[2] for line in capsys.readouterr().out.splitlines()]
    assert shown == [f"{name}]" for name in named]
    for command in ("list", "sessions"):
        run(command, "--all-projects")
        assert [line.split("\t")[3] for line in capsys.readouterr().out.splitlines()] == named


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["search", ""], "no words to look for; `claude-mem-lite list` shows the newest"),
        (["search", "*", "?"], "no words to look for; `claude-mem-lite list` shows the newest"),
        (["search", "*", "--file", "a b.py"], "`claude-mem-lite list --file 'a b.py'` shows the newest"),
        (["sessions", "*"], "`claude-mem-lite sessions` lists the last"),
    ],
)
def test_a_query_without_words_is_refused_with_a_way_out(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], line: list[str], told: str
) -> None:
    assert run(*line) == 2
    assert told in capsys.readouterr().err
    assert worker.seen == []


@pytest.mark.parametrize("query", ["#ekdt", "#ekdtqycxbw", "ekdtqycxbw", "0822e04b-1111-4222-8333-abcdefabcdef"])
def test_an_id_that_is_searched_for_is_pointed_to_show(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], query: str
) -> None:
    worker.answer("GET /api/search", {"hits": []})
    run("search", query)
    assert f"`claude-mem-lite show {query.removeprefix('#')}` shows" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["search", "x"], ["list"]])
def test_every_filter_is_handed_on(worker: FakeWorker, command: list[str]) -> None:
    path = "/api/search" if command[0] == "search" else "/api/memories"
    worker.answer(f"GET {path}", {"hits": [], "memories": []})
    filters = ["--kind", "bugfix", "--scope", "Language:python", "--file", "jwt.py", "--branch", "feature/x"]
    times = ["--since", "2026-03-01T10:00Z", "--until", "2026-03-02T10:00+02:00"]
    assert run(*command, *filters, *times, "--status", "active", "--status", "Superseded", "--limit", "7") == 0
    asked = [one for one in worker.last(path).query if one[0] not in ("query", "cwd", "all_projects")]
    assert asked == [
        ("kind", "bugfix"),
        ("scope", "language:python"),
        ("file", "jwt.py"),
        ("branch", "feature/x"),
        ("since", "2026-03-01T10:00:00+00:00"),
        ("until", "2026-03-02T08:00:00+00:00"),
        ("status", "active"),
        ("status", "superseded"),
        ("limit", "7"),
    ]


def test_any_status_means_every_status(worker: FakeWorker) -> None:
    worker.answer("GET /api/memories", {"memories": []})
    run("list", "--status", "any")
    sent = [value for name, value in worker.last("/api/memories").query if name == "status"]
    assert sent == ["active", "superseded", "retired", "quarantined"]


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("auth/jwt.py", "src/auth/jwt.py"),
        ("./auth/jwt.py", "src/auth/jwt.py"),
        ("../src/auth/../auth/jwt.py", "src/auth/jwt.py"),
        ("ROOT/src/auth/jwt.py", "src/auth/jwt.py"),
        ("ROOT/src/gone.py", "src/gone.py"),
        ("./gone.py", "src/gone.py"),
        ("jwt.py", "jwt.py"),
        ("src/auth/jwt.py", "src/auth/jwt.py"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
        ("../../elsewhere/x.py", "PARENT/elsewhere/x.py"),
        ("/etc/hosts", "/etc/hosts"),
    ],
)
def test_a_file_is_named_from_the_root_of_its_project(
    worker: FakeWorker, repository: Path, typed: str, sent: str
) -> None:
    worker.answer("GET /api/memories", {"memories": []})
    run("list", "--file", typed.replace("ROOT", str(repository)))
    assert dict(worker.last("/api/memories").query)["file"] == sent.replace("PARENT", str(repository.parent))


def test_a_file_is_looked_for_in_the_folder_that_is_named(
    worker: FakeWorker, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.answer("GET /api/search", {"hits": []})
    monkeypatch.chdir("/")
    run("search", "x", "--file", "jwt.py", "--cwd", str(repository / "src" / "auth"))
    assert dict(worker.last("/api/search").query)["file"] == "src/auth/jwt.py"


def test_a_file_behind_a_link_to_the_project_is_found_in_it(
    worker: FakeWorker, repository: Path, tmp_path: Path
) -> None:
    worker.answer("GET /api/memories", {"memories": []})
    (tmp_path / "link").symlink_to(repository)
    run("list", "--file", str(tmp_path / "link" / "src" / "auth" / "jwt.py"))
    assert dict(worker.last("/api/memories").query)["file"] == "src/auth/jwt.py"


def test_nothing_found_is_still_json(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": []})
    run("search", "token", "--json")
    assert json.loads(capsys.readouterr().out) == []


def test_stored_text_cannot_drive_the_terminal(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, "title": "red \x1b[31m bell \x07 title \x1b]0;x\x07 end"}]})
    run("search", "token")
    shown = capsys.readouterr().out
    assert "red bell title end" in shown
    assert "\x1b" not in shown


def test_list_prints_one_line_a_memory_when_no_terminal_reads_it(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/memories", {"memories": [MEMORY, {**MEMORY, "id": "b2", "title": "two\nlines"}]})
    run("list")
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [(line[0], line[1], line[3]) for line in lines] == [
        ("k7f3a9", "bugfix", "Fix the token refresh race"),
        ("b2", "bugfix", "two lines"),
    ]


def test_an_empty_list_says_what_to_do(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/memories", {"memories": []})
    assert run("list") == 0
    told = capsys.readouterr().out
    assert "claude-mem-lite remember" in told
    assert "claude-mem-lite import transcripts" in told
    assert "--all-projects" in told
    run("list", "--all-projects")
    assert "--all-projects" not in capsys.readouterr().out


def test_an_empty_list_with_filters_says_what_to_try(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/memories", {"memories": []})
    run("list", "--branch", "main")
    told = "No memories fit. Try other filters, fewer filters, --status any or --all-projects.\n"
    assert capsys.readouterr().out == told


def test_list_json_has_every_field(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/memories", {"memories": [MEMORY]})
    run("list", "--kind", "bugfix", "--limit", "3", "--json")
    assert json.loads(capsys.readouterr().out) == [MEMORY]
    assert ("kind", "bugfix") in worker.last("/api/memories").query
    assert ("limit", "3") in worker.last("/api/memories").query


def test_show_tells_everything_of_a_memory(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/records/k7f3a9", MEMORY)
    assert run("show", "#k7f3a9") == 0
    shown = capsys.readouterr().out
    assert "A lock around the refresh." in shown
    assert "files: src/auth.py" in shown


def test_show_tells_which_functions_were_changed(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    symbols = [{"file": "src/auth.py", "name": "refresh", "action": "modified"}]
    worker.answer("GET /api/records/k7f3a9", {**MEMORY, "symbols": symbols})
    run("show", "k7f3a9")
    assert "symbols: refresh modified" in capsys.readouterr().out


def test_show_json_is_a_list_in_the_order_asked_for(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/records/aaaa", {**MEMORY, "id": "aaaa"})
    worker.answer("GET /api/records/bbbb", {**MEMORY, "id": "bbbb"})
    run("show", "bbbb", "aaaa", "--json")
    assert [memory["id"] for memory in json.loads(capsys.readouterr().out)] == ["bbbb", "aaaa"]


def test_show_of_one_unknown_id_shows_the_rest_and_fails(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/records/aaaa", {**MEMORY, "id": "aaaa"})
    worker.refuse("GET /api/records/bbbb", 404, "not_found", "nothing is bbbb", "`claude-mem-lite list` shows them")
    assert run("show", "bbbb", "aaaa", "--json") == 1
    shown = capsys.readouterr()
    assert [memory["id"] for memory in json.loads(shown.out)] == ["aaaa"]
    assert shown.err == "claude-mem-lite show: nothing is bbbb; `claude-mem-lite list` shows them\n"


def test_show_tells_all_of_a_turn(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/records/tttt22", TURN)
    assert run("show", "tttt22") == 0
    assert capsys.readouterr().out.splitlines() == [
        "tttt22  Why are users logged out?  [turn]",
        "asked:",
        "Why are users logged out?",
        "Since yesterday.",
        "answered:",
        "Two refreshes ran at once.",
        "session: s1",
        "project: shop (github.com/me/shop)",
        "created: 2026-01-01T00:00:00+00:00",
    ]


def test_show_tells_the_summary_of_a_session(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    summary = {"headline": "Mended the login", "completed": "A lock.", "next_steps": ["Ship it, at last", "Tell them"]}
    worker.answer("GET /api/records/s1s1", {**SESSION, "kind": "session", "summary": summary, "turns": 2})
    run("show", "s1s1")
    shown = capsys.readouterr().out.splitlines()
    assert shown[:4] == [
        "s1  Mended the login  [session, completed]",
        "completed: A lock.",
        "next_steps: Ship it, at last; Tell them",
        "turns: 2",
    ]


def test_show_says_by_what_a_memory_was_superseded(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/records/k7f3a9", {**MEMORY, "status": "superseded", "superseded_by": "b21c"})
    run("show", "k7f3a9")
    shown = capsys.readouterr().out
    assert "[bugfix, superseded]" in shown
    assert "superseded by: b21c" in shown


TIMELINE: dict[str, JsonValue] = {
    "items": [
        {**TURN, "summary": TURN["text"], "session": "s0", "is_center": False},
        {**HIT, "is_center": True},
        {**HIT, "id": "zzzz", "title": "Ship on Fridays", "summary": "", "session": "", "is_center": False},
    ],
    "session": "s1",
    "sessions": [{"id": "s1", "headline": "Mended the login"}],
}


def test_a_timeline_shows_where_sessions_begin_and_marks_what_was_asked_for(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.answer("GET /api/timeline", TIMELINE)
    assert run("timeline", "#k7f3a9", "--before", "3", "--after", "0") == 0
    assert worker.last("/api/timeline").query == (("id", "k7f3a9"), ("before", "3"), ("after", "0"))
    lines = [line.partition("  [")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "-- session s0",
        "  tttt22  Why are users logged out?",
        "      Two refreshes ran at once.",
        "-- session s1: Mended the login",
        "> k7f3a9  Fix the token refresh race",
        "      Two refreshes at once logged users out.",
        "-- outside of any session",
        "  zzzz  Ship on Fridays",
    ]


def test_a_timeline_as_json_is_the_workers_answer(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/timeline", TIMELINE)
    run("timeline", "k7f3a9", "--json")
    assert json.loads(capsys.readouterr().out) == TIMELINE
    assert worker.last("/api/timeline").query == (("id", "k7f3a9"), ("before", "5"), ("after", "5"))


def test_a_timeline_of_a_session_without_anything_says_so(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/timeline", {**TIMELINE, "items": []})
    run("timeline", "s1s1")
    assert capsys.readouterr().out.startswith("Nothing is stored of this session")


def test_sessions_about_something_are_asked_for_by_a_query(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/sessions", {"sessions": []})
    run("sessions", "login trouble", "--limit", "3")
    assert dict(worker.last("/api/sessions").query)["query"] == "login trouble"
    told = capsys.readouterr().out
    assert told.startswith("No session is about 'login trouble'. Try other words or --all-projects")


def test_sessions_show_their_headlines(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/sessions", {"sessions": [SESSION]})
    run("sessions")
    assert capsys.readouterr().out.split("\t")[3] == "Mended the login\n"


def test_no_sessions_yet_says_what_to_do(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/sessions", {"sessions": []})
    run("sessions")
    told = capsys.readouterr().out
    assert "claude-mem-lite install" in told
    assert "claude-mem-lite import transcripts" in told
    assert "--all-projects lists those of other folders." in told
    run("sessions", "--all-projects")
    assert "--all-projects" not in capsys.readouterr().out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", ["80", "100"])
def test_on_a_terminal_a_session_is_one_line_with_its_whole_id(
    worker: FakeWorker, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    ids = ["0822e04b-1111-4222-8333-abcdefabcdef", "2f6d1c0e-1", "2f6d1c0e-2"]
    told = "Moved the tests " * 20
    worker.answer("GET /api/sessions", {"sessions": [{**SESSION, "id": one, "title": told} for one in ids]})
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", Terminal())
    run("sessions")
    assert isinstance(sys.stdout, Terminal)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", sys.stdout.getvalue()).splitlines()
    assert [line.split()[0] for line in lines] == ["session", *ids]
    assert all("Moved the" in line and line.rstrip().endswith("…") for line in lines[1:])


def test_elsewhere_a_session_has_its_whole_id(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    id_ = "0822e04b-1111-4222-8333-abcdefabcdef"
    worker.answer("GET /api/sessions", {"sessions": [{**SESSION, "id": id_}]})
    run("sessions")
    assert capsys.readouterr().out.startswith(f"{id_}\t")


RECEIVED: dict[str, JsonValue] = {**MEMORY, "kind": "decision", "origin": "team", "author": "Ana"}


def test_search_names_the_author_of_a_received_memory_before_its_age(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, "kind": "decision", "origin": "team", "author": "Ana"}]})
    run("search", "token")
    assert re.search(r"\[decision, Ana, [^]]* ago\]", capsys.readouterr().out)


def test_list_names_the_author_of_a_received_memory(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/memories", {"memories": [RECEIVED]})
    run("list")
    assert "decision, Ana" in capsys.readouterr().out


def test_show_says_from_whose_device_a_memory_was_received(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/records/k7f3a9", RECEIVED)
    run("show", "k7f3a9")
    shown = capsys.readouterr().out
    assert "[decision, Ana]" in shown
    assert "origin: received from Ana's device" in shown
    assert "stated by the user" not in shown


def test_an_origin_is_handed_on(worker: FakeWorker) -> None:
    worker.answer("GET /api/memories", {"memories": []})
    run("list", "--origin", "team", "--origin", "user")
    assert [value for name, value in worker.last("/api/memories").query if name == "origin"] == ["team", "user"]
