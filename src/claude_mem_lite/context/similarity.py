"""Similarity of texts by word stems: "fails" equals "failed".

Also finds pairs of memories to show only once: a failure, and the handoff that reports the failure."""

import re
from collections.abc import Iterable

from claude_mem_lite.context.order import REPEATED
from claude_mem_lite.models import Memory
from claude_mem_lite.text import stems

_NUMBER = re.compile(r"\d+")


class StemmedText:
    """Text for several comparisons, with stems and numbers computed once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stems = frozenset(stems(text))
        self._numbers = frozenset(_NUMBER.findall(text))

    def share_in(self, other: "StemmedText") -> float:
        """Return the share of stems found in another text, from 0 to 1; 0 if a number is missing."""
        return self.shared_with(other) / len(self) if self._stems else 0.0

    def shared_with(self, other: "StemmedText") -> int:
        """Return the number of stems found in another text; 0 if a number is missing."""
        return len(self._stems & other._stems) if self._numbers <= other._numbers else 0

    def __len__(self) -> int:
        return len(self._stems)


def is_left_failing(failure: Memory, handoff: Memory) -> bool:
    """Return whether a handoff reports a failure of the same session."""
    is_pair = (failure.kind, handoff.kind, failure.session) == ("failure", "handoff", handoff.session)
    return is_pair and failure.title in handoff.summary


def why_repeated(memory: Memory, chosen: Iterable[Memory]) -> str:
    """Return the reason not to show a memory after the chosen memories; '' if it adds something."""
    is_repeated = any(is_left_failing(memory, other) or is_left_failing(other, memory) for other in chosen)
    return REPEATED if is_repeated else ""
