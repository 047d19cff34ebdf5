"""Raw text -> the piece of it that answers a question, to be shown in the place of the whole."""

import re
from collections.abc import Sequence

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
