"""What the worker answers to the command line: the shapes, and one shape for every error."""

import json
import sqlite3
from contextlib import closing
from datetime import datetime

import pytest

from tests.support import commit_turns
from tests.support.running import Json, Machine, leave, payload, query, turn

HEALTH = {
    "status", "problem", "settings_problem", "version", "pid", "uptime_s", "queue_depth", "observations_today",
    "memories", "active", "sessions", "quarantined",
    "model", "model_problem", "model_next_step", "model_failed", "model_waiting", "calls_today", "spend_today",
    "tokens_today", "last_context_at", "unindexed", "stale_turns", "index_problem", "daily_usd", "daily_tokens",
    "unsure_lessons",
    "ask_agent", "experiment",
    "backups", "last_backup_at", "backup_problem", "recovered", "recovered_at",
}  # fmt: skip


@pytest.fixture(scope="module")
def memory(served: Machine) -> Json:
    """One memory that the user stated."""
    return served.post(
        "/api/memories", {"kind": "decision", "text": "Ship the parser on Fridays", "tags": ["plan"], "cwd": "/"}
    )


def test_health_tells_how_things_stand(served: Machine) -> None:
    told = served.get("/api/health")
    assert set(told) == HEALTH
    assert (told["status"], told["problem"], told["model"], told["spend_today"]) == ("ok", "", "rules", 0.0)
    assert told["pid"] == served.worker_pid()


def test_queue_counts_are_told_by_status(served: Machine) -> None:
    before = served.get("/api/queue/stats")
    leave(served.home, None, event="Stop", raw=b"no JSON")
    for given in turn("s-count", "count me"):
        leave(served.home, given)
    drained = served.drain()
    after = served.get("/api/queue/stats")
    assert list(after) == ["raw", "processing", "done", "error", "skipped", "spooled"]
    assert drained == {"drained": True, **after}
    changed = {status: after[status] - before[status] for status in ("done", "error", "skipped")}
    assert changed == {"done": 2, "error": 1, "skipped": 1}


def test_what_held_nothing_is_skipped_with_a_reason_that_can_be_read(served: Machine) -> None:
    asked, _, ended = turn("s-reads", "look around")
    looked = [
        payload("PostToolUse", "s-reads", tool_name="Read", tool_input={"file_path": f"/{n}.py"}, tool_response="x = 1")
        for n in range(3)
    ]
    names = [leave(served.home, given) for given in (asked, *looked, ended)]
    served.drain()
    by_name = {row.name: row.status for row in served.rows()}
    assert [by_name[name] for name in names] == ["done", "skipped", "skipped", "skipped", "done"]
    told = [one for one in served.get("/api/queue?status=skipped")["events"] if one["name"] in names]
    assert {one["reason"] for one in told} == {"held nothing worth keeping"}


def test_errors_in_the_queue_are_listed_with_their_reason(served: Machine) -> None:
    name = leave(served.home, None, event="Stop", raw=b"[]")
    served.drain()
    newest, *_ = served.get("/api/queue?status=error&limit=1")["events"]
    assert newest["name"] == name
    assert newest["reason"] == "the payload is a JSON list, not an object"
    assert (newest["event"], newest["session"], newest["status"], newest["attempts"]) == ("Stop", "", "error", 0)
    assert datetime.fromisoformat(newest["received_at"]).tzinfo is not None
    assert set(newest) == {"id", "name", "event", "session", "status", "reason", "attempts", "received_at"}


def test_an_event_that_cannot_be_read_is_in_error_again_after_a_retry(served: Machine) -> None:
    name = leave(served.home, None, event="Stop", raw=b"nope")
    served.drain()
    (event,) = [one for one in served.get("/api/queue?status=error")["events"] if one["name"] == name]
    assert served.post("/api/queue/retry", {"id": event["id"]}) == {"events": 1, "turns": 0}
    served.drain()
    (again,) = [row for row in served.rows() if row.name == name]
    assert (again.status, again.reason.partition(":")[0]) == ("error", "the payload is no JSON")


def test_a_memory_is_found_by_its_id_and_by_the_beginning_of_it(served: Machine, memory: Json) -> None:
    said = ("is_guessed", "is_repeat", "is_redacted", "has_private", "is_excluded")
    for id_ in (memory["id"], memory["id"][:6]):
        assert served.get(f"/api/memories/{id_}") | dict.fromkeys(said, False) | {"guard": ""} == memory
    assert (memory["kind"], memory["summary"], memory["tags"]) == ("decision", "Ship the parser on Fridays", ["plan"])
    assert (memory["origin"], memory["confidence"], memory["made_by"]) == ("user", 1.0, "user")


def test_memories_and_sessions_are_listed_newest_first(served: Machine, memory: Json) -> None:
    newer = served.post("/api/memories", {"kind": "note", "text": "Newer than the rest", "cwd": "/"})
    listed = served.get("/api/memories?cwd=/")["memories"]
    assert [one["id"] for one in listed[:2]] == [newer["id"], memory["id"]]
    for session in ("s-old", "s-new"):
        for given in turn(session, f"the prompt of {session}"):
            leave(served.home, given)
    served.drain()
    found = served.get("/api/sessions?cwd=/&limit=2")["sessions"]
    assert [one["id"] for one in found] == ["s-new", "s-old"]
    assert "the prompt of s-new" in found[0]["summary"]["request"]
    assert found[0]["turns"] == 1
    assert found[0]["codes"] == ""


def test_a_session_is_told_in_codes_as_well(served: Machine) -> None:
    asked, *_ = turn("s-codes", "add a greeting")
    wrote = payload(
        "PostToolUse",
        "s-codes",
        tool_name="Write",
        tool_input={"file_path": "/greet.py", "content": "def greet():\n    ...\n"},
        tool_response={"type": "create", "filePath": "/greet.py", "content": "def greet():\n    ...\n"},
    )
    said = "Added `greet()` to greet.py for the start page."
    committed, stopped = commit_turns.ending("s-codes", "/", said, "greet.py")
    stopped["last_assistant_message"] += "\n\n## Next steps\n- Call it from the start page"
    for given in (asked, wrote, committed, stopped):
        leave(served.home, given)
    served.drain()
    found = next(one for one in served.get("/api/sessions?cwd=/")["sessions"] if one["id"] == "s-codes")
    assert found["codes"] == "impl: Added greet() to greet.py for the start page | next: Call it from the start page"


def test_the_context_tells_its_layers_and_items(served: Machine, memory: Json) -> None:
    told = served.get("/api/context?cwd=/&budget=1000")
    assert set(told) == {
        "context", "tokens", "budget", "preset", "truncated", "layers", "layers_skipped", "items", "left_out",
        "build_ms", "excluded", "presets", "shares",
    }  # fmt: skip
    assert "Ship the parser on Fridays" in told["context"]
    assert told["tokens"] <= told["budget"] == 1000
    assert memory["id"] in [item["source"] for item in told["items"]]
    assert memory["id"] in [item["memory"] for item in told["items"]]


def test_the_context_tells_what_each_layer_takes_of_the_budget(served: Machine, memory: Json) -> None:
    told = served.get("/api/context?cwd=/&budget=1000")
    taken = {one["layer"]: one["tokens"] for one in told["shares"] if one["tokens"]}
    assert set(taken) == set(told["layers"])
    assert 0 < sum(taken.values()) <= told["tokens"]
    assert {one["cap"] for one in told["shares"]} == {None}  # lines are told by their value
    by_shares = served.get("/api/context?cwd=/&budget=1000&preset=layers")
    assert sum(one["cap"] for one in by_shares["shares"]) == 900  # a tenth is the reserve
    assert told["presets"] == ["balanced", "layers", "codes"]


def test_an_explained_context_tells_every_candidate_with_its_score_by_parts(served: Machine, memory: Json) -> None:
    plain = served.get("/api/context?cwd=/&budget=60")
    told = served.get("/api/context?cwd=/&budget=60&explain=true")
    assert told["context"] == plain["context"] == ""
    (left,) = [one for one in told["left_out"] if one["source"] == memory["id"]]
    assert left["left_out"] == "no room"
    assert sum(left["parts"].values()) == pytest.approx(left["score"], abs=0.001)


def test_a_context_can_be_asked_for_in_another_preset(served: Machine, memory: Json) -> None:
    told = served.get("/api/context?cwd=/&preset=codes")
    assert told["preset"] == "codes"
    named = {*told["layers"], *(one["layer"] for one in told["layers_skipped"])}
    assert named == {"impl", "dec", "block+next", "project", "universal", "language"}


@pytest.mark.parametrize(
    ("method", "target", "body", "status", "code"),
    [
        ("GET", "/api/memories/zzzzzzzz", None, 404, "not_found"),
        ("GET", "/api/nothing/here", None, 404, "http"),
        ("DELETE", "/api/health", None, 405, "http"),
        ("POST", "/api/forget", {"ids": ["zzzzzzzz"]}, 404, "not_found"),
        ("POST", "/api/forget", {"session": "no such session"}, 404, "not_found"),
        ("POST", "/api/forget", {}, 404, "not_found"),
        ("POST", "/api/queue/retry", {"id": 999999}, 404, "not_found"),
        ("POST", "/api/summarize", {"session": "no such session"}, 404, "not_found"),
        ("POST", "/api/summarize", {}, 422, "invalid"),
        ("POST", "/api/memories", {"kind": "wish", "text": "x", "cwd": "/"}, 422, "invalid"),
        ("POST", "/api/memories", {"kind": "note", "cwd": "/"}, 422, "invalid"),
        ("GET", "/api/search?cwd=/", None, 422, "invalid"),
        ("GET", "/api/context?cwd=/&preset=code", None, 400, "refused"),
        ("GET", "/api/context?cwd=/&budget=-5", None, 422, "invalid"),
        ("POST", "/api/memories", {"kind": "note", "text": "x", "tags": ["t" * 200], "cwd": "/"}, 422, "invalid"),
        ("GET", "/api/memories?limit=0", None, 422, "invalid"),
        ("GET", "/api/queue?limit=many", None, 422, "invalid"),
        ("POST", "/api/memories", {"kind": "note", "text": "  ", "cwd": "/"}, 400, "refused"),
        ("POST", "/api/memories", {"kind": "note", "text": "x", "scope": "here", "cwd": "/"}, 400, "refused"),
    ],
)
def test_every_error_has_the_one_shape(
    served: Machine, method: str, target: str, body: Json, status: int, code: str
) -> None:
    answer = served.ask(method, target, body)
    assert (answer.status, list(answer.body)) == (status, ["error"])
    assert set(answer.body["error"]) == {"code", "message", "next_step"}
    assert answer.body["error"]["code"] == code
    assert answer.body["error"]["message"]


def test_the_beginning_of_several_ids_is_ambiguous(served: Machine, memory: Json) -> None:
    rest = ", ".join(row[1] for row in query(served.home.memory_db, "pragma table_info(memories)")[2:])
    with closing(sqlite3.connect(served.home.memory_db)) as db, db:
        for twin in ("aaaa222222", "aaaa333333"):
            copy = f"insert into memories (id, {rest}) select ?, {rest} from memories where id = ?"
            db.execute(copy, (twin, memory["id"]))
    answer = served.ask("GET", "/api/memories/aaaa")
    assert (answer.status, answer.body["error"]["code"]) == (409, "ambiguous")
    assert answer.body["error"]["next_step"]
    assert served.get("/api/memories/aaaa2")["id"] == "aaaa222222"


def test_a_body_that_is_no_json_is_refused_in_the_same_shape(served: Machine) -> None:
    answer = served.ask("POST", "/api/forget", raw=b"{broken")
    assert (answer.status, answer.body["error"]["code"]) == (422, "invalid")


def test_an_event_in_the_body_of_a_hooks_request_is_taken_in_under_its_name(served: Machine) -> None:
    raw = json.dumps(payload("Stop", "s-body")).encode()
    name = "01790000000000000000-77-0000abcd-Stop"
    assert served.ask("POST", "/hook/Stop", raw=raw, headers={"X-Spool": name}).status == 204
    assert served.ask("POST", "/hook/Stop", raw=raw, headers={"X-Spool": name}).status == 204
    assert served.ask("POST", "/hook/Stop", raw=raw).status == 204
    served.drain()
    names = [row.name for row in served.rows() if row.session == "s-body"]
    assert len(names) == 2
    assert names.count(name) == 1
