"""A text -> the run of its sentences that a question is about."""

import re
from collections.abc import Mapping, Sequence

from claude_mem_lite.text import one_line, tokens_of, within, words_among

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
# Finding the words of a longer text takes longer than anybody waits.
_LOOKED_THROUGH = 12_000


def sentences_about(text: str, weights: Mapping[str, float], limit: int) -> str:
    """Return the whole sentences in a row, `limit` characters at most, that have most of the weighted words.

    A first sentence that is longer is cut."""
    sentences = [line for one in _SENTENCE_END.split(text[:_LOOKED_THROUGH]) if (line := one_line(one))]
    found = [words_among(list(weights), tokens_of(one)) for one in sentences]
    best, begin, end = -1.0, 0, 0
    for first in range(len(sentences)):
        last = _fitting(sentences, first, limit)
        value = sum(weights[word] for word in {word for words in found[first:last] for word in words})
        if value > best:
            best, begin, end = value, first, last
    told = " ".join(sentences[begin:end])
    return within(f"… {told}" if begin else told, limit)


def _fitting(sentences: Sequence[str], first: int, limit: int) -> int:
    """Return the end of the sentences that fit into the limit from the first on; that one is always among them."""
    room, last = limit - len(sentences[first]), first + 1
    while last < len(sentences) and room > len(sentences[last]):
        room -= len(sentences[last]) + 1
        last += 1
    return last
