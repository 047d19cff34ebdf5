"""kill -9 of the worker, at any moment of its work."""

import os
import random
import socket
import time
from collections.abc import Callable

from claude_mem_lite.paths import Home
from tests.faults.warm import WarmWorkers, warm_workers
from tests.running import WAIT_S, Json, Machine, dump, leave, open_machine, spool_name, turn, wait_until

ROUNDS = 100
SESSIONS = 12
Left = list[tuple[str, Json]]


def test_a_worker_killed_a_hundred_times_loses_nothing_and_stores_nothing_twice(machine: Machine) -> None:
    chance = random.Random(9)
    left: Left = []
    with warm_workers(machine) as workers:
        for number in range(ROUNDS):
            left += leave_turns(machine.home, chance, number)
            pid = workers.start()
            wait_for_some_moment(machine, chance)
            workers.kill(pid)
        assert len(left) > 1000
        assert_all_is_stored(machine, workers, left)

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


def wait_for_some_moment(machine: Machine, chance: random.Random) -> None:
    """Until the worker has begun to listen, taken some events in, or worked on some; or just a while."""
    taken, done = machine.row_count(), machine.row_count("status in ('done', 'skipped')")
    files = len(os.listdir(machine.home.spool_new))
    more, until = chance.randrange(5, 40), time.monotonic() + chance.random() * 0.12
    moments: dict[str, Callable[[], bool]] = {
        "listening": lambda: is_listening(machine),
        "commit": lambda: machine.row_count() > taken,
        "removal": lambda: len(os.listdir(machine.home.spool_new)) < files,
        "work": lambda: machine.row_count("status in ('done', 'skipped')") >= min(done + more, machine.row_count()),
        "any": lambda: time.monotonic() > until,
    }
    kind = chance.choice((*moments, "work", "removal"))
    deadline = time.monotonic() + WAIT_S
    while not moments[kind]():  # without a pause: what matters is the moment right after
        assert time.monotonic() < deadline, f"waited {WAIT_S} s for {kind}"


def is_listening(machine: Machine) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(machine.home.socket)) == 0


def assert_all_is_stored(machine: Machine, workers: WarmWorkers, left: Left) -> None:
    pid = workers.start()
    wait_until(machine.answers, "the last worker")
    machine.drain()
    rows = machine.rows()
    assert [row.name for row in rows] == [name for name, _ in left]
    assert {row.status for row in rows} == {"done", "skipped"}
    workers.kill(pid)
