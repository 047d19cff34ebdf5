"""Certainty of a hit on an absolute scale, so that a search can report that no hit answers the query.

The score of a search only ranks: the best hit of an unanswerable query scores as high as any other best hit. Used by
`hybrid`; pure. docs/search.md has the figures behind the floor."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

FLOOR = 0.75
"""A hit below the floor is not certain. `python -m benchmarks.certainty` measures the floor."""
FLOOR_BY_WORDS = FLOOR / 3
"""The floor for a query without a vector, such as a Chinese query: most of its pairs of characters are no words."""
_DIGITS = 2
_MIN_WEIGHT = 0.01
# Keeps the logarithm of the number of documents above 0.
_YOUNG = 2


@dataclass(frozen=True, slots=True)
class Certainty:
    """The share of the query's words that a hit has, weighted by rarity, plus the cosine of query and hit."""

    found: Mapping[str, float]
    """The words of the hit, with their weights."""
    asked: float
    """The weight of all words of the query."""
    cosine: float | None
    """None when the query has no vector; 0 when only the hit has none yet."""

    @property
    def value(self) -> float:
        """Return the sum of both rounded terms, so that the sum can be checked by hand."""
        return round(self.share + self._cosine, _DIGITS)

    @property
    def floor(self) -> float:
        return FLOOR_BY_WORDS if self.cosine is None else FLOOR

    def is_certain(self) -> bool:
        return self.value >= self.floor

    def explained(self) -> str:
        """Return the certainty as a sum, the share of the words as a quotient, and the floor in force."""
        near = "" if self.cosine is None else f" {'-' if self._cosine < 0 else '+'} cosine {abs(self._cosine):g}"
        named = " + ".join(f"{word} {weight:g}" for word, weight in self.found.items()) or "0"
        return (
            f"certainty {self.value:g} = words {self.share:g}{near}; "
            f"words {self.share:g} = ({named}) / {round(self.asked, _DIGITS):g}; "
            f"the floor is {self.floor:g}{', by words alone' if self.cosine is None else ''}"
        )

    @property
    def share(self) -> float:
        """Return the share of the words that the hit has."""
        return round(sum(self.found.values()) / round(self.asked, _DIGITS), _DIGITS) if self.found else 0.0

    @property
    def _cosine(self) -> float:
        return round(self.cosine or 0.0, _DIGITS)


def rarity(having: int, documents: int) -> float:
    """Return the weight of a word: 1 when no document has the word, next to 0 when all have it."""
    most = math.log(documents + _YOUNG)
    return max(round(1 - math.log(having + 1) / most, _DIGITS), _MIN_WEIGHT)
