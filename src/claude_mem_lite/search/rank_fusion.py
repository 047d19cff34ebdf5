"""Two lists of candidates -> one relevance each. docs/search.md tells what else was tried, and what it measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Rule:
    """The fixed numbers of ranking."""

    share_of_meaning: float = 0.3
    least_cosine: float = 0.32
    """What is farther is not found by meaning alone: unrelated texts come as near as this, and hardly nearer."""
    from_cosine: float = 0.15
    """From here on nearness counts for what has the words too: in full for the nearest, if that is near at all."""
    full_cosine: float = 0.5
    good: float = 0.9
    """A memory with this share of the best score is a good one: raw text never stands above it."""


RULE = Rule()
WITH_EVERY_WORD = 0.8
"""The share of what words can give that is sure to a memory which has all of them."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """How well a document answers a query, from 0 to 1, and the two parts of it."""

    words: float
    meaning: float
    cosine: float | None
    most_by_words: float
    """What words alone can give."""

    @property
    def value(self) -> float:
        return self.words + self.meaning

    def with_every_word(self) -> "Relevance":
        """The same of a document that has every word of the query: good whatever BM25 makes of it, which knows no rare
        words while there are few memories."""
        return replace(self, words=WITH_EVERY_WORD * self.most_by_words + (1 - WITH_EVERY_WORD) * self.words)


def fuse(
    by_words: Mapping[int, float], by_meaning: Sequence[tuple[int, float]] | None, rule: Rule
) -> dict[int, Relevance]:
    """The relevance of every document that either list has; `None` for meaning when nobody could be asked."""
    share = 0.0 if by_meaning is None else rule.share_of_meaning
    cosines = dict(by_meaning or ())
    best_words = max(by_words.values(), default=0.0) or 1.0
    highest = max(max(cosines.values(), default=0.0), rule.full_cosine)
    fused = {}
    for document in by_words.keys() | {one for one, cosine in cosines.items() if cosine >= rule.least_cosine}:
        cosine = cosines.get(document)
        near = max((cosine or 0.0) - rule.from_cosine, 0.0) / (highest - rule.from_cosine)
        of_words = (1 - share) * by_words.get(document, 0.0) / best_words
        fused[document] = Relevance(of_words, share * near, cosine, 1 - share)
    return fused
