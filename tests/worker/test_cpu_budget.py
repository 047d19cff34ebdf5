"""How long a context may look at code: by what it works, whatever else the machine does meanwhile."""

import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.checkout_view import CheckoutView
from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.freshness.time_budget import CpuBudget
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.code.syntax.changes import CodeChange
from claude_mem_lite.deadline import Deadline
from tests.support.code_anchors import LOAD, LOAD_SAFELY, work_on
from tests.support.fakes import Store
from tests.worker.checkouts import remember, soon


class Machine:
    """Its clock and its processor, which go on only as looks are told to take time."""

    def __init__(self, work_s: float, within_s: float) -> None:
        self.now = self.worked = 0.0
        self.cpu_budget = CpuBudget(work_s, within_s, lambda: self.now, lambda: self.worked)

    def look(self, takes: Iterable[tuple[float, float]]) -> list[float]:
        """When tries of a look had to end, of which each takes so much time and work, and all but the last one lack
        time."""
        left, ends = list(takes), []

        def look(deadline: Deadline) -> bool:
            passes, works = left.pop(0)
            self.now, self.worked = self.now + passes, self.worked + works
            ends.append(deadline.at)
            return bool(left)

        self.cpu_budget.run(look, lacks_time=bool)
        return ends


def test_only_the_work_of_looks_is_counted() -> None:
    machine = Machine(work_s=4.0, within_s=inf)
    assert machine.look([(3.0, 1.0)]) == [4.0]
    machine.now = machine.worked = 100.0
    assert machine.look([(2.0, 2.0)]) == [103.0], "what was done between the looks took nothing of their time"
    assert machine.look([(1.0, 1.0)]) == [103.0]
    assert machine.look([(1.0, 1.0)]) == [103.0], "all is used up"


def test_no_look_ends_after_the_last_moment() -> None:
    machine = Machine(work_s=4.0, within_s=6.0)
    machine.now = 5.0
    assert machine.look([(1.0, 1.0)]) == [6.0]
    assert machine.look([(1.0, 1.0), (0.0, 0.0)]) == [6.0], "and there is no other try"


def test_a_look_that_a_standstill_cut_short_is_tried_again() -> None:
    machine = Machine(work_s=4.0, within_s=inf)
    assert machine.look([(7.0, 1.0), (1.0, 1.0)]) == [4.0, 13.0]
    assert machine.look([(2.0, 1.0)]) == [10.0]


def test_a_look_that_skipped_something_before_its_end_is_tried_again_only_if_the_machine_was_busy() -> None:
    machine = Machine(work_s=4.0, within_s=inf)
    assert machine.look([(3.0, 1.0), (1.0, 1.0)]) == [4.0, 9.0], "a second was left of three"
    machine = Machine(work_s=4.0, within_s=inf)
    assert machine.look([(1.0, 1.0), (1.0, 1.0)]) == [4.0], "with more time on the clock it would skip the same"


def test_a_machine_that_is_slow_all_the_time_has_more_of_the_clock_at_each_try() -> None:
    machine = Machine(work_s=4.0, within_s=inf)
    assert machine.look([(4.0, 1.0), (6.0, 1.5), (4.5, 1.5)]) == [4.0, 10.0, 14.5]


def test_a_look_that_fails_has_worked_all_the_same() -> None:
    machine = Machine(work_s=4.0, within_s=inf)

    def fail(_: Deadline) -> bool:
        machine.worked += 4.0
        raise OSError

    with pytest.raises(OSError):
        machine.cpu_budget.run(fail, lacks_time=bool)
    assert machine.cpu_budget.is_over()


def test_waiting_is_no_work() -> None:
    cpu_budget = CpuBudget(0.02, 60)
    cpu_budget.run(lambda _: time.sleep(0.1), lambda _: False)
    assert not cpu_budget.is_over()


def test_what_lacks_other_things_than_time_is_not_tried_again() -> None:
    assert Machine(work_s=4.0, within_s=inf).look([(3.0, 3.0), (0.0, 0.0)]) == [4.0]


def test_it_is_tried_three_times_at_most_and_not_when_the_work_is_done() -> None:
    assert len(Machine(work_s=4.0, within_s=inf).look([(20.0, 1.0)] * 9)) == 3
    assert len(Machine(work_s=4.0, within_s=inf).look([(20.0, 2.0)] * 9)) == 2
    assert len(Machine(work_s=4.0, within_s=inf).look([(20.0, 5.0)] * 9)) == 1


def standing_still_once() -> Callable[[], float]:
    """A clock that is far behind when the first look begins: its time is over at once."""
    behind = iter([0.0, 1000.0])
    return lambda: time.monotonic() - next(behind, 0.0)


@pytest.fixture
def cut_short(looking: StalenessScanner, reader: sqlite3.Connection, root: Path) -> CheckoutView:
    """A checkout that has no time for the first try of its first look."""
    checkout = looking.checkout(reader, find_location(str(root)), soon())
    return replace(checkout, cpu_budget=CpuBudget(60, 600, standing_still_once()))


def test_memories_are_looked_at_again_after_a_standstill(store: Store, cut_short: CheckoutView, root: Path) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    work_on(root, "files.py", LOAD_SAFELY)
    assert cut_short.freshness([memory])[memory.id].verdict == "changed"


def test_changes_are_looked_at_again_after_a_standstill(cut_short: CheckoutView, root: Path) -> None:
    work_on(root, "files.py", LOAD)
    assert cut_short.states([CodeChange("files.py", "load", "function", "new", after="abc")]) == ["changed since"]
