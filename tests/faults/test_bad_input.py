"""Whatever a hook is given: it says nothing and exits 0, the worker lives on, and the event ends somewhere."""

import json
import subprocess
from collections.abc import Iterator
from itertools import count

import pytest

from tests.support.running import SILENT, InboxRow, Json, Machine, leave, open_machine, payload, turn, wait_until

DEEP = 100_000
HUGE = 50_000_000
_sessions = count(1)


@pytest.fixture(scope="module")
def served() -> Iterator[Machine]:
    """One worker for all of this module: surviving the last input is half of surviving the next."""
    with open_machine() as machine:
        machine.start_worker()
        yield machine


UNREADABLE = {
    "nothing": b"",
    "blanks": b" \n\t ",
    "broken JSON": b'{"session_id": "s", "prompt": "half',
    "no JSON at all": b"hello there",
    "NUL bytes": b"\x00" * 1000,
    "a NUL byte inside a string": b'{"session_id":"s","hook_event_name":"Stop","cwd":"/\x00"}',
    "random bytes": bytes(range(256)) * 10,
    "an array": b'[{"session_id": "s"}]',
    "a string": b'"Stop"',
    "a number": b"42",
    "null": b"null",
    "a number with 5000 digits": b'{"session_id":"s","hook_event_name":"Stop","n":' + b"9" * 5000 + b"}",
    "arrays 100,000 deep": b"[" * DEEP + b"]" * DEEP,
    "objects 100,000 deep": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "a deep field": b'{"session_id":"s","hook_event_name":"Stop","x":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "two objects": b'{"session_id":"s"}{"session_id":"s"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a session of a megabyte": json.dumps(payload("Stop", "s" * 1_000_000)).encode(),
    "a folder of a megabyte": json.dumps(payload("Stop", cwd="/" + "a" * 1_000_000)).encode(),
    "a folder of countless parts": json.dumps(payload("Stop", cwd="/a" * 500_000)).encode(),
    "a folder with a NUL": json.dumps(payload("Stop", cwd="/a\x00b")).encode(),
}


@pytest.mark.parametrize("raw", UNREADABLE.values(), ids=list(UNREADABLE))
def test_what_cannot_be_read_ends_in_error_with_a_reason(served: Machine, raw: bytes) -> None:
    row = pass_through(served, "Stop", raw)
    assert (row.status, row.event, row.session) == ("error", "Stop", "")
    assert row.reason
    assert row.raw_bytes == len(raw)


ODD: dict[str, tuple[Json, str]] = {
    "an unknown event": (payload("Frobnicate"), "skipped"),
    "no session": ({"hook_event_name": "Stop", "cwd": "/"}, "skipped"),
    "nothing but an empty object": ({}, "skipped"),
    "no event name": ({"session_id": "s-1", "cwd": "/"}, "done"),
    "no folder": ({"session_id": "s-1", "hook_event_name": "Stop"}, "done"),
    "a number for a session": (payload("Stop") | {"session_id": 7}, "skipped"),
    "a list for an event": (payload("Stop") | {"hook_event_name": ["Stop"]}, "done"),
    "an object for a folder": (payload("Stop") | {"cwd": {"a": 1}}, "done"),
    "null everywhere": (dict.fromkeys(payload("Stop")), "skipped"),
    "a folder that does not exist": (payload("Stop", cwd="/no/such/folder/anywhere"), "done"),
    "a relative folder": (payload("Stop", cwd="../.."), "done"),
    "a folder with a line break": (payload("Stop", cwd="/a\nb"), "done"),
    "a folder with a lone surrogate": (payload("Stop", cwd="/\ud800"), "done"),
    "a session with a lone surrogate": (payload("Stop", "s-\udfff"), "done"),
    "an event with a lone surrogate": (payload("St\ud800op"), "skipped"),
    "a reply with lone surrogates": (payload("Stop", last_assistant_message="a \ud800\ud800 b"), "done"),
    "a key with a lone surrogate": (payload("Stop") | {"\udc80": "\udc80"}, "done"),
    "a NUL in the reply": (payload("Stop", last_assistant_message="a\x00b"), "done"),
    "a session with quotes": (payload("Stop", "s'\"`;--"), "done"),
    "a session of SQL": (payload("Stop", "'; drop table inbox; --"), "done"),
    "a session with line breaks": (payload("Stop", "a\nb\r\nc"), "done"),
    "a session that is a path": (payload("Stop", "../../etc/passwd"), "done"),
    "numbers beyond all bounds": (payload("Stop", numbers=[float("inf"), float("-inf"), float("nan")]), "done"),
    "a key of a megabyte": (payload("Stop") | {"k" * 1_000_000: 1}, "done"),
    "a hundred thousand keys": (payload("Stop") | {f"key {n}": n for n in range(100_000)}, "done"),
    "nesting 300 deep": (payload("Stop", x=json.loads("[" * 300 + "]" * 300)), "done"),
    "a tool without a name": (payload("PostToolUse", tool_input={}), "skipped"),
    "a tool that is a number": (payload("PostToolUse", tool_name=5), "skipped"),
    "a tool with a list for input": (payload("PostToolUse", tool_name="Bash", tool_input=["ls"]), "skipped"),
    "a tool with a number for response": (payload("PostToolUse", tool_name="Edit", tool_response=5), "skipped"),
    "an edit of nothing": (payload("PostToolUse", tool_name="Edit", tool_input={"file_path": None}), "skipped"),
    "a failure without an error": (payload("PostToolUseFailure", tool_name="Bash", error=[1]), "skipped"),
    "a prompt that is a list": (payload("UserPromptSubmit", prompt=["hello"]), "done"),
    "an empty prompt": (payload("UserPromptSubmit", prompt=""), "done"),
    "a sub-agent without a type": (payload("SubagentStop"), "skipped"),
    "a start from nowhere": (payload("SessionStart", source=["startup"]), "done"),
    "a note of nothing": ({"hook_event_name": "Rendered"}, "done"),
    "a note of an unknown start": ({"hook_event_name": "Rendered", "start": "no such event"}, "done"),
    "a note of a list": ({"hook_event_name": "Rendered", "start": ["a"]}, "done"),
    "an unknown command": ({"hook_event_name": "Command", "command": "dance"}, "skipped"),
    "a command without words": ({"hook_event_name": "Command", "command": "remember"}, "skipped"),
    "a forgetting of nothing": ({"hook_event_name": "Command", "command": "forget", "ids": "abc"}, "skipped"),
}


@pytest.mark.parametrize(("given", "outcome"), ODD.values(), ids=list(ODD))
def test_what_is_merely_odd_is_handled_or_skipped(served: Machine, given: Json, outcome: str) -> None:
    row = pass_through(served, "Stop", json.dumps(given).encode())
    assert (row.status, bool(row.reason)) == (outcome, outcome == "skipped")


def test_of_two_fields_with_one_name_the_last_holds(served: Machine) -> None:
    raw = b'{"session_id":"first","session_id":"last","hook_event_name":"Stop","cwd":"/"}'
    row = pass_through(served, "Stop", raw)
    assert (row.session, row.status) == ("last", "done")


def test_bytes_that_are_no_utf8_are_replaced(served: Machine) -> None:
    raw = b'{"session_id":"s-1","hook_event_name":"Stop","cwd":"/","last_assistant_message":"caf\xe9 \xff"}'
    row = pass_through(served, "Stop", raw)
    assert row.status == "done"
    assert json.loads(row.payload)["last_assistant_message"] == "caf\ufffd \ufffd"


def test_a_number_too_big_for_a_float_is_handled(served: Machine) -> None:
    raw = b'{"session_id":"s-1","hook_event_name":"PostToolUse","tool_name":"Read","duration_ms":1e999,"cwd":"/"}'
    assert pass_through(served, "PostToolUse", raw).status == "skipped"


def test_fifty_megabytes_are_kept_within_the_limit_with_their_head_and_tail(served: Machine) -> None:
    output = "the first line\n" + "x" * 79 + "\n" + ("y" * 79 + "\n") * (HUGE // 80) + "the last line"
    given = payload("PostToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_response={"stdout": output})
    row = pass_through(served, "PostToolUse", json.dumps(given).encode())
    assert (row.status, row.event) == ("done", "PostToolUse")
    assert row.raw_bytes > HUGE
    assert len(row.payload) <= 512 * 1024
    kept = json.loads(row.payload)["tool_response"]["stdout"]
    assert kept.startswith("the first line\n")
    assert kept.endswith("the last line")
    assert "characters cut" in kept


def test_a_hook_without_standard_input_is_silent(served: Machine) -> None:
    """Closed, as a shell does it with `<&-`."""
    before = served.row_count()
    command = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *served.hook_command("Stop")]
    done = subprocess.run(command, capture_output=True, env=served.environment(), timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    served.drain()
    (row,) = rows_after(served, before)
    assert (row.status, row.reason) == ("error", "the payload is empty")


@pytest.mark.parametrize("argument", ["", "../../x", "Stop; rm -rf /", "Étoile", "x" * 500, "printed", "Stop\n"])
def test_any_event_name_on_the_command_line_will_do(served: Machine, argument: str) -> None:
    before = served.row_count()
    assert served.hook(argument, payload("Stop")) == SILENT
    served.drain()
    (row,) = rows_after(served, before)
    assert (row.event, row.status) == ("Stop", "done")


def pass_through(served: Machine, event: str, raw: bytes) -> InboxRow:
    """Send it through hook and worker; the row it has become. The worker must not suffer from it."""
    before = served.row_count()
    pid = served.get("/api/health")["pid"]
    assert served.hook(event, raw=raw) == SILENT
    wait_until(lambda: served.row_count() > before, "it to be in the inbox")
    for given in turn(f"after-{next(_sessions)}", "the usual"):
        leave(served.home, given)
    served.drain()
    assert served.get("/api/health")["pid"] == pid
    row, *usual = rows_after(served, before)
    assert [later.status for later in usual] == ["done", "skipped", "done"]
    return row


def rows_after(served: Machine, before: int) -> list[InboxRow]:
    """What came last, without reading again what came before it."""
    names = ", ".join(InboxRow.__slots__)
    return [InboxRow(*row) for row in served.inbox(f"select {names} from inbox order by id limit -1 offset {before}")]
