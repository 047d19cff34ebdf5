"""What the commands ask of the worker, what they print, and how they end."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.client.base import MAX_WORKERS
from claude_mem_lite.context.project_setting import main_language
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home
from claude_mem_lite.scopes import LANGUAGES
from tests.support.fake_worker import HEALTH, MEMORY, FakeWorker, fake_worker, run


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


CONTEXT: dict[str, JsonValue] = {
    "context": "## Memory\n- one\n",
    "tokens": 500,
    "budget": 2000,
    "truncated": False,
    "layers": ["sessions"],
    "layers_skipped": [{"layer": "language", "reason": "empty"}],
    "items": [{"source": "k7", "layer": "sessions", "line": "- one", "reason": "recent", "explained": ""}],
    "left_out": [
        {"source": "m9", "layer": "project", "line": "- two", "left_out": "no room", "explained": "0.93 = scope +0.57"}
    ],
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
    run("context", "--cwd", str(tmp_path), "--budget", "300", "--preset", "codes")
    wanted = (("cwd", str(tmp_path.resolve())), ("budget", "300"), ("preset", "codes"))
    assert worker.last("/api/context").query == wanted


@pytest.mark.parametrize(
    ("projects", "next_step"),
    [([], "import transcripts` imports earlier sessions."), ([{"id": "shop"}], "context --project NAME` shows it.")],
)
def test_an_empty_context_is_explained_beside_the_output_with_the_next_step(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], projects: JsonValue, next_step: str
) -> None:
    worker.answer("GET /api/context", {**CONTEXT, "context": ""})
    worker.answer("GET /api/projects", {"projects": projects})
    assert run("context") == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err.startswith("Nothing to say yet")) == ("", True)
    assert shown.err.endswith(f"{next_step}\n")


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
    assert "in   sessions: k7, recent\n     - one\n" in shown
    assert "out  project: m9, no room, 0.93 = scope +0.57\n     - two\n" in shown
    assert "out  language: empty" in shown


def test_json_of_an_explained_context_has_what_was_left_out(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/context", CONTEXT)
    run("context", "--explain", "--json")
    assert json.loads(capsys.readouterr().out)["left_out"] == CONTEXT["left_out"]


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
        "files": [],
        "cwd": str(tmp_path),
    }
    assert capsys.readouterr().out == "Remembered as k7f3a9 (rule, universal).\n"


def test_remember_says_what_it_replaces_and_contradicts(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    other: dict[str, JsonValue] = {"id": "b21c77", "title": "Use npm", "last_seen_at": "2026-01-05T12:00:00+00:00"}
    worker.answer("POST /api/memories", {**MEMORY, "replaced": [other], "conflicts": [{**other, "id": "c3"}]})
    assert run("remember", "rule", "Use pnpm") == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "It replaces b21c77 (2026-01-05): Use npm",
        "It contradicts c3 (2026-01-05): Use npm",
    ]


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


@pytest.mark.parametrize(
    ("scope", "told"),
    [
        ("language:klingon", "No project is known to be in 'klingon', so it is found by search alone; "),
        ("language:pyhton", "did you mean language:python?"),
        ("language:golang", ""),
        ("universal", ""),
    ],
)
def test_a_language_that_nobody_knows_is_doubted_and_stored(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], scope: str, told: str
) -> None:
    worker.answer("POST /api/memories", MEMORY)
    assert run("remember", "rule", "x", "--scope", scope) == 0
    err = capsys.readouterr().err
    assert (told in err) if told else not err


def test_the_languages_that_are_doubted_are_those_that_no_project_is_found_to_be_in(tmp_path: Path) -> None:
    found = []
    for ending in "py js ts go rs java c cc rb php cs kt swift scala ex dart lua sh hs".split():  # noqa: SIM905
        (tmp_path / ending).mkdir()
        (tmp_path / ending / f"main.{ending}").touch()
        found.append(main_language(str(tmp_path / ending)))
    assert found == [*LANGUAGES, ""]


def test_queue_json_counts_by_status(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    run("queue", "--json")
    assert json.loads(capsys.readouterr().out) == {
        **{"raw": 1, "processing": 1, "done": 7, "error": 0, "skipped": 3},
        "spooled": 0,
    }


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


def test_status_says_that_no_context_was_given_yet(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/health", {**HEALTH, "last_context_at": None})
    run("status")
    assert "context:    none given yet" in capsys.readouterr().out


def test_the_first_line_of_status_tells_of_settings_that_stop_everything(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = "config.toml: unknown key budgt_tokens; did you mean budget_tokens?"
    worker.answer("GET /api/health", {**HEALTH, "status": "degraded", "problem": problem, "settings_problem": problem})
    run("status")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"capture:    waiting, the settings are wrong: {problem}"
    assert problem not in "".join(lines[1:])


def test_status_tells_how_many_memories_are_active_when_not_all_are(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/health", {**HEALTH, "active": 3, "quarantined": 1})
    run("status")
    assert "memories:   5, 3 of them active, 1 from today, 1 held back" in capsys.readouterr().out


def test_status_looks_for_the_hooks_where_they_were_put(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Path.home() / ".claude" / "settings.json"
    run("install")
    capsys.readouterr()
    run("status")
    assert f"installed:  {settings}\n" in capsys.readouterr().out
    settings.write_text("{}")
    run("status")
    assert "installed:  no (run `claude-mem-lite install`)" in capsys.readouterr().out
    settings.write_text("no JSON")
    run("status", "--json")
    assert json.loads(capsys.readouterr().out)["installed_in"] == []


@pytest.mark.parametrize("gone", ["py", "claude_mem_lite/hook/hook.py"])
def test_status_tells_when_the_program_of_the_hooks_is_gone(
    home: Home, worker: FakeWorker, gone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install")
    run("status")
    assert "capture:    on\n" in capsys.readouterr().out
    (home.root / gone).unlink()
    run("status")
    assert "capture:    nothing, because the program of the hooks is gone (" in capsys.readouterr().out
    run("status", "--json")
    assert json.loads(capsys.readouterr().out)["capturing"] is False


def test_hooks_without_a_record_count_as_installed(
    home: Home, worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install")
    for record in home.installs.glob("*.json"):
        record.unlink()
    capsys.readouterr()
    run("status", "--json")
    assert json.loads(capsys.readouterr().out)["installed_in"] == [str(Path.home() / ".claude" / "settings.json")]


def test_off_and_on_turn_the_switch(home: Home) -> None:
    assert run("off") == 0
    assert home.off_switch.exists()
    assert run("on") == 0
    assert not home.off_switch.exists()


def test_off_says_that_it_is_off_where_the_time_cannot_be_noted(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.pauses.touch()  # where a folder belongs, nothing can be written, as on a full disk
    assert run("off") == 1
    assert home.off_switch.exists()
    shown = capsys.readouterr().err
    assert "memory is off, but the time of that cannot be noted" in shown
    assert "run this again" in shown


def test_on_leaves_memory_off_where_the_pause_cannot_be_noted(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.off_switch.touch()
    home.pauses.touch()  # as above
    assert run("on") == 1
    assert home.off_switch.exists()
    shown = capsys.readouterr().err
    assert "memory stays off, because the pause cannot be noted" in shown
    assert "run `claude-mem-lite on` again" in shown
    home.pauses.unlink()
    assert run("on") == 0


def test_on_says_that_it_is_on_where_the_end_cannot_be_noted(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.pauses.touch()
    assert run("on") == 1
    assert "memory is on, but the end of the pause cannot be noted" in capsys.readouterr().err


def test_a_guard_without_words_is_told_what_to_give(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("guards", "add", " ") == 2
    assert "give a SENTENCE, or the parts of a rule" in capsys.readouterr().err


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
    body = worker.last("/api/drain").body
    assert isinstance(body, dict)
    timeout_s = body["timeout_s"]
    assert isinstance(timeout_s, float)
    assert 0 < timeout_s <= 5.0


@pytest.mark.parametrize("code", ["ended", "damaged"])
def test_drain_asks_a_few_workers_that_end_and_then_says_so(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    worker.refuse("POST /api/drain", 503, code, "a database is damaged and is being recovered")
    assert run("worker", "drain") == 1
    assert sum(one.path == "/api/drain" for one in worker.seen) == MAX_WORKERS
    told = capsys.readouterr().err
    assert told.startswith("claude-mem-lite: one worker after another has ended; see the end of ")


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
    asked = capsys.readouterr().err
    assert "Fix the token refresh race" in asked
    assert "also erases the prompt and the answer of its turns" in asked
    assert "claude-mem-lite retire" in asked


def test_forget_names_a_turn_and_counts_it_apart(
    worker: FakeWorker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/records/tu7f3a", {"id": "tu7f3a9", "kind": "turn", "title": "Why do tokens race"})
    worker.answer("POST /api/forget", {"forgotten": ["tu7f3a9", "a", "b"]})
    typed(monkeypatch, "y\n")
    assert run("forget", "tu7f3a") == 0
    shown = capsys.readouterr()
    assert "tu7f3a9  Why do tokens race" in shown.err
    assert shown.out == "Forgot 1 turn and 2 memories.\n"


def test_forget_goes_on_after_a_yes(worker: FakeWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    worker.answer("POST /api/forget", {"forgotten": ["a", "b"]})
    typed(monkeypatch, "y\n")
    assert run("forget", "--session", "s1") == 0
    assert worker.last("/api/forget").body == {"ids": [], "session": "s1", "project": None}


def test_forget_names_the_session_that_the_beginning_of_an_id_means(
    worker: FakeWorker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session: JsonObject = {"id": "s1s1-whole", "session": "s1s1-whole", "kind": "session"}
    worker.answer("GET /api/records/s1s1", {**session, "title": "Mended the login"})
    typed(monkeypatch, "n\n")
    assert run("forget", "--session", "s1s1") == 1
    assert "Forget everything of session s1s1-whole (Mended the login) for good?" in capsys.readouterr().err


def test_a_refusal_of_the_worker_is_one_sentence(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.refuse("POST /api/memories", 400, "bad_scope", "there is no project x", "name it by its id")
    assert run("remember", "note", "x", "--scope", "project:x") == 1
    assert capsys.readouterr().err == "claude-mem-lite: there is no project x; name it by its id\n"
