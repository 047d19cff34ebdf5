"""Whether one text says what another does: by the stems of their words, so that "fails" and "failed" are one.

Here is also when of two memories only one is told: what fails, and the handoff that says it was left failing."""

import re
from collections.abc import Iterable

from claude_mem_lite.models import Memory
from claude_mem_lite.text import stems

_NUMBER = re.compile(r"\d+")


class Said:
    """A text that is compared with several others: its stems and numbers are found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stems = frozenset(stems(text))
        self._numbers = frozenset(_NUMBER.findall(text))

    def share_in(self, other: "Said") -> float:
        """How much of what it says the other says too, from 0 to 1; with a number that the other lacks, nothing."""
        return self.shared_with(other) / len(self) if self._stems else 0.0

    def shared_with(self, other: "Said") -> int:
        """Return the number of its stems that the other has too; 0 when the other lacks a number of it."""
        return len(self._stems & other._stems) if self._numbers <= other._numbers else 0

    def __len__(self) -> int:
        return len(self._stems)


def is_left_failing(failure: Memory, left: Memory) -> bool:
    """Whether a handoff tells of a failure of its session."""
    is_pair = (failure.kind, left.kind, failure.session) == ("failure", "handoff", left.session)
    return is_pair and failure.title in left.summary


def why_said_already(memory: Memory, given: Iterable[Memory]) -> str:
    """Why a memory is not told after others; '' when it says something of its own."""
    is_said = any(is_left_failing(memory, one) or is_left_failing(one, memory) for one in given)
    return "said by another that is given" if is_said else ""
