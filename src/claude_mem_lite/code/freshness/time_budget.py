"""Time limits for checks of a checkout: the budget of one context or answer, and the throttle of background scans."""

import time
from collections.abc import Callable
from typing import TypeVar

from claude_mem_lite.deadline import Deadline

# Wall-clock time of each attempt, as a multiple of the CPU time left.
_STRETCHES = (1, 2, 3)
# Share of the CPU time left that must fit before the deadline. With less, the machine was busy: a check may have
# skipped a file for which a later deadline has time.
_MIN_LEFT = 0.5
# Pause between two steps, as long as a step: nobody waits for the scan, but answering threads wait for the interpreter.
_STEP_PAUSE_S = 0.02
# While contexts are requested, the scan pauses: contexts take twice as long beside a scan. The scan still goes on,
# slowly.
_STAND_BACK_S = 0.5
_MAX_PAUSE_S = 3.0
Result = TypeVar("Result")


class CpuBudget:
    """CPU-time budget within a wall-clock limit. Only the time of checks counts: other work for a context, and a
    machine busy with a build, cost nothing. For one check at a time."""

    def __init__(
        self,
        work_s: float,
        within_s: float,
        clock: Callable[[], float] = time.monotonic,
        cpu_time: Callable[[], float] = time.thread_time,
    ) -> None:
        self._left_s = work_s
        self._latest = Deadline.after(within_s, clock)
        self._cpu_time = cpu_time

    def run(self, check: Callable[[Deadline], Result], lacks_time: Callable[[Result], bool]) -> Result:
        """Run a check with a deadline, and return the result. A check short of time with CPU time left, because the
        machine was busy or suspended, is repeated with a later deadline."""
        for stretch in _STRETCHES:
            deadline = self._latest.at_most(stretch * self._left_s)
            found = self._count(check, deadline)
            was_busy = deadline.left_s() < _MIN_LEFT * self._left_s
            if not was_busy or self.is_over() or not lacks_time(found):
                break
        return found

    def _count(self, check: Callable[[Deadline], Result], deadline: Deadline) -> Result:
        cpu_before = self._cpu_time()
        try:
            return check(deadline)
        finally:
            self._left_s = max(self._left_s - (self._cpu_time() - cpu_before), 0)

    def is_over(self) -> bool:
        """Return True if the budget is used up."""
        return not self._left_s or self._latest.is_past()


class ScanThrottle:
    """Throttle of the background scan. Any thread may note a request; the job thread runs the scan."""

    def __init__(self) -> None:
        self._stepped_at = 0.0
        self._idle_asked_at = 0.0
        self._all_asked_at = 0.0

    def note_asked(self, *, for_all: bool) -> None:
        """Note a caller waiting for an idle inbox; `for_all`: also for open turns and the scan."""
        if for_all:
            self._all_asked_at = time.monotonic()
        else:
            self._idle_asked_at = time.monotonic()

    def note_step(self) -> None:
        """Note the end of a step, or the lack of work."""
        self._stepped_at = time.monotonic()

    def due_in_s(self, context_asked_at: float) -> float:
        """Return the seconds until the next step, given the time of the last context request."""
        asked_at = max(self._idle_asked_at, context_asked_at)
        if asked_at < self._all_asked_at:  # a caller waiting for all work waits for the scan, too
            asked_at = 0.0
        return max(next_step_at(self._stepped_at, asked_at) - time.monotonic(), 0)


def next_step_at(stepped_at: float, asked_at: float) -> float:
    """Return the due time of the next step, from the end of the last step and the time of the last request."""
    return min(max(stepped_at + _STEP_PAUSE_S, asked_at + _STAND_BACK_S), stepped_at + _MAX_PAUSE_S)
