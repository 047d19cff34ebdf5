"""Raw text -> the piece of it that answers a question, to be shown in the place of the whole.

Hits -> the sessions they come from: in which session was that?"""

import re
from collections.abc import Sequence

from claude_mem_lite.models import Hit
from claude_mem_lite.text import matched_words, one_line, within

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_MARKUP = re.compile(r"[*`#>|]+")
_LOOKED_THROUGH = 20_000


def excerpt(text: str, words: Sequence[str], limit: int) -> str:
    """At most `limit` characters from where most of the words stand; from the beginning when none does."""
    told = [one_line(_MARKUP.sub(" ", one)) for one in _SENTENCE_END.split(text[:_LOOKED_THROUGH])]
    sentences = [one for one in told if one]
    matched = [len(matched_words(words, one)) for one in sentences]
    first = matched.index(max(matched)) if any(matched) else 0
    begun = " ".join(sentences[first:])
    return within(f"… {begun}" if first else begun, limit)


def rank_sessions(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    """Sessions with their score, best first: what is best of a session counts in full, each further hit half as much.

    So a session that is about the question all along stands above one that names it once, and below one that
    answers it outright: a hundred poor hits never add up to two good ones."""
    scores: dict[str, float] = {}
    weights: dict[str, float] = {}
    for hit in sorted(hits, key=lambda hit: hit.score, reverse=True):
        session = hit.found.session
        if session:
            weight = weights.get(session, 1.0)
            scores[session] = scores.get(session, 0.0) + weight * hit.score
            weights[session] = weight / 2
    # Sorting is stable: of two with the same score, the one with the better hit was met first.
    return sorted(scores.items(), key=lambda one: one[1], reverse=True)
