"""Repetitions of forgotten text in memories, session summaries and raw text.

In doubt a sentence stays; paraphrases in other words are not found."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

from claude_mem_lite.knowledge.correction_context import without_lines
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Memory, SessionSummary
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.text import query_words, share
from claude_mem_lite.values import frozen

_SENTENCE_END = lazy(r"(?<=[.!?;])\s+|\n+")
# As in "Asked: …".
_LABEL = lazy(r"^\s*\w+: ")
# A sentence is a repetition if this share of its words, of at least three, is forgotten text.
_MIN_SHARE = 0.7
_MIN_WORDS = 3
# In texts about other subjects a repetition needs more words, and rare words.
_MIN_WORDS_ELSEWHERE = 4
_MIN_RARE = 2
SAID_WORDS = 2
"""Minimum length of a repeated sentence if the whole turn is forgotten."""
# A word in no more documents than this is rare and is searched everywhere.
_RARE = 20
_RAREST = 6
_MAX_FOUND = 500
_FILES = ("files_edited", "files_read")


@frozen
class RepetitionMatcher:
    """Words and sentences of forgotten text, for comparison with other texts."""

    words: frozenset[str]
    rare: frozenset[str] = frozenset()
    """Rare words. If there are any, a sentence must have two of them: for texts that may be about something else."""
    said: frozenset[tuple[str, ...]] = frozenset()
    """Sentences of forgotten raw text, as words."""

    def is_in(self, sentence: str) -> bool:
        """Return True if a sentence repeats forgotten text."""
        own = query_words(sentence)
        wordings = (sentence, _LABEL.sub("", sentence))
        return self._shares_words(own) or any(self._is_sentence(wording) for wording in wordings)

    def is_in_any(self, text: str) -> bool:
        """Return True if any sentence of a text repeats forgotten text."""
        return self._may_be_in(text) and self.out_of(text) != text

    def has_enough_rare_words(self) -> bool:
        """Return True if the matcher may search texts about something else."""
        return len(self.rare) >= _MIN_RARE

    def _may_be_in(self, text: str) -> bool:
        """Return True if a text has two of the rare words. Quick, for thousands of texts."""
        if not self.rare or self.said:
            return True
        # The index has identifiers as one word too: `get_user` as `getuser`.
        plain = text.lower().replace("_", "").replace("-", "") if text.isascii() else query_words(text)
        return sum(word in plain for word in self.rare) >= _MIN_RARE

    def _shares_words(self, own: Sequence[str]) -> bool:
        if self.rare and (len(own) < _MIN_WORDS_ELSEWHERE or sum(word in self.rare for word in own) < _MIN_RARE):
            return False
        return len(own) >= _MIN_WORDS and share(own, self.words) >= _MIN_SHARE

    def _is_sentence(self, sentence: str) -> bool:
        own = query_words(sentence) if self.said else ()
        # A sentence may have been cut in the middle of a word.
        shown = tuple(own[:-1]) if sentence.rstrip().endswith("…") else tuple(own)
        return len(shown) >= SAID_WORDS and any(forgotten[: len(shown)] == shown for forgotten in self.said)

    def out_of(self, text: str) -> str:
        """Return the sentences of a text that do not repeat forgotten text."""
        sentences = [part for part in _SENTENCE_END.split(text) if part]
        left = [part for part in sentences if not self.is_in(part)]
        if len(left) == len(sentences):
            return text
        # The sentence after the semicolon is gone.
        return " ".join(left) if left and left[-1] == sentences[-1] else " ".join(left).removesuffix(";")

    def out_of_memory(self, memory: Memory) -> Memory:
        return replace(
            memory,
            title=self.out_of(memory.title),
            summary=self.out_of(memory.summary),
            detail=self.out_of(memory.detail),
            facts=tuple(fact for fact in memory.facts if not self.is_in(fact)),
        )

    def out_of_summary(self, summary: SessionSummary, kept_files: Collection[str]) -> SessionSummary:
        """Return a summary without forgotten text. Files that other memories name stay, whatever their names."""
        left: dict[str, Any] = {}
        for field in fields(SessionSummary):
            value = getattr(summary, field.name)
            if isinstance(value, str):
                left[field.name] = self.out_of(value)
            else:
                files = kept_files if field.name in _FILES else ()
                left[field.name] = tuple(item for item in value if item in files or not self.is_in(item))
        return SessionSummary(**left)


def of_memories(forgotten: Iterable[Memory]) -> RepetitionMatcher:
    """Return a matcher for memories, without the quoted work of other memories."""
    return RepetitionMatcher(
        frozenset(
            word
            for memory in forgotten
            for word in query_words(
                " ".join((memory.title, memory.summary, without_lines(memory.detail), *memory.facts))
            )
        )
    )


def said_in(texts: Iterable[str], least_words: int = _MIN_WORDS) -> frozenset[tuple[str, ...]]:
    """Return the sentences of forgotten raw text as words; short sentences are left out, because anybody could say
    them."""
    sentences = (query_words(sentence) for text in texts for sentence in _SENTENCE_END.split(text))
    return frozenset(tuple(words) for words in sentences if len(words) >= least_words)


def elsewhere(db: sqlite3.Connection, memory: Memory) -> tuple[RepetitionMatcher, list[tuple[str, str]]]:
    """Return a matcher for texts about other subjects, and the turns and sessions, by kind and name, with at least two
    of the rarest words of a memory."""
    asked = query_words(f"{memory.title} {memory.summary}")
    times = {
        word: fts.count_everywhere(db, word, _RARE + 1) + passages.count_with(db, word, _RARE + 1) for word in asked
    }
    rare = sorted((word for word in asked if 0 < times[word] <= _RARE), key=lambda word: times[word])
    matcher = replace(of_memories([memory]), rare=frozenset(rare))
    if not matcher.has_enough_rare_words():
        return matcher, []
    return matcher, passages.with_two_of(db, rare[:_RAREST], _MAX_FOUND)
