"""Fusion of two candidate lists, by words and by meaning, into one relevance per document, and the certainty of a hit.

Relevance only ranks: the best hit of an unanswerable query scores as high as any other best hit. Certainty is
absolute, so that a search can report that no hit answers the query. docs/search.md has the measurements."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from claude_mem_lite.values import frozen

FLOOR = 0.75
"""A hit below the floor is not certain. `python -m benchmarks.certainty` measures the floor."""
FLOOR_BY_WORDS = FLOOR / 3
"""The floor for a query without a vector, such as a Chinese query: most of its pairs of characters are no words."""
_DIGITS = 2
_MIN_WEIGHT = 0.01
# Keeps the logarithm of the number of documents above 0.
_YOUNG = 2


@frozen
class RankingRule:
    """The fixed numbers of ranking."""

    share_of_meaning: float = 0.3
    least_cosine: float = 0.32
    """Minimum cosine of a hit by meaning alone: unrelated texts come as near as this, and hardly nearer."""
    from_cosine: float = 0.15
    """Cosine from which nearness raises a hit by words: in full for the nearest document, if that is near at all."""
    full_cosine: float = 0.5
    good: float = 0.9
    """Share of the best score from which a memory is good: raw text never ranks above a good memory."""


RULE = RankingRule()
WITH_EVERY_WORD = 0.8
"""Guaranteed share of the maximum word score for a memory that has all words."""


@frozen
class Relevance:
    """Relevance of a document for a query, from 0 to 1, with its two parts."""

    words: float
    meaning: float
    cosine: float | None
    most_by_words: float
    """Maximum of `words`."""

    @property
    def value(self) -> float:
        return self.words + self.meaning

    def with_every_word(self) -> "Relevance":
        """Return the relevance of a document that has every word of the query: high whatever BM25 says, because BM25
        knows no rare words while there are few memories."""
        return replace(self, words=WITH_EVERY_WORD * self.most_by_words + (1 - WITH_EVERY_WORD) * self.words)


def fuse(
    by_words: Mapping[int, float], by_meaning: Sequence[tuple[int, float]] | None, rule: RankingRule
) -> dict[int, Relevance]:
    """Return the relevance of every document of either list; `by_meaning` is None when the query has no vector."""
    share = 0.0 if by_meaning is None else rule.share_of_meaning
    cosines = dict(by_meaning or ())
    best_words = max(by_words.values(), default=0.0) or 1.0
    highest = max(max(cosines.values(), default=0.0), rule.full_cosine)
    fused = {}
    for document in by_words.keys() | {document for document, cosine in cosines.items() if cosine >= rule.least_cosine}:
        cosine = cosines.get(document)
        near = max((cosine or 0.0) - rule.from_cosine, 0.0) / (highest - rule.from_cosine)
        by_word_score = (1 - share) * by_words.get(document, 0.0) / best_words
        fused[document] = Relevance(by_word_score, share * near, cosine, 1 - share)
    return fused


@frozen
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
