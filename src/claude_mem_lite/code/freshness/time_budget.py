"""The time that one context or one answer has for its looks at a checkout.

When the job thread takes the next step of a look at code: often, but not beside contexts that are asked for."""

import time
from collections.abc import Callable
from typing import TypeVar

# By how much longer than its work each try may take.
_STRETCHES = (1, 2, 3)
Found = TypeVar("Found")


class LookTime:
    """So much work, within so much time. Work is counted by the processor, and only while it is looked: what else is
    done for a context, and a machine that is busy with a build, take nothing of it. One look at a time."""

    def __init__(
        self,
        work_s: float,
        within_s: float,
        clock: Callable[[], float] = time.monotonic,
        worked: Callable[[], float] = time.thread_time,
    ) -> None:
        self._left_s = work_s
        self._latest = clock() + within_s
        self._clock = clock
        self._worked = worked

    def spend(self, look: Callable[[float], Found], lacks_time: Callable[[Found], bool]) -> Found:
        """What a look finds that is given the moment of the monotonic clock at which it has to end. One that lacks time
        though it worked for less than there is, because the machine was busy or stood still, is tried again, and has
        more of the clock."""
        for stretch in _STRETCHES:
            began = self._clock()
            until = min(began + stretch * self._left_s, self._latest)
            found = self._count(look, until)
            if self._clock() < until or self.is_over() or not lacks_time(found):
                break
        return found

    def _count(self, look: Callable[[float], Found], until: float) -> Found:
        worked = self._worked()
        try:
            return look(until)
        finally:
            self._left_s = max(self._left_s - (self._worked() - worked), 0)

    def is_over(self) -> bool:
        """Whether nothing is left of it."""
        return not self._left_s or self._clock() >= self._latest


# Between two steps of a look, which takes as long: nobody waits for it, but threads that answer wait for their turn.
_LOOK_PAUSE_S = 0.02
# While contexts are asked for, the look stands back: beside it they take twice as long. It still goes on, slowly.
_STAND_BACK_S = 0.5
_MAX_PAUSE_S = 3.0


class LookPace:
    """Any thread may note that it asks; the job thread looks."""

    def __init__(self) -> None:
        self._looked_at = 0.0
        self._settle_asked_at = 0.0
        self._all_asked_at = 0.0

    def note_asked(self, *, for_all: bool) -> None:
        """Somebody waits for the inbox to be settled; `for_all`: for open turns as well, and the look."""
        if for_all:
            self._all_asked_at = time.monotonic()
        else:
            self._settle_asked_at = time.monotonic()

    def note_looked(self) -> None:
        """A step has ended, or there was none to take."""
        self._looked_at = time.monotonic()

    def due_in_s(self, context_asked_at: float) -> float:
        """How long to wait for the next step, by when a context was last asked for."""
        asked_at = max(self._settle_asked_at, context_asked_at)
        if asked_at < self._all_asked_at:  # whoever wants all to be done waits for the look
            asked_at = 0.0
        return max(next_look_at(self._looked_at, asked_at) - time.monotonic(), 0)


def next_look_at(looked_at: float, asked_at: float) -> float:
    """When the next step of a look is due, by the end of the last one and the moment when somebody last asked."""
    return min(max(looked_at + _LOOK_PAUSE_S, asked_at + _STAND_BACK_S), looked_at + _MAX_PAUSE_S)
