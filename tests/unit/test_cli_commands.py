"""What the commands ask of the worker, what they print, and how they end."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home
from tests.unit.fake_worker import HEALTH, FakeWorker, fake_worker, run

HIT: dict[str, JsonValue] = {
    "id": "k7f3a9",
    "kind": "bugfix",
    "title": "Fix the token refresh race",
    "summary": "Two refreshes at once\nlogged users out.",
    "session": "s1",
    "project": "github.com/me/shop",
    "created_at": "2026-01-01T00:00:00+00:00",
    "score": 1.5,
    "why": ["title has token", "recent"],
}
MEMORY: dict[str, JsonValue] = {
    **HIT,
    "status": "active",
    "detail": "A lock around the refresh.",
    "facts": ["refresh takes 2 s"],
    "files": ["src/auth.py"],
    "tags": ["auth"],
    "scope": "project:github.com/me/shop",
    "last_seen_at": "2026-01-02T00:00:00+00:00",
}
SESSION: dict[str, JsonValue] = {
    "id": "s1",
    "status": "completed",
    "last_event_at": "2026-01-01T00:00:00+00:00",
    "summary": {"headline": "Mended the login"},
}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        yield worker


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let a person at a terminal type this."""
    monkeypatch.setattr(sys, "stdin", Terminal(text))


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
    assert "score 1.5: title has token; recent" in capsys.readouterr().out


def test_a_search_that_finds_nothing_says_what_to_try(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": []})
    assert run("search", "token") == 0
    assert "--all-projects" in capsys.readouterr().out


def test_nothing_found_is_still_json(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": []})
    run("search", "token", "--json")
    assert json.loads(capsys.readouterr().out) == []


def test_stored_text_cannot_drive_the_terminal(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/search", {"hits": [{**HIT, "title": "red \x1b[31m bell \x07 title \x1b]0;x\x07 end"}]})
    run("search", "token")
    shown = capsys.readouterr().out
    assert "red  bell  title  end" in shown
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


def test_list_json_has_every_field(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/memories", {"memories": [MEMORY]})
    run("list", "--kind", "bugfix", "--limit", "3", "--json")
    assert json.loads(capsys.readouterr().out) == [MEMORY]
    assert ("kind", "bugfix") in worker.last("/api/memories").query
    assert ("limit", "3") in worker.last("/api/memories").query


def test_show_tells_everything_of_a_memory(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/memories/k7f3a9", MEMORY)
    assert run("show", "#k7f3a9") == 0
    shown = capsys.readouterr().out
    assert "A lock around the refresh." in shown
    assert "files: src/auth.py" in shown


def test_show_tells_which_functions_were_changed(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    symbols = [{"file": "src/auth.py", "name": "refresh", "action": "modified"}]
    worker.answer("GET /api/memories/k7f3a9", {**MEMORY, "symbols": symbols})
    run("show", "k7f3a9")
    assert "symbols: refresh modified" in capsys.readouterr().out


def test_show_json_is_a_list_in_the_order_asked_for(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/memories/aaaa", {**MEMORY, "id": "aaaa"})
    worker.answer("GET /api/memories/bbbb", {**MEMORY, "id": "bbbb"})
    run("show", "bbbb", "aaaa", "--json")
    assert [memory["id"] for memory in json.loads(capsys.readouterr().out)] == ["bbbb", "aaaa"]


def test_show_of_one_unknown_id_shows_the_rest_and_fails(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/memories/aaaa", {**MEMORY, "id": "aaaa"})
    worker.refuse("GET /api/memories/bbbb", 404, "not_found", "no memory bbbb", "`claude-mem-lite list` shows them")
    assert run("show", "bbbb", "aaaa", "--json") == 1
    shown = capsys.readouterr()
    assert [memory["id"] for memory in json.loads(shown.out)] == ["aaaa"]
    assert shown.err == "claude-mem-lite show: no memory bbbb; `claude-mem-lite list` shows them\n"


def test_sessions_show_their_headlines(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/sessions", {"sessions": [SESSION]})
    run("sessions")
    assert capsys.readouterr().out.split("\t")[3] == "Mended the login\n"


def test_no_sessions_yet_says_what_to_do(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/sessions", {"sessions": []})
    run("sessions")
    assert "claude-mem-lite install" in capsys.readouterr().out


CONTEXT: dict[str, JsonValue] = {
    "context": "## Memory\n- one\n",
    "tokens": 500,
    "budget": 2000,
    "truncated": False,
    "layers": ["sessions"],
    "layers_skipped": [{"layer": "language", "reason": "empty"}],
    "items": [{"id": "k7", "layer": "sessions", "line": "- one", "reason": "recent"}],
    "build_ms": 3.5,
}


def test_context_prints_the_text_alone(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/context", CONTEXT)
    run("context")
    assert capsys.readouterr().out == "## Memory\n- one\n\n"


def test_context_json_has_the_agreed_keys(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/context", CONTEXT)
    run("context", "--json")
    assert json.loads(capsys.readouterr().out) == {
        "text": "## Memory\n- one\n",
        "tokens": 500,
        "budget": 2000,
        "budget_used": 0.25,
        "truncated": False,
        "layers_included": ["sessions"],
        "layers_skipped": [{"layer": "language", "reason": "empty"}],
        "items": CONTEXT["items"],
        "build_ms": 3.5,
    }


def test_context_of_another_folder_with_another_budget(worker: FakeWorker, tmp_path: Path) -> None:
    worker.answer("GET /api/context", CONTEXT)
    run("context", "--cwd", str(tmp_path), "--budget", "300")
    assert worker.last("/api/context").query == (("cwd", str(tmp_path.resolve())), ("budget", "300"))


def test_an_empty_context_is_explained_beside_the_output(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/context", {**CONTEXT, "context": ""})
    assert run("context") == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err.startswith("Nothing to say yet")) == ("", True)


def test_a_budget_that_is_too_small_is_told_from_having_nothing_to_say(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    no_room = [{"layer": "sessions", "reason": "no room"}]
    worker.answer("GET /api/context", {**CONTEXT, "context": "", "budget": 10, "layers_skipped": no_room})
    assert run("context", "--budget", "10") == 0
    assert "Nothing fits into 10 tokens" in capsys.readouterr().err


def test_an_explained_context_says_of_each_line_why_it_is_there_and_what_is_not(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/context", CONTEXT)
    run("context", "--explain")
    shown = capsys.readouterr().out
    assert "500 of 2000 tokens" in shown
    assert "in   sessions: " in shown
    assert "out  language: empty" in shown


def test_remember_sends_what_was_said(
    worker: FakeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("POST /api/memories", {**MEMORY, "kind": "rule", "scope": "universal"})
    monkeypatch.chdir(tmp_path)
    assert run("remember", "rule", "Never", "commit to main", "--tag", "git", "--tag", "team") == 0
    assert worker.last("/api/memories").body == {
        "kind": "rule",
        "text": "Never commit to main",
        "scope": None,
        "tags": ["git", "team"],
        "cwd": str(tmp_path),
    }
    assert capsys.readouterr().out == "Remembered as k7f3a9 (rule, universal).\n"


def test_remember_reads_standard_input_for_a_dash(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    worker.answer("POST /api/memories", MEMORY)
    monkeypatch.setattr(sys, "stdin", io.StringIO("two\nlines\n"))
    run("remember", "note", "-")
    body = worker.last("/api/memories").body
    assert isinstance(body, dict)
    assert body["text"] == "two\nlines"


@pytest.mark.parametrize("scope", ["universal", "language:python", "project", "project:github.com/me/shop"])
def test_remember_takes_every_scope(worker: FakeWorker, scope: str) -> None:
    worker.answer("POST /api/memories", MEMORY)
    assert run("remember", "note", "x", "--scope", scope) == 0
    body = worker.last("/api/memories").body
    assert isinstance(body, dict)
    assert body["scope"] == scope


def test_queue_json_counts_by_status(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    run("queue", "--json")
    assert json.loads(capsys.readouterr().out) == {"raw": 1, "processing": 1, "done": 7, "error": 0, "skipped": 3}


def test_queue_errors_show_the_reason(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    event: JsonObject = {"id": 412, "event": "Stop", "reason": "not JSON", "received_at": "2026-01-01T00:00:00Z"}
    worker.answer("GET /api/queue", {"events": [event]})
    run("queue", "--errors")
    assert capsys.readouterr().out.startswith("412\tStop\t")


@pytest.mark.parametrize(("given", "sent"), [("412", 412), ("all", None)])
def test_queue_retry_names_one_event_or_all(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], given: str, sent: int | None
) -> None:
    worker.answer("POST /api/queue/retry", {"events": 1, "turns": 0})
    assert run("queue", "--retry", given) == 0
    assert worker.last("/api/queue/retry").body == {"id": sent}
    assert capsys.readouterr().out == "1 event put back to work.\n"


@pytest.mark.parametrize(
    ("events", "turns", "told"),
    [(0, 0, "0 events"), (2, 0, "2 events"), (0, 1, "1 turn"), (1, 3, "1 event and 3 turns")],
)
def test_queue_retry_counts_events_and_turns_apart(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], events: int, turns: int, told: str
) -> None:
    worker.answer("POST /api/queue/retry", {"events": events, "turns": turns})
    assert run("queue", "--retry", "all") == 0
    assert capsys.readouterr().out == f"{told} put back to work.\n"


def test_status_json_has_the_health_and_more(
    home: Home, worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    run("status", "--json")
    told = json.loads(capsys.readouterr().out)
    assert {key: told[key] for key in HEALTH} == HEALTH
    assert (told["capturing"], told["installed_in"], told["queue"]["done"]) == (True, [], 7)


def test_status_tells_in_words_when_capture_is_off(
    home: Home, worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    run("off")
    run("status")
    assert "capture:    off (`claude-mem-lite on` undoes it)" in capsys.readouterr().out


def test_off_and_on_turn_the_switch(home: Home) -> None:
    assert run("off") == 0
    assert home.off_switch.exists()
    assert run("on") == 0
    assert not home.off_switch.exists()


def test_off_and_on_say_when_there_was_nothing_to_do(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    run("on")
    run("off")
    run("off")
    shown = capsys.readouterr().out.splitlines()
    assert (shown[0], shown[2][:19]) == ("It was on already.", "It was off already;")


def test_worker_status_json_has_the_pid(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    run("worker", "status", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["running"], told["pid"]) == (True, 4711)


def test_worker_status_starts_nothing(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("worker", "status", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["running"], told["pid"]) == (False, None)
    assert not home.worker_log.exists()


def test_worker_stop_waits_for_the_end(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    with fake_worker(home):
        assert run("worker", "stop") == 0
    assert run("worker", "stop") == 0
    assert capsys.readouterr().out == "Stopped the worker.\nNo worker was running.\n"


def test_worker_start_names_the_one_that_runs(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    run("worker", "start")
    assert capsys.readouterr().out == "The worker runs already, process 4711.\n"


def test_a_second_worker_in_the_foreground_is_refused(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("worker", "run") == 1
    assert "runs already" in capsys.readouterr().err


def test_drain_succeeds_when_nothing_is_left(worker: FakeWorker) -> None:
    worker.answer("POST /api/drain", {"drained": True, "raw": 0, "processing": 0, "done": 9, "error": 0, "skipped": 1})
    assert run("worker", "drain", "--timeout", "5") == 0
    assert worker.last("/api/drain").body == {"timeout_s": 5.0}


def test_drain_fails_when_something_is_left(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("POST /api/drain", {"drained": False, "raw": 2, "processing": 1, "done": 9, "error": 0, "skipped": 1})
    assert run("worker", "drain") == 1
    assert capsys.readouterr().err == "claude-mem-lite worker drain: 3 events are left after 60 s; run it again\n"


def test_forget_of_an_id_goes_ahead_where_nobody_can_be_asked(
    worker: FakeWorker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("POST /api/forget", {"forgotten": ["k7f3a9"]})
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert run("forget", "k7f3a9") == 0
    assert worker.last("/api/forget").body == {"ids": ["k7f3a9"], "session": None, "project": None}
    assert capsys.readouterr().out == "Forgot 1 memory.\n"


@pytest.mark.parametrize("option", ["--session", "--project"])
def test_forgetting_much_needs_yes_where_nobody_can_be_asked(
    worker: FakeWorker, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    worker.answer("POST /api/forget", {"forgotten": []})
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert run("forget", option, "x") == 2
    assert worker.seen == []
    assert run("forget", option, "x", "--yes") == 0


def test_forget_asks_on_a_terminal_and_obeys_a_no(
    worker: FakeWorker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/memories/k7f3a9", MEMORY)
    typed(monkeypatch, "n\n")
    assert run("forget", "k7f3a9") == 1
    assert [each.path for each in worker.seen if each.method == "POST"] == []
    assert "Fix the token refresh race" in capsys.readouterr().err


def test_forget_goes_on_after_a_yes(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    worker.answer("POST /api/forget", {"forgotten": ["a", "b"]})
    typed(monkeypatch, "y\n")
    assert run("forget", "--session", "s1") == 0
    assert worker.last("/api/forget").body == {"ids": [], "session": "s1", "project": None}


def test_a_refusal_of_the_worker_is_one_sentence(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.refuse("POST /api/memories", 400, "bad_scope", "there is no project x", "name it by its id")
    assert run("remember", "note", "x", "--scope", "project:x") == 1
    assert capsys.readouterr().err == "claude-mem-lite: there is no project x; name it by its id\n"
