"""Whether the model can be trusted to answer: turns that failed in a row, and the cooling after too many of them."""

from dataclasses import dataclass

FAILURES_IN_A_ROW = 3
COOLING_S = 600.0


@dataclass(slots=True)
class Outage:
    """Changed by the job thread only. Times are seconds since the epoch."""

    failures: int = 0
    until: float = 0.0
    """Not before then is a model tried again with a turn that waits."""
    reason: str = ""
    next_step: str = ""
    is_retrying: bool = False
    """Whether the last call failed and its turn still has tries left."""

    @property
    def is_on(self) -> bool:
        """Too many turns failed: until one succeeds, all others wait."""
        return self.failures >= FAILURES_IN_A_ROW

    def may_probe(self, now: float) -> bool:
        """Whether it is time to try one turn; a time beyond the cooling is from before the clock was set back."""
        return bool(self.failures) and not now < self.until <= now + COOLING_S

    def note_failure(self, reason: str, next_step: str, now: float) -> None:
        self.failures += 1
        self.until = now + COOLING_S
        self.reason, self.next_step, self.is_retrying = reason, next_step, False

    def note_try(self, reason: str, next_step: str) -> None:
        """A call failed whose turn is tried again: worth telling, but no failure yet."""
        self.reason, self.next_step, self.is_retrying = reason, next_step, True

    def note_all_tried(self) -> None:
        """Nothing is left to be tried again: what it was may have been forgotten."""
        self.is_retrying = False

    def note_left_over(self, now: float) -> None:
        """Turns wait since the last worker: one of them may be tried at once."""
        self.failures, self.until, self.reason = FAILURES_IN_A_ROW, now, "the last worker found the model unavailable"

    def clear(self) -> None:
        self.failures, self.until, self.reason, self.next_step, self.is_retrying = 0, 0.0, "", "", False
