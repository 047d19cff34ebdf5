"""The time that one context or one answer has for its looks at a checkout."""

import time
from collections.abc import Callable
from typing import TypeVar

_MOST_TRIES = 3
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

    def spend(self, look: Callable[[float], Found], lacks_time: Callable[[Found], bool] = lambda _: False) -> Found:
        """What a look finds that is given the moment of the monotonic clock at which it has to end. One that lacks time
        though it worked for less than there is, because the machine stood still, is tried again."""
        for _ in range(_MOST_TRIES):
            began, worked = self._clock(), self._worked()
            until = min(began + self._left_s, self._latest)
            found = look(until)
            self._left_s = max(self._left_s - (self._worked() - worked), 0)
            if self._clock() < until or self.is_over() or not lacks_time(found):
                break
        return found

    def is_over(self) -> bool:
        """Whether nothing is left of it."""
        return not self._left_s or self._clock() >= self._latest
