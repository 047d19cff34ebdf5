"""How long a context may look at code, also when the machine let its time pass before it looked at anything."""

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from claude_mem_lite.code.values import CodeChange
from claude_mem_lite.places import find_place
from claude_mem_lite.worker.look_time import LATEST_S, LookTime
from claude_mem_lite.worker.looking import Looking
from tests.anchored import LOAD, LOAD_SAFELY, work_on
from tests.fakes import Store
from tests.worker.looks import remember


class Machine:
    """Its clock and its processor, which go on only as looks are told to take time."""

    def __init__(self, deadline: float, spare_s: float) -> None:
        self.now = self.worked = 0.0
        self.look_time = LookTime(deadline, spare_s, lambda: self.now, lambda: self.worked)

    def look(self, takes: Iterable[tuple[float, float]]) -> list[float]:
        """When tries of a look had to end, of which each takes so much time and work, and all but the last one lack
        time."""
        left, ends = list(takes), []

        def look(until: float) -> bool:
            passes, works = left.pop(0)
            self.now, self.worked = self.now + passes, self.worked + works
            ends.append(until)
            return bool(left)

        self.look_time.look(look, lambda lacks_time: lacks_time)
        return ends


def test_looks_end_at_the_deadline_and_leave_the_spare_time_alone() -> None:
    machine = Machine(deadline=10.0, spare_s=0.25)
    assert machine.look([(4.0, 4.0)]) == [10.0]
    assert machine.look([(4.0, 4.0), (0.0, 0.0)]) == [10.0], "what lacks other things than time has no second try"
    machine.now = 10.125
    assert machine.look([(0.0, 0.0)]) == [10.375], "it began late, and nothing of the spare time was taken"


def test_a_look_that_a_standstill_cut_short_is_tried_again() -> None:
    machine = Machine(deadline=10.0, spare_s=0.25)
    assert machine.look([(10.125, 0.0625), (0.0, 0.0)]) == [10.0, 10.125 + 0.1875]
    assert machine.look([(0.0, 0.0)]) == [10.125 + 0.1875], "what was worked after the deadline is gone"


def test_it_is_tried_three_times_at_most_and_not_without_spare_time() -> None:
    assert len(Machine(deadline=0.0, spare_s=0.01).look([(0.05, 0.001)] * 9)) == 3
    assert len(Machine(deadline=0.0, spare_s=0.01).look([(0.05, 0.02)] * 9)) == 2
    assert len(Machine(deadline=0.0, spare_s=0.0).look([(0.05, 0.001)] * 9)) == 1


def test_long_after_the_deadline_nothing_is_spared() -> None:
    machine = Machine(deadline=10.0, spare_s=0.01)
    machine.now = 10.0 + LATEST_S
    assert machine.look([(0.1, 0.001)] * 9) == [machine.now - 0.1]


def test_code_is_looked_at_though_the_deadline_was_over_before(
    store: Store, looking: Looking, reader: sqlite3.Connection, root: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    work_on(root, "files.py", LOAD_SAFELY)
    checkout = looking.checkout(reader, find_place(str(root)), time.monotonic())
    now = time.monotonic()
    late = replace(checkout, time=LookTime(now, spare_s=60, clock=lambda: now))
    assert late.freshness([memory])[memory.id].verdict == "changed"
    assert late.states([CodeChange("files.py", "load", "function", "new", after="abc")]) == ["changed since"]
