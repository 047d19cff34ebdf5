"""What repeats something that is to be forgotten: in the memories and summaries beside it, and in raw text anywhere.

In doubt a sentence stays: what was said in quite other words is found by nobody here."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import OCCASION_LEAD, Memory, SessionSummary
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.text import query_words

_SENTENCE_END = lazy(r"(?<=[.!?;])\s+|\n+")
# "Asked: …", as summaries begin with what was asked.
_LABEL = lazy(r"^\s*\w+: ")
# A sentence repeats what is to be forgotten when this share of its words, of at least three, is from there.
_ECHO_SHARE = 0.7
_ECHO_WORDS = 3
# In texts that may be about something else it must have more words, and rare ones among them.
_ECHO_WORDS_ELSEWHERE = 4
_ECHO_RARE = 2
SAID_WORDS = 2
"""Of a turn that is to be forgotten as a whole, sentences as short as this are looked for too."""
# A word that no more documents have tells what a text is about, and is looked for everywhere.
_RARE = 20
_RAREST = 6
_MAX_FOUND = 500
_FILES = ("files_edited", "files_read")


@dataclass(frozen=True, slots=True)
class Echo:
    """The words of what is to be forgotten."""

    words: frozenset[str]
    rare: frozenset[str] = frozenset()
    """With some, a sentence must have two of them as well: for texts that may have nothing to do with it."""
    said: frozenset[tuple[str, ...]] = frozenset()
    """Sentences of raw text that is to be forgotten, by their words."""

    def is_in(self, sentence: str) -> bool:
        """Whether a sentence repeats what is to be forgotten."""
        own = query_words(sentence)
        return self._is_told_by(own) or any(self._is_said_by(one) for one in (sentence, _LABEL.sub("", sentence)))

    def is_in_any(self, text: str) -> bool:
        """Return whether a sentence of a text repeats what is to be forgotten."""
        return self._may_be_in(text) and self.out_of(text) != text

    def is_telling(self) -> bool:
        """Return whether it has rare words enough to be looked for in texts that may be about something else."""
        return len(self.rare) >= _ECHO_RARE

    def _may_be_in(self, text: str) -> bool:
        """Return whether a text has two of the rare words at all: quick, for thousands of texts."""
        if not self.rare or self.said:
            return True
        # Identifiers are words as one too: `get_user` is found by `getuser`.
        plain = text.lower().replace("_", "").replace("-", "") if text.isascii() else query_words(text)
        return sum(word in plain for word in self.rare) >= _ECHO_RARE

    def _is_told_by(self, own: Sequence[str]) -> bool:
        if self.rare and (len(own) < _ECHO_WORDS_ELSEWHERE or sum(word in self.rare for word in own) < _ECHO_RARE):
            return False
        return len(own) >= _ECHO_WORDS and sum(word in self.words for word in own) >= _ECHO_SHARE * len(own)

    def _is_said_by(self, sentence: str) -> bool:
        own = query_words(sentence) if self.said else ()
        # A sentence may have been cut, in the middle of a word too.
        shown = tuple(own[:-1]) if sentence.rstrip().endswith("…") else tuple(own)
        return len(shown) >= SAID_WORDS and any(one[: len(shown)] == shown for one in self.said)

    def out_of(self, text: str) -> str:
        """The sentences of a text that do not repeat it."""
        sentences = [one for one in _SENTENCE_END.split(text) if one]
        left = [one for one in sentences if not self.is_in(one)]
        if len(left) == len(sentences):
            return text
        # What a semicolon joined it to is gone.
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
        """A summary without it; files that something else tells of stay, whatever they are called."""
        left: dict[str, Any] = {}
        for field in fields(SessionSummary):
            value = getattr(summary, field.name)
            if isinstance(value, str):
                left[field.name] = self.out_of(value)
            else:
                files = kept_files if field.name in _FILES else ()
                left[field.name] = tuple(item for item in value if item in files or not self.is_in(item))
        return SessionSummary(**left)


def of_memories(forgotten: Iterable[Memory]) -> Echo:
    """The words of memories that are to be forgotten."""
    return Echo(
        frozenset(
            word
            for memory in forgotten
            for word in query_words(" ".join((memory.title, memory.summary, _own_detail(memory), *memory.facts)))
        )
    )


def _own_detail(memory: Memory) -> str:
    """The detail without the work that something was said after: that is told elsewhere, and nobody's secret."""
    return "\n".join(line for line in memory.detail.split("\n") if not line.startswith(OCCASION_LEAD))


def said_in(texts: Iterable[str], least_words: int = _ECHO_WORDS) -> frozenset[tuple[str, ...]]:
    """The sentences of raw text that is to be forgotten, by their words; those of fewer words could be anybody's."""
    sentences = (query_words(sentence) for text in texts for sentence in _SENTENCE_END.split(text))
    return frozenset(tuple(words) for words in sentences if len(words) >= least_words)


def elsewhere(db: sqlite3.Connection, memory: Memory) -> tuple[Echo, list[tuple[str, str]]]:
    """The words of a memory for texts that may be about something else, and the turns and sessions, by kind and
    name, that have two of its rarest words or more."""
    asked = query_words(f"{memory.title} {memory.summary}")
    times = {
        word: fts.count_everywhere(db, word, _RARE + 1) + passages.count_with(db, word, _RARE + 1) for word in asked
    }
    rare = sorted((word for word in asked if 0 < times[word] <= _RARE), key=lambda word: times[word])
    echo = replace(of_memories([memory]), rare=frozenset(rare))
    if not echo.is_telling():
        return echo, []
    return echo, passages.with_two_of(db, rare[:_RAREST], _MAX_FOUND)
