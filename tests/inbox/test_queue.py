"""The inbox queue: what is claimed together, by whom, and what becomes of it."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.inbox.erase import erase
from claude_mem_lite.inbox.queue import CRASH_LIMIT, KEEP_FINISHED_S, LEASE_S, Queue, Row, find, problems, stats
from claude_mem_lite.inbox.spool import Arrival

T0 = 1_790_000_000.0
_names = count(1)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_for_writing(tmp_path / "inbox.db")) as connection:
        migrate(connection, INBOX_MIGRATIONS, datetime(2026, 1, 1, tzinfo=UTC))
        yield connection


@pytest.fixture
def queue(db: sqlite3.Connection) -> Queue:
    return Queue(db)


def test_an_event_is_stored_once_under_its_name(queue: Queue, db: sqlite3.Connection) -> None:
    event = arrival("Stop", "s-1")
    assert queue.add([event], T0) == 1
    assert queue.add([event], T0 + 1) == 0
    assert stats(db) == {"raw": 1, "processing": 0, "done": 0, "error": 0, "skipped": 0}


def test_an_event_that_cannot_be_read_is_in_error_from_the_beginning(queue: Queue, db: sqlite3.Connection) -> None:
    queue.add([arrival("Stop", "", problem="the payload is empty")], T0)
    (problem,) = problems(db, "error", 10)
    assert (problem.reason, problem.attempts) == ("the payload is empty", 0)
    assert queue.claim(T0) == []


def test_an_event_that_was_only_half_there_is_replaced_when_all_of_it_comes(
    queue: Queue, db: sqlite3.Connection
) -> None:
    half = arrival("Stop", "", problem="the payload is no JSON")
    whole = Arrival(half.name, "Stop", "s-1", "{}", 2)
    queue.add([half], T0)
    assert queue.add([whole], T0) == 1
    assert queue.add([half], T0) == 0
    assert stats(db)["raw"] == 1
    assert claimed(queue) == [["Stop"]]


def test_an_event_that_failed_in_work_is_not_replaced(queue: Queue, db: sqlite3.Connection) -> None:
    event = arrival("Stop", "s-1")
    queue.add([event], T0)
    unit = begun(queue, T0)
    queue.fail(ids(unit), "no use", T0, final=True)
    assert queue.add([event], T0) == 0
    assert stats(db)["error"] == 1


def test_a_batch_is_stored_as_a_whole_or_not_at_all(queue: Queue, db: sqlite3.Connection) -> None:
    broken = Arrival("x", "Stop", "s-1", "\ud800", 1)
    with pytest.raises(UnicodeEncodeError):
        queue.add([arrival("Stop", "s-1"), broken], T0)
    assert stats(db)["raw"] == 0


def test_a_turn_is_claimed_as_one_unit_when_its_end_is_there(queue: Queue) -> None:
    add(queue, "s-1", "UserPromptSubmit", "PostToolUse")
    assert queue.claim(T0) == []
    add(queue, "s-1", "Stop")
    assert claimed(queue) == [["UserPromptSubmit", "PostToolUse", "Stop"]]


def test_only_a_unit_that_is_whole_or_claimed_is_ready(queue: Queue) -> None:
    add(queue, "s-1", "UserPromptSubmit", "PostToolUse")
    assert not queue.has_ready(T0)
    add(queue, "s-1", "Stop")
    assert queue.has_ready(T0)
    (unit,) = queue.claim(T0)
    assert queue.has_ready(T0)  # as after a kill: the next worker has to give it back
    queue.fail(ids(unit), "no use", T0, final=True)
    assert not queue.has_ready(T0)


@pytest.mark.parametrize("end", ["Stop", "StopFailure", "SessionEnd"])
def test_a_turn_ends_with_any_of_its_ends(queue: Queue, end: str) -> None:
    add(queue, "s-1", "UserPromptSubmit", end, "PostToolUse")
    assert claimed(queue) == [["UserPromptSubmit", end]]


def test_the_next_prompt_closes_an_interrupted_turn(queue: Queue) -> None:
    add(queue, "s-1", "UserPromptSubmit", "PostToolUse", "UserPromptSubmit")
    assert claimed(queue) == [["UserPromptSubmit", "PostToolUse"]]


def test_a_quiet_turn_is_ready_after_a_day(queue: Queue) -> None:
    add(queue, "s-1", "UserPromptSubmit")
    assert queue.claim(T0 + 86_000) == []
    assert claimed(queue, T0 + 86_401) == [["UserPromptSubmit"]]


def test_flushing_makes_open_turns_ready(queue: Queue) -> None:
    add(queue, "s-1", "UserPromptSubmit", "PostToolUse")
    (unit,) = queue.claim(T0, flush=True)
    assert [row.event for row in unit] == ["UserPromptSubmit", "PostToolUse"]


def test_a_unit_that_was_claimed_before_stays_as_it_was(queue: Queue) -> None:
    add(queue, "s-1", "UserPromptSubmit", "PostToolUse")
    queue.claim(T0, flush=True)
    queue.release_all()
    add(queue, "s-1", "PostToolUse", "Stop")
    assert work_through(queue) == [["UserPromptSubmit", "PostToolUse"], ["PostToolUse", "Stop"]]


@pytest.mark.parametrize("event", ["SessionStart", "PreCompact", "Rendered", "Command"])
def test_events_that_stand_alone_go_before_an_open_turn(queue: Queue, event: str) -> None:
    add(queue, "s-1", "UserPromptSubmit", event)
    assert claimed(queue) == [[event]]


def test_events_without_a_session_stand_alone(queue: Queue) -> None:
    add(queue, "", "PostToolUse", "Stop")
    assert work_through(queue) == [["PostToolUse"], ["Stop"]]


def test_up_to_five_units_are_claimed_at_a_time_and_one_of_a_session(queue: Queue) -> None:
    for number in range(7):
        add(queue, f"s-{number}", "Stop", "Stop")
    units = queue.claim(T0)
    assert [[row.session for row in unit] for unit in units] == [[f"s-{number}"] for number in range(5)]
    assert [unit[0].session for unit in queue.claim(T0)] == ["s-5", "s-6"]
    assert queue.claim(T0) == []


def test_units_of_a_session_come_in_order(queue: Queue) -> None:
    for _ in range(3):
        add(queue, "s-1", "UserPromptSubmit", "Stop")
    add(queue, "s-1", "Stop")
    assert work_through(queue) == [["UserPromptSubmit", "Stop"]] * 3 + [["Stop"]]


def test_no_number_of_open_turns_hides_one_that_is_ready(queue: Queue) -> None:
    for number in range(300):
        add(queue, f"open-{number}", "UserPromptSubmit")
    add(queue, "ready", "Stop")
    assert [unit[0].session for unit in queue.claim(T0)] == ["ready"]


def test_a_lease_that_ran_out_returns_the_unit(queue: Queue) -> None:
    add(queue, "s-1", "UserPromptSubmit", "Stop")
    first = queue.claim(T0)
    assert queue.claim(T0 + LEASE_S) == []
    assert queue.claim(T0 + LEASE_S + 1) == first


def test_a_unit_that_begins_is_leased_anew(queue: Queue) -> None:
    add(queue, "s-1", "Stop")
    (unit,) = queue.claim(T0)
    queue.begin(ids(unit), T0 + 100)
    assert queue.claim(T0 + LEASE_S + 1) == []
    assert queue.claim(T0 + 100 + LEASE_S + 1) == [unit]


def test_a_worker_that_starts_finds_everything_returned(queue: Queue, db: sqlite3.Connection) -> None:
    add(queue, "s-1", "Stop")
    add(queue, "s-2", "Stop")
    queue.claim(T0)
    assert queue.release_all() == 2
    assert stats(db)["raw"] == 2


def test_a_failure_is_tried_again_after_5_10_and_20_seconds_and_then_kept(queue: Queue, db: sqlite3.Connection) -> None:
    add(queue, "s-1", "UserPromptSubmit", "Stop")
    now = T0
    for wait_s in (5.0, 10.0, 20.0):
        unit = begun(queue, now)
        queue.fail(ids(unit), "it broke", now)
        assert stats(db)["raw"] == 2
        assert queue.claim(now + wait_s - 0.1) == []
        now += wait_s
    unit = begun(queue, now)
    queue.fail(ids(unit), "it broke for good", now)
    assert [(one.status, one.reason, one.attempts) for one in problems(db, "error", 9)] == [
        ("error", "it broke for good", 4)
    ] * 2
    assert queue.claim(now + 1000) == []


def test_a_final_failure_is_kept_at_once(queue: Queue, db: sqlite3.Connection) -> None:
    add(queue, "s-1", "Stop")
    (unit,) = queue.claim(T0)
    queue.fail(ids(unit), "no use", T0, final=True)
    assert [one.reason for one in problems(db, "error", 9)] == ["no use"]


def test_a_failure_holds_back_its_session_only(queue: Queue) -> None:
    add(queue, "s-1", "Stop", "Stop")
    unit = begun(queue, T0)
    queue.fail(ids(unit), "later", T0)
    add(queue, "s-2", "Stop")
    assert [unit[0].session for unit in queue.claim(T0 + 1)] == ["s-2"]


def test_a_failure_is_tried_again_although_the_clock_was_set_back(queue: Queue) -> None:
    add(queue, "s-1", "Stop")
    unit = begun(queue, T0)
    queue.fail(ids(unit), "later", T0)
    assert queue.claim(T0 - 3600) == [unit]


def test_only_the_unit_that_the_worker_died_on_many_times_ends_in_error(queue: Queue, db: sqlite3.Connection) -> None:
    add(queue, "s-1", "Stop")
    add(queue, "s-2", "Stop")
    for _ in range(CRASH_LIMIT):
        killing, innocent = queue.claim(T0)
        queue.begin(ids(killing), T0)
        queue.release_all()
    assert queue.claim(T0) == [innocent]
    (problem,) = problems(db, "error", 9)
    assert (problem.session, "the worker ended" in problem.reason) == ("s-1", True)


def test_events_in_error_are_put_back_to_work(queue: Queue, db: sqlite3.Connection) -> None:
    for session in ("s-1", "s-2"):
        add(queue, session, "Stop")
    for unit in queue.claim(T0):
        queue.fail(ids(unit), "no use", T0, final=True)
    second, first = problems(db, "error", 9)
    assert queue.retry(first.id) == 1
    assert queue.retry(first.id) == 0
    assert claimed(queue) == [["Stop"]]
    assert queue.retry(None) == 1
    assert [unit[0].session for unit in queue.claim(T0)] == [second.session]


def test_the_rows_of_a_unit_end_together(queue: Queue, db: sqlite3.Connection) -> None:
    add(queue, "s-1", "UserPromptSubmit", "PostToolUse", "Stop")
    (unit,) = queue.claim(T0)
    first, second, third = ids(unit)
    queue.finish([first, third], T0, skipped={second: "nothing in it"})
    assert stats(db) == {"raw": 0, "processing": 0, "done": 2, "error": 0, "skipped": 1}
    assert [one.reason for one in problems(db, "skipped", 9)] == ["nothing in it"]


def test_finished_events_are_trimmed_after_8_days_and_no_others(queue: Queue, db: sqlite3.Connection) -> None:
    add(queue, "s-1", "Stop")
    add(queue, "s-2", "Stop")
    add(queue, "open", "UserPromptSubmit")
    queue.add([arrival("Stop", "", problem="broken")], T0)
    done, skipped = queue.claim(T0)
    queue.finish(ids(done), T0, skipped={skipped[0].id: "nothing"})
    assert queue.trim(T0 + KEEP_FINISHED_S) == 0
    assert queue.trim(T0 + KEEP_FINISHED_S + 1) == 3
    assert stats(db) == {"raw": 1, "processing": 0, "done": 0, "error": 0, "skipped": 0}


def test_erasing_removes_the_finished_events_of_turns_and_sessions(queue: Queue, db: sqlite3.Connection) -> None:
    add(queue, "s-1", "UserPromptSubmit", "Stop")
    add(queue, "s-2", "Stop")
    add(queue, "s-3", "Stop")
    units = queue.claim(T0)
    queue.finish([row.id for unit in units for row in unit], T0)
    erase(queue, turns=[units[0][0].name], sessions=["s-2"])
    assert [row["session"] for row in db.execute("select session from inbox")] == ["s-3"]


def test_an_event_is_found_by_its_name(queue: Queue, db: sqlite3.Connection) -> None:
    event = arrival("Stop", "s-1")
    queue.add([event], T0)
    found = find(db, event.name)
    assert found is not None
    assert (found.session, found.event) == ("s-1", "Stop")
    assert find(db, "no such name") is None


def arrival(event: str, session: str, problem: str = "") -> Arrival:
    payload = json.dumps({"hook_event_name": event, "session_id": session})
    name = f"{next(_names):020d}-1-00000000-{event}"
    return Arrival(name, event, session, payload, len(payload), problem)


def add(queue: Queue, session: str, *events: str) -> None:
    queue.add([arrival(event, session) for event in events], T0)


def begun(queue: Queue, now: float) -> list[Row]:
    (unit,) = queue.claim(now)
    queue.begin(ids(unit), now)
    return unit


def claimed(queue: Queue, now: float = T0) -> list[list[str]]:
    return [[row.event for row in unit] for unit in queue.claim(now)]


def work_through(queue: Queue) -> list[list[str]]:
    """Claim and finish until nothing is ready; the events of each unit in the order of claims."""
    seen = []
    while units := queue.claim(T0, limit=1):
        seen.append([row.event for row in units[0]])
        queue.finish(ids(units[0]), T0)
    return seen


def ids(unit: list[Row]) -> list[int]:
    return [row.id for row in unit]
