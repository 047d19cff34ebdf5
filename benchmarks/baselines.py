"""What the product is compared with: raw exchanges cut into chunks, found by words, by vectors, or by both."""

import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.ranking import Rank, added, best_of
from benchmarks.transcripts import RawTurn
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.search.indexer import read_documents
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.search_values import Filters
from claude_mem_lite.text import index_text, query_words

CHUNK_CHARACTERS = 900
CANDIDATES = 200
# What a tool call is about, as far as one line of text can tell; never what came out of it.
_TARGETS = ("file_path", "notebook_path", "path", "command", "description", "pattern", "query", "url", "prompt")

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]


class Chunks:
    """Prompts, prose and tool targets as they are, in pieces of 900 characters."""

    def __init__(self, turns: Iterable[RawTurn]) -> None:
        self._texts: list[str] = []
        self._sessions: list[str] = []
        for turn in turns:
            for text in chunks_of(turn):
                self._texts.append(text)
                self._sessions.append(turn.session)
        self._db = sqlite3.connect(":memory:")
        self._db.execute("create virtual table chunks using fts5 (text, tokenize = 'porter unicode61')")
        self._db.executemany("insert into chunks (rowid, text) values (?, ?)", enumerate(map(index_text, self._texts)))
        self._encode: Encode = lambda _: np.zeros((0, 0), np.float32)
        self._vectors = self._encode(())

    def embed(self, encode: Encode) -> None:
        self._encode, self._vectors = encode, encode(self._texts)

    def by_words(self, *, best: bool = False) -> Rank:
        gather = best_of if best else added
        return lambda text: gather((self._sessions[row], score) for row, score in self._matches(text).items())

    def best_texts(self, text: str, number: int) -> list[str]:
        """The chunks that words find for a text, best first."""
        found = self._matches(text)
        return [self._texts[row] for row in sorted(found, key=lambda row: -found[row])[:number]]

    def by_meaning(self) -> Rank:
        return lambda text: best_of((self._sessions[row], score) for row, score in self._near(text).items())

    def fused(self, share: float) -> Rank:
        """Both, min-max per query over the best 200 of each."""

        def rank(text: str) -> list[str]:
            words = dict(sorted(self._matches(text).items(), key=lambda item: -item[1])[:CANDIDATES])
            meaning = dict(sorted(self._near(text).items(), key=lambda item: -item[1])[:CANDIDATES])
            scores = {
                row: (1 - share) * _scaled(words, row) + share * _scaled(meaning, row)
                for row in words.keys() | meaning.keys()
            }
            return added((self._sessions[row], score) for row, score in scores.items())

        return rank

    def _matches(self, text: str) -> dict[int, float]:
        match = " OR ".join(f'"{word}"' for word in query_words(text))
        return dict(self._db.execute("select rowid, -bm25(chunks) from chunks where chunks match ?", (match,)))

    def _near(self, text: str) -> dict[int, float]:
        return dict(enumerate((self._vectors @ self._encode([text])[0]).tolist()))


def static_encoder() -> Encode:
    """The table that ships with the product."""
    table = StaticTable()

    def encode(texts: Sequence[str]) -> Vectors:
        vectors = np.array([np.frombuffer(one, np.int8) for one in table.embed(texts)], np.float32)
        lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)

    return encode


def whole_model(folder: Path) -> Encode:
    """The model that the table was made from; needs what embedding/README.md asks for."""
    try:
        from embedding.model import MiniLM
    except ImportError as error:
        sys.exit(f"the whole model cannot be run: {error}; see embedding/README.md")
    return MiniLM(folder).encode


class WholeModel:
    """The whole model in the table's place, for the product's own search."""

    name = "whole model"

    def __init__(self, encode: Encode) -> None:
        self._encode = encode

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [vector.astype(np.float32).tobytes() for vector in self._encode(texts)]

    def release(self) -> None:
        pass


class WholeModelIndex(VectorIndex):
    """Every document of a home as the whole model sees it: the same texts and parts, compared one by one."""

    def __init__(self, db: sqlite3.Connection, encode: Encode) -> None:
        super().__init__()
        numbers = [row["document"] for row in db.execute("select document from vectors")]
        self._texts = [
            (number, text) for number, one in read_documents(db, numbers).items() for text in (one.text, *one.parts)
        ]
        self._vectors = encode([text for _, text in self._texts])

    def nearest(self, db: sqlite3.Connection, vector: bytes, filters: Filters, limit: int) -> list[tuple[int, float]]:  # noqa: ARG002
        near = (self._vectors @ np.frombuffer(vector, np.float32)).tolist()
        best: dict[int, float] = {}
        for (number, _), cosine in zip(self._texts, near, strict=True):
            best[number] = max(cosine, best.get(number, -1.0))
        return sorted(best.items(), key=lambda one: -one[1])[:limit]


def _scaled(scores: dict[int, float], row: int) -> float:
    low, high = min(scores.values()), max(scores.values())
    return (scores[row] - low) / (high - low) if row in scores and high > low else 0.0


def chunks_of(turn: RawTurn) -> Iterator[str]:
    """A turn as raw text, in pieces."""
    targets = [
        text for call in turn.calls for name in _TARGETS if isinstance(text := call.input.get(name), str) and text
    ]
    whole = "\n".join((turn.prompt, *turn.prose, *targets))
    for start in range(0, len(whole), CHUNK_CHARACTERS):
        yield whole[start : start + CHUNK_CHARACTERS]
