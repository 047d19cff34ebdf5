"""The time that one context or one answer has for its looks at a checkout."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# The few files of a small project take 2 ms in all.
SPARE_S = 0.01


class LookTime:
    """Until a moment of the monotonic clock, and a little more that counts only while it is looked: a machine that is
    busy with a build may let that moment pass before anything was looked at. One look at a time."""

    def __init__(self, deadline: float, spare_s: float = SPARE_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._deadline = deadline
        self._spare_s = spare_s
        self._clock = clock

    @contextmanager
    def looking(self) -> Iterator[float]:
        """When the look that begins now has to end."""
        began = self._clock()
        try:
            yield max(self._deadline, began + self._spare_s)
        finally:
            self._spare_s -= max(self._clock() - max(began, self._deadline), 0)
