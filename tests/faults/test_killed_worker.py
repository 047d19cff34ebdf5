"""kill -9 of the worker, at any moment of its work."""

import os
import random
import socket
import time
from collections.abc import Callable

from claude_mem_lite.paths import Home
from tests.running import WAIT_S, Json, Machine, NotThereYet, dump, leave, open_machine, spool_name, turn

ROUNDS = 100
SESSIONS = 12
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
    for position in range(60 if number % 20 == 0 else 3):
        session = f"s-{chance.randrange(SESSIONS)}"
        for given in turn(session, f"round {number} turn {position}", steps=chance.randrange(3)):
            left.append((spool_name(given["hook_event_name"]), given))
            leave(home, given, name=left[-1][0])
    return left


def rows_by_now(machine: Machine, condition: str = "1") -> int:
    """How many events are in the inbox; none while the worker has still to make it."""
    try:
        return machine.row_count(condition)
    except NotThereYet:
        return 0


def wait_for_some_moment(machine: Machine, chance: random.Random) -> None:
    """Until the worker has begun to listen, taken some events in, or worked on some; or just a while."""
    taken, done = rows_by_now(machine), rows_by_now(machine, FINISHED)
    files = len(os.listdir(machine.home.spool_new))
    more, until = chance.randrange(5, 40), time.monotonic() + chance.random() * 0.12
    moments: dict[str, Callable[[], bool]] = {
        "listening": lambda: is_listening(machine),
        "commit": lambda: rows_by_now(machine) > taken,
        "removal": lambda: len(os.listdir(machine.home.spool_new)) < files,
        "work": lambda: rows_by_now(machine, FINISHED) >= min(done + more, rows_by_now(machine)),
        "any": lambda: time.monotonic() > until,
    }
    kind = chance.choice((*moments, "work", "removal"))
    deadline = time.monotonic() + WAIT_S
    while not moments[kind]():  # without a pause: what matters is the moment right after
        assert time.monotonic() < deadline, f"waited {WAIT_S} s for {kind}"


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
