"""Whether one text says what another does: by the stems of their words, so that "fails" and "failed" are one."""

import re

from claude_mem_lite.words import stems

_NUMBER = re.compile(r"\d+")


class Said:
    """A text that is compared with several others: its stems and numbers are found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stems = frozenset(stems(text))
        self._numbers = frozenset(_NUMBER.findall(text))

    def share_in(self, other: "Said") -> float:
        """How much of what it says the other says too, from 0 to 1; with a number that the other lacks, nothing."""
        if not self._stems or not self._numbers <= other._numbers:
            return 0.0
        return len(self._stems & other._stems) / len(self._stems)
