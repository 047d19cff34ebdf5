"""Any payload at all: it is read or refused with a reason, worked on to an end, and stored once."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_lite.agents.claude_code import KNOWN_EVENTS
from claude_mem_lite.inbox.payload import STORED_LIMIT
from claude_mem_lite.inbox.spool import Arrival, read_arrival
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from tests.support.running import Json, dump, leave, query, running_loop, short_folder

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
APART_NS = 120 * 10**9  # two of the same that come closer may be one event, told by two hooks
NAME = "01790000000000000000-1-00000001-Stop"
SETTINGS = settings(
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)

texts = st.text(st.characters(exclude_categories=()), max_size=40) | st.sampled_from(
    [
        "",
        "src/app.py",
        "/",
        "npm test",
        "Exit code 1\nboom",
        "<claude-mem-lite>",
        "```",
        "a\nb\n",
        "\ud83d",
        "\x00",
        "../x",
    ]
)
anything: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=6,
)
numbers = st.integers(-3, 9) | anything
hunks = st.lists(
    st.fixed_dictionaries({}, optional={"oldStart": numbers, "newStart": numbers, "lines": st.lists(texts) | anything})
)


def some(*keys: str, **known: "st.SearchStrategy[Json]") -> "st.SearchStrategy[Json]":
    """An object with some of these fields, most of them texts as they should be."""
    fields = dict.fromkeys(keys, texts | anything) | {key: value | anything for key, value in known.items()}
    return st.fixed_dictionaries({}, optional=fields)


inputs = some("command", "file_path", "old_string", "new_string", "content", "url", "query", "todos", "edits", "prompt")
responses = some(
    "stdout", "stderr", "content", "filePath", "oldString", "newString", "originalFile", "type", "file", "interrupted",
    structuredPatch=hunks,
)  # fmt: skip
payloads = some(
    "source", "reason", "error", "last_assistant_message", "prompt", "agent_type", "agent_id", "prompt_id", "start",
    "command", "ids", "kind", "text", "scope", "tags",
    session_id=st.sampled_from(["a", "b"]),
    cwd=st.sampled_from(["/", "/no/such/folder"]),
    hook_event_name=st.sampled_from([*KNOWN_EVENTS, "Rendered", "Command", "Notification"]),
    tool_name=st.sampled_from(
        ["Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "Read", "Task", "TodoWrite", "WebFetch", "mcp__a__b"]
    ),
    tool_input=inputs,
    tool_response=responses | st.lists(responses, max_size=2),
)  # fmt: skip
raws = payloads.map(lambda one: json.dumps(one).encode())


@given(raw=st.binary(max_size=200) | raws | raws.map(lambda raw: raw[: len(raw) // 2]))
@SETTINGS
def test_any_bytes_become_a_row_or_a_problem(raw: bytes) -> None:
    arrival = read_arrival(NAME, raw, lambda _: False)
    assert arrival is not None
    assert (arrival.name, arrival.raw_bytes) == (NAME, len(raw))
    assert len(arrival.payload) <= STORED_LIMIT
    for stored in (arrival.event, arrival.session, arrival.payload, arrival.problem):
        stored.encode()  # SQLite takes no half characters
    if not arrival.problem:
        assert isinstance(json.loads(arrival.payload), dict)


@given(payload=payloads)
@SETTINGS
def test_a_parsed_payload_becomes_the_same_row_as_its_bytes(payload: JsonObject) -> None:
    arrival = read_arrival(NAME, payload, lambda _: False)
    assert arrival is not None
    assert replace(arrival, raw_bytes=0) == replace(of_bytes(payload), raw_bytes=0)


def of_bytes(payload: JsonObject) -> Arrival:
    arrival = read_arrival(NAME, json.dumps(payload).encode(), lambda _: False)
    assert arrival is not None
    return arrival


@pytest.fixture(scope="module")
def empty() -> Iterator[Home]:
    """A home with databases that hold nothing yet: to make them takes longer than what each example puts there."""
    with short_folder() as folder:
        home = Home(folder / "home")
        home.make()
        with running_loop(home, lambda: NOW) as loop:
            assert loop.passes.wait_until_idle(30)
        yield home


@given(given_raws=st.lists(raws, min_size=1, max_size=8))
@SETTINGS
def test_any_payloads_come_to_an_end_and_coming_again_change_nothing(empty: Home, given_raws: list[bytes]) -> None:
    names = count(1)
    left = {
        f"{1_790_000_000_000_000_000 + n * APART_NS:020d}-4194305-{n:08x}-Stop": raw
        for n, raw in zip(names, given_raws, strict=False)
    }
    with short_folder() as folder:
        home = Home(folder / "home")
        shutil.copytree(empty.root, home.root)
        with running_loop(home, lambda: NOW) as loop:
            leave_all(home, left)
            assert loop.passes.wait_until_idle(30, flush=True)
            ended = outcomes(home)
            stored = dump(home.memory_db)

            leave_all(home, left)
            assert loop.passes.wait_until_idle(30, flush=True)
            assert outcomes(home) == ended
            assert dump(home.memory_db) == stored
    assert set(ended) == set(left)
    for status, reason in ended.values():
        assert status in ("done", "skipped") or (status == "error" and reason.startswith("the payload"))


def leave_all(home: Home, left: dict[str, bytes]) -> None:
    for name, raw in left.items():
        leave(home, None, event="Stop", name=name, raw=raw)


def outcomes(home: Home) -> dict[str, tuple[str, str]]:
    rows = query(home.inbox_db, "select name, status, reason from inbox")
    return {name: (status, reason) for name, status, reason in rows}
