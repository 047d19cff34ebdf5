"""Deadlines: the moment at which work has to end, passed down instead of bare clock values."""

import math
import time
from collections.abc import Callable
from dataclasses import field

from claude_mem_lite.values import frozen

Seconds = Callable[[], float]


@frozen
class Deadline:
    """Moment on a clock that only goes forward. With `time.thread_time` as the clock, a limit of CPU time."""

    at: float
    clock: Seconds = field(default=time.monotonic, compare=False, repr=False)

    @classmethod
    def after(cls, seconds: float, clock: Seconds = time.monotonic) -> "Deadline":
        """Return the deadline a number of seconds from now."""
        return cls(clock() + seconds, clock)

    def is_past(self) -> bool:
        return self.clock() >= self.at

    def left_s(self) -> float:
        """Return the seconds left; 0 if the deadline is past, infinity for `NEVER`."""
        return max(self.at - self.clock(), 0.0)

    def timeout_s(self) -> float | None:
        """Return the seconds left as the standard library expects a timeout: None without a limit."""
        return None if self.at == math.inf else self.left_s()

    def share(self, part: float) -> "Deadline":
        """Return the end of a part of the time left, counted from now."""
        return self.after(part * self.left_s(), self.clock)

    def at_most(self, seconds: float) -> "Deadline":
        """Return this deadline, or the earlier deadline a number of seconds from now."""
        return min(self, self.after(seconds, self.clock), key=lambda deadline: deadline.at)


NEVER = Deadline(math.inf)
PAST = Deadline(-math.inf)
