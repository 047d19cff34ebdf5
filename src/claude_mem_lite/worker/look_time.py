"""The time that one context or one answer has for its looks at a checkout."""

import time
from collections.abc import Callable
from typing import TypeVar

SPARE_S = 0.01
"""What looks may work after their time is over. The few files of a small project take 2 ms in all."""
LATEST_S = 0.25
"""How long after it the last one may begin: whoever waits for a machine that is so busy waits for other things, too."""
_MOST_TRIES = 3
Found = TypeVar("Found")


class LookTime:
    """Until a moment of the monotonic clock, and a little more by the time of the processor: a machine that is busy
    with a build may let that moment pass before anything was looked at. One look at a time."""

    def __init__(
        self,
        deadline: float,
        spare_s: float = SPARE_S,
        clock: Callable[[], float] = time.monotonic,
        worked: Callable[[], float] = time.thread_time,
    ) -> None:
        self._deadline = deadline
        self._spare_s = spare_s
        self._clock = clock
        self._worked = worked

    def look(self, look: Callable[[float], Found], lacks_time: Callable[[Found], bool]) -> Found:
        """What a look finds that is given the moment at which it has to end."""
        for _ in range(_MOST_TRIES):
            began, worked = self._clock(), self._worked()
            spare_s = self._spare_s if began < self._deadline + LATEST_S else 0
            until = max(self._deadline, began + spare_s)
            found = look(until)
            ended = self._clock()
            if ended > self._deadline:
                self._spare_s = max(self._spare_s - (self._worked() - worked), 0)
            if ended < until or not spare_s or not lacks_time(found):
                break
        return found
