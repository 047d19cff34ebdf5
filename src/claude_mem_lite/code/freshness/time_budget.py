"""The time that one context or one answer has for its looks at a checkout."""

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
