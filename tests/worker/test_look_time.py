"""How long a context may look at code: by what it works, whatever else the machine does meanwhile."""

from collections.abc import Iterable
from math import inf

from claude_mem_lite.worker.look_time import LookTime


class Machine:
    """Its clock and its processor, which go on only as looks are told to take time."""

    def __init__(self, work_s: float, within_s: float) -> None:
        self.now = self.worked = 0.0
        self.look_time = LookTime(work_s, within_s, lambda: self.now, lambda: self.worked)

    def look(self, takes: Iterable[tuple[float, float]]) -> list[float]:
        """When tries of a look had to end, of which each takes so much time and work, and all but the last one lack
        time."""
        left, ends = list(takes), []

        def look(until: float) -> bool:
            passes, works = left.pop(0)
            self.now, self.worked = self.now + passes, self.worked + works
            ends.append(until)
            return bool(left)

        self.look_time.spend(look, lacks_time=bool)
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
    assert machine.look([(7.0, 1.0), (1.0, 1.0)]) == [4.0, 10.0]
    assert machine.look([(2.0, 1.0)]) == [10.0]


def test_what_lacks_other_things_than_time_is_not_tried_again() -> None:
    assert Machine(work_s=4.0, within_s=inf).look([(3.0, 3.0), (0.0, 0.0)]) == [4.0]


def test_it_is_tried_three_times_at_most_and_not_when_the_work_is_done() -> None:
    assert len(Machine(work_s=4.0, within_s=inf).look([(5.0, 1.0)] * 9)) == 3
    assert len(Machine(work_s=4.0, within_s=inf).look([(5.0, 2.0)] * 9)) == 2
    assert len(Machine(work_s=4.0, within_s=inf).look([(5.0, 5.0)] * 9)) == 1
