"""Excerpt of a text: the run of sentences that a question is about."""

import re
from collections.abc import Mapping, Sequence

from claude_mem_lite.text import one_line, tokens_of, within, words_among

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
# A longer text would exceed the deadline.
_MAX_READ = 12_000


def sentences_about(text: str, weights: Mapping[str, float], limit: int) -> str:
    """Return consecutive sentences with most of the weighted words, `limit` characters at most.

    A longer first sentence is cut."""
    sentences = [line for sentence in _SENTENCE_END.split(text[:_MAX_READ]) if (line := one_line(sentence))]
    words_by_sentence = [words_among(list(weights), tokens_of(sentence)) for sentence in sentences]
    best, begin, end = -1.0, 0, 0
    for first in range(len(sentences)):
        last = _fitting(sentences, first, limit)
        value = sum(weights[word] for word in {word for words in words_by_sentence[first:last] for word in words})
        if value > best:
            best, begin, end = value, first, last
    run = " ".join(sentences[begin:end])
    return within(f"… {run}" if begin else run, limit)


def _fitting(sentences: Sequence[str], first: int, limit: int) -> int:
    """Return the end of the run of sentences within the limit; the first sentence is always included."""
    room, last = limit - len(sentences[first]), first + 1
    while last < len(sentences) and room > len(sentences[last]):
        room -= len(sentences[last]) + 1
        last += 1
    return last
