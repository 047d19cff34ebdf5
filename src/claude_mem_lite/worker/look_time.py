"""The time that one context or one answer has for its looks at a checkout."""

import time
from collections.abc import Callable
from typing import TypeVar

_MOST_TRIES = 3
Found = TypeVar("Found")


class LookTime:
    """So much work, and none after a moment. Work is counted by the time of the processor, and only while it is looked:
    layers that work side by side, or a machine that is busy with a build, take nothing of it. One look at a time."""

    def __init__(
        self,
        work_s: float,
        within_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        worked: Callable[[], float] = time.thread_time,
    ) -> None:
        self._left_s = work_s
        self._latest = clock() + (work_s if within_s is None else within_s)
        self._clock = clock
        self._worked = worked

    def look(self, look: Callable[[float], Found], lacks_time: Callable[[Found], bool]) -> Found:
        """What a look finds that is given the moment of the monotonic clock at which it has to end. One that was cut
        short before it could work for that long is tried again."""
        for _ in range(_MOST_TRIES):
            began, worked = self._clock(), self._worked()
            until = min(began + self._left_s, self._latest)
            found = look(until)
            self._left_s = max(self._left_s - (self._worked() - worked), 0)
            now = self._clock()
            if now < until or now >= self._latest or not self._left_s or not lacks_time(found):
                break
        return found
