"""Presentation of hits: excerpts of raw text, and a ranking of the sessions of the hits."""

import re
from collections.abc import Sequence

from claude_mem_lite.search_values import Hit
from claude_mem_lite.text import matched_words, one_line, within

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_MARKUP = re.compile(r"[*`#>|]+")
_MAX_SCANNED = 20_000


def excerpt(text: str, words: Sequence[str], limit: int) -> str:
    """Return at most `limit` characters from the sentence with most of the words; from the beginning if none
    matches."""
    lines = [one_line(_MARKUP.sub(" ", line)) for line in _SENTENCE_END.split(text[:_MAX_SCANNED])]
    sentences = [line for line in lines if line]
    matched = [len(matched_words(words, line)) for line in sentences]
    first = matched.index(max(matched)) if any(matched) else 0
    begun = " ".join(sentences[first:])
    return within(f"… {begun}" if first else begun, limit)


def rank_sessions(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    """Return sessions with scores, best first: the best hit of a session counts in full, each further hit half as much.

    So a session about the query ranks above a session that mentions it once, and below a session that answers it
    outright: a hundred poor hits never add up to two good ones."""
    scores: dict[str, float] = {}
    weights: dict[str, float] = {}
    for hit in sorted(hits, key=lambda hit: hit.score, reverse=True):
        session = hit.found.session
        if session:
            weight = weights.get(session, 1.0)
            scores[session] = scores.get(session, 0.0) + weight * hit.score
            weights[session] = weight / 2
    # Sorting is stable: of two sessions with the same score, the one with the better hit comes first.
    return sorted(scores.items(), key=lambda entry: entry[1], reverse=True)
