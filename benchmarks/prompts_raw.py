"""Raw text as memory: what was said and done in earlier sessions, in chunks of 900 characters, found by words alone.

Twice: with words as FTS5 takes them, and with names split as the product splits them, which finds more."""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.baselines import chunks_of
from benchmarks.prompts_walk import Asked
from benchmarks.transcripts import Data, RawTurn
from claude_mem_lite.text import STOPWORDS, index_text, query_words

TOP = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk by the session it is of, with its BM25 score."""

    chunk: int
    session: str
    score: float


class RawText:
    """A word index that grows session by session."""

    def __init__(self, *, is_split: bool) -> None:
        self._is_split = is_split
        self._sessions: list[str] = []
        self._db = sqlite3.connect(":memory:")
        self._db.execute("create virtual table chunks using fts5 (text, tokenize = 'porter unicode61')")

    def add(self, turns: Sequence[RawTurn]) -> None:
        for turn in turns:
            for chunk in chunks_of(turn):
                self._sessions.append(turn.session)
                row = (len(self._sessions), index_text(chunk) if self._is_split else chunk)
                self._db.execute("insert into chunks (rowid, text) values (?, ?)", row)

    def best(self, prompt: str, number: int = TOP) -> list[Found]:
        words = query_words(prompt) if self._is_split else _plain_words(prompt)
        if not words:
            return []
        rows = self._db.execute(
            """select rowid, -bm25(chunks) as score from chunks where chunks match :match
               order by score desc limit :number""",
            {"match": " OR ".join(f'"{word}"' for word in words), "number": number},
        )
        return [Found(row, self._sessions[row - 1], score) for row, score in rows]


def raw_found(data: Data, order: Sequence[str], asked: Sequence[Asked], *, is_split: bool) -> list[list[Found]]:
    """For each prompt the best chunks of the sessions before its own."""
    turns: defaultdict[str, list[RawTurn]] = defaultdict(list)
    for turn in data.turns():
        turns[turn.session].append(turn)
    index = RawText(is_split=is_split)
    added = 0
    found: dict[int, list[Found]] = {}
    for number, one in sorted(enumerate(asked), key=lambda pair: pair[1].place):
        for session in order[added : one.place]:
            index.add(turns[session])
        added = max(added, one.place)
        found[number] = index.best(one.text)
    return [found[number] for number in range(len(asked))]


def above(found: Sequence[Sequence[Found]], floor: float) -> list[list[str]]:
    """The sessions of what scores at least so much, for each prompt."""
    return [[one.session for one in chunks if one.score >= floor] for chunks in found]


def given_once(asked: Sequence[Asked], found: Sequence[Sequence[Found]], floor: float, most: int) -> list[list[str]]:
    """The same as the product would give it: no chunk twice in a session, and so many for a prompt at most."""
    told: defaultdict[str, set[int]] = defaultdict(set)
    chosen = []
    for one, chunks in zip(asked, found, strict=True):
        own = told[one.session.id]
        new = [chunk for chunk in chunks if chunk.score >= floor and chunk.chunk not in own][:most]
        own.update(chunk.chunk for chunk in new)
        chosen.append([chunk.session for chunk in new])
    return chosen


def _plain_words(prompt: str) -> list[str]:
    return [word for word in dict.fromkeys(_WORD.findall(prompt.lower())) if word not in STOPWORDS]
