"""kill -9 of the worker, at any moment of its work."""

import os
import random
import socket
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.paths import Home
from tests.support.running import WAIT_S, Json, Machine, NotThereYet, dump, leave, open_machine, spool_name, turn

ROUNDS = 100
SESSIONS = 12
LOOK_S = 0.0002  # what matters is the moment right after, but the worker needs the processor to get there
FINISHED = "status in ('done', 'skipped')"
Left = list[tuple[str, Json]]


def test_a_worker_killed_a_hundred_times_loses_nothing_and_stores_nothing_twice(machine: Machine) -> None:
    chance = random.Random(9)
    left: Left = []
    for number in range(ROUNDS):
        left += leave_turns(machine.home, chance, number)
        worker = machine.spawn_worker()
        wait_for_some_moment(machine, chance)
        worker.kill()
        worker.wait()
    assert len(left) > 1000
    assert_all_is_stored(machine, left)

    with open_machine() as untroubled:
        for name, given in left:
            leave(untroubled.home, given, name=name)
        untroubled.start_worker()
        untroubled.drain()
        assert dump(machine.view.memory_db) == dump(untroubled.view.memory_db)


def leave_turns(home: Home, chance: random.Random, number: int) -> Left:
    """A few whole turns of some sessions, now and then so many that they do not fit one transaction."""
    left = []
    for position in range(30 if number % 20 == 0 else chance.randint(1, 2)):
        session = f"s-{chance.randrange(SESSIONS)}"
        for given in turn(session, f"round {number} turn {position}", steps=chance.randint(1, 5)):
            left.append((spool_name(given["hook_event_name"]), given))
            leave(home, given, name=left[-1][0])
    return left


@dataclass(frozen=True, slots=True)
class Seen:
    events: int
    finished: int


class Watched:
    """The inbox of a worker, looked at by one connection: to open many takes the processor from the worker."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def look(self) -> Seen | None:
        """How many events there are; None while the worker has still to make the inbox, or to mend its log."""
        try:
            self._db = self._db or sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=10)
            (found,) = self._db.execute(f"select count(*), count(*) filter (where {FINISHED}) from inbox")
        except sqlite3.OperationalError:
            self.close()
            return None
        return Seen(*found)


def wait_for_some_moment(machine: Machine, chance: random.Random) -> None:
    """Until the worker has begun to listen, taken some events in, or worked on some; or just a while."""
    before = Seen(rows_by_now(machine), rows_by_now(machine, FINISHED))
    files = len(os.listdir(machine.home.spool_new))
    more, until = chance.randrange(3, 20), time.monotonic() + chance.random() * 0.12
    with closing(Watched(machine.home.inbox_db)) as inbox:
        moments: dict[str, Callable[[], bool]] = {
            "listening": lambda: is_listening(machine),
            "commit": lambda: (seen := inbox.look()) is not None and seen.events > before.events,
            "removal": lambda: len(os.listdir(machine.home.spool_new)) < files,
            "work": lambda: (
                (seen := inbox.look()) is not None and seen.finished >= min(before.finished + more, seen.events)
            ),
            "any": lambda: time.monotonic() > until,
        }
        kind = chance.choice((*moments, "work", "removal"))
        deadline = time.monotonic() + WAIT_S
        while not moments[kind]():
            assert time.monotonic() < deadline, f"waited {WAIT_S} s for {kind}"
            time.sleep(LOOK_S)


def rows_by_now(machine: Machine, condition: str = "1") -> int:
    """How many events are in the inbox; none while the worker has still to make it."""
    try:
        return machine.row_count(condition)
    except NotThereYet:
        return 0


def is_listening(machine: Machine) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(machine.home.socket)) == 0


def assert_all_is_stored(machine: Machine, left: Left) -> None:
    machine.start_worker()
    machine.drain()
    rows = machine.rows()
    assert [row.name for row in rows] == [name for name, _ in left]
    assert {row.status for row in rows} == {"done", "skipped"}
    machine.kill_worker()
