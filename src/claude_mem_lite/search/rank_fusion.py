"""Fusion of two candidate lists, by words and by meaning, into one relevance per document. docs/search.md describes
the alternatives and their measurements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
