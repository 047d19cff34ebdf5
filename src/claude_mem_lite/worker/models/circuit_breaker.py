"""Circuit breaker of model calls: a pause after failures in a row."""

from dataclasses import dataclass

FAILURES_IN_A_ROW = 3
COOLING_S = 600.0


@dataclass(slots=True)
class CircuitBreaker:
    """Failures in a row, and the pause after too many. The job thread alone changes it. Times are epoch seconds."""

    failures: int = 0
    until: float = 0.0
    """Earliest time of the next try with a waiting turn."""
    reason: str = ""
    next_step: str = ""
    is_retrying: bool = False
    """True while the turn of a failed call has tries left."""

    @property
    def is_on(self) -> bool:
        """Return whether too many turns failed: all turns wait until a try succeeds."""
        return self.failures >= FAILURES_IN_A_ROW

    def may_probe(self, now: float) -> bool:
        """Return whether a turn may be tried now; a time beyond the pause means that the clock was set back."""
        return bool(self.failures) and not now < self.until <= now + COOLING_S

    def note_failure(self, reason: str, next_step: str, now: float) -> None:
        self.failures += 1
        self.until = now + COOLING_S
        self.reason, self.next_step, self.is_retrying = reason, next_step, False

    def note_try(self, reason: str, next_step: str) -> None:
        """Note a failed call whose turn is tried again: shown in the status, but not counted as a failure."""
        self.reason, self.next_step, self.is_retrying = reason, next_step, True

    def note_all_tried(self) -> None:
        """Note that no turn is left to be tried again: it may have been forgotten."""
        self.is_retrying = False

    def note_left_over(self, now: float) -> None:
        """Note that turns wait since the last worker: one turn may be tried at once."""
        self.failures, self.until, self.reason = FAILURES_IN_A_ROW, now, "the last worker found the model unavailable"

    def clear(self) -> None:
        self.failures, self.until, self.reason, self.next_step, self.is_retrying = 0, 0.0, "", "", False
