"""Tests of `worker/unit_jobs.py` and `worker/write_thread.py`: failed work is tried again
after 5, 10 and 20 seconds, and then kept with the reason."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.support.running import Json, dump, leave, query, turn
from tests.worker.conftest import SetClock

_NO_INTEGER = -(2**63)
"""What SQLite cannot make positive: "integer overflow"."""


def test_a_turn_that_fails_is_tried_again_after_5_10_and_20_seconds(
    home: Home, loop: Services, clock: SetClock
) -> None:
    with unwritable_memory(home):
        leave_turn(home, "s-1")
        assert loop.passes.wait_until_idle(30)
        for attempt, wait_s in enumerate((5, 10, 20), 1):
            assert state(home) == {("raw", attempt, "working on it failed: OperationalError")}
            clock.advance(seconds=wait_s - 0.1)
            assert loop.passes.wait_until_idle(30)
            assert state(home) == {("raw", attempt, "working on it failed: OperationalError")}
            clock.advance(seconds=0.1)
            assert loop.passes.wait_until_idle(30)
        assert state(home) == {("error", 4, "working on it failed: OperationalError")}


def test_a_turn_that_failed_is_stored_when_what_was_wrong_is_over(home: Home, loop: Services, clock: SetClock) -> None:
    with unwritable_memory(home):
        leave_turn(home, "s-1")
        assert loop.passes.wait_until_idle(30)
    clock.advance(seconds=5)
    assert loop.passes.wait_until_idle(30)
    assert state(home) == {("done", 2, ""), ("skipped", 2, "held nothing worth keeping")}
    assert prompts(home) == ["work of s-1"]


def test_events_in_error_are_worked_on_when_told_to_be_tried_again(home: Home, loop: Services, clock: SetClock) -> None:
    with unwritable_memory(home):
        leave_turn(home, "s-1")
        for _ in range(4):
            assert loop.passes.wait_until_idle(30)
            clock.advance(seconds=30)
    assert loop.writes.execute_queue_write(lambda queue: queue.retry(None)).result(30) == 3
    assert loop.passes.wait_until_idle(30)
    assert state(home) == {("done", 1, ""), ("skipped", 1, "held nothing worth keeping")}
    assert prompts(home) == ["work of s-1"]


def test_a_turn_that_waits_holds_back_its_session_and_no_other(home: Home, loop: Services, clock: SetClock) -> None:
    with unwritable_memory(home):
        leave_turn(home, "s-1")
        assert loop.passes.wait_until_idle(30)
    leave_turn(home, "s-1")
    leave_turn(home, "s-2")
    assert loop.passes.wait_until_idle(30)
    assert prompts(home) == ["work of s-2"]
    clock.advance(seconds=5)
    assert loop.passes.wait_until_idle(30)
    assert prompts(home) == ["work of s-2", "work of s-1", "work of s-1"]


def test_a_command_is_carried_out_while_a_turn_waits_to_be_tried_again(home: Home, loop: Services) -> None:
    with unwritable_memory(home):
        leave_turn(home, "s-1")
        assert loop.passes.wait_until_idle(30)
    told: Json = {"command": "remember", "kind": "note", "text": "still here", "scope": None, "tags": [], "cwd": "/"}
    assert len(loop.commands.put(told).result(30)) == 1


def test_who_gave_a_command_hears_of_it_although_it_took_a_second_try(
    home: Home, loop: Services, clock: SetClock
) -> None:
    told: Json = {"command": "remember", "kind": "note", "text": "at last", "scope": None, "tags": [], "cwd": "/"}
    with unwritable_table(home, "memories"):
        waiting = loop.commands.put(told)
        assert loop.passes.wait_until_idle(30)
        assert not waiting.done()
    clock.advance(seconds=5)
    assert len(waiting.result(30)) == 1


def test_a_turn_stored_by_a_worker_that_died_before_noting_it_is_stored_once(home: Home, loop: Services) -> None:
    leave_turn(home, "s-1")
    assert loop.passes.wait_until_idle(30)
    stored = dump(home.memory_db)
    with closing(sqlite3.connect(home.inbox_db)) as db, db:
        db.execute("update inbox set status = 'processing', lease_until = 0")
    assert loop.passes.wait_until_idle(30)
    assert state(home) == {("done", 2, ""), ("skipped", 2, "held nothing worth keeping")}
    assert dump(home.memory_db) == stored


@contextmanager
def unwritable_memory(home: Home) -> Iterator[None]:
    """No turn can be stored for a while."""
    with unwritable_table(home, "prompts"):
        yield


@contextmanager
def unwritable_table(home: Home, table: str) -> Iterator[None]:
    """Let every insert into a table fail with an OperationalError, as on a full disk: damage would end the worker."""
    with closing(sqlite3.connect(home.memory_db)) as db:
        db.execute(f"create trigger no_room before insert on {table} begin select abs({_NO_INTEGER}); end")
        yield
        db.execute("drop trigger no_room")


def leave_turn(home: Home, session: str) -> None:
    for given in turn(session, f"work of {session}"):
        leave(home, given)


def state(home: Home) -> set[tuple[str, int, str]]:
    return {(a, b, c) for a, b, c in query(home.inbox_db, "select status, attempts, reason from inbox")}


def prompts(home: Home) -> list[str]:
    return [text for (text,) in query(home.memory_db, "select text from prompts order by rowid")]
