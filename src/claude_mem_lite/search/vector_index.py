"""Search by meaning: the documents with the nearest vectors among those that match the filters.

Sketches of all documents are kept in memory and updated from the database; vectors stay in the database."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from claude_mem_lite.search_values import Filters
from claude_mem_lite.store.index import filter_tokens, vectors

if TYPE_CHECKING:
    from claude_mem_lite.search.sign_index import SketchArrays, Sketches

# Number of ranked sketches, and the number when too few of them match the filters. Each takes 3 µs, and documents
# farther away than these are unrelated.
_CANDIDATES = 2_000
_MAX_CANDIDATES = 6_000
_MAX_SHARE = 0.02
MIN_CHECKED = 100
_LOADED_AT_ONCE = 16_384
_SPARE_ROWS = 10


class VectorIndex:
    """Vector index of a database. Safe to use from several threads. Loads on first use and imports numpy only then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sketches: Sketches | None = None
        self._change = 0

    def nearest(self, db: sqlite3.Connection, vector: bytes, filters: Filters, limit: int) -> list[tuple[int, float]]:
        """Return the documents nearest to a vector that match the filters, with the cosine, best first."""
        from claude_mem_lite.search import sign_index

        if not any(vector):
            return []
        held = self._up_to_date(db)
        admitted = sign_index.admitted(held, scopes_of(filters), passages=filters.admits_passages())
        hits: list[tuple[int, float]] = []
        checked: set[int] = set()
        for number in (max(_CANDIDATES, 4 * limit), max(_MAX_CANDIDATES, 12 * limit, int(_MAX_SHARE * len(held)))):
            ranked = sign_index.nearest(held, vector, admitted, number)
            left = [document for document in ranked if document not in checked]
            size = max(2 * limit, MIN_CHECKED)
            while left and len(hits) < limit:
                hits += self._first_fitting(db, filters, self.cosines(db, vector, left[:size]), limit)
                checked.update(left[:size])
                left, size = left[size:], 3 * size
            if len(hits) >= limit or len(ranked) < number:
                break
        return sorted(hits, key=by_nearness)[:limit]

    def _first_fitting(
        self, db: sqlite3.Connection, filters: Filters, cosines: Mapping[int, float], limit: int
    ) -> list[tuple[int, float]]:
        """Return the nearest documents that match the filters; filters are checked for no more documents than
        necessary."""
        near = sorted(cosines.items(), key=by_nearness)
        hits: list[tuple[int, float]] = []
        while near and len(hits) < limit:
            size = limit + _SPARE_ROWS
            admitted = fitting(db, filters, [document for document, _ in near[:size]])
            hits += [pair for pair in near[:size] if pair[0] in admitted]
            near = near[size:]
        return hits

    def cosines(self, db: sqlite3.Connection, vector: bytes, documents: Sequence[int]) -> dict[int, float]:
        """Return the cosine of each of these documents to a vector, without documents that have no vector yet."""
        from claude_mem_lite.search import sign_index

        stored = vectors.exact(db, documents)
        return dict(zip(stored, sign_index.cosines(vector, list(stored.values())), strict=True)) if stored else {}

    def load(self, db: sqlite3.Connection) -> None:
        """Load the sketches ahead of the first use."""
        self._up_to_date(db)

    def release(self) -> None:
        """Free the sketches; the next use loads them again."""
        with self._lock:
            self._sketches = None
            self._change = 0

    def _up_to_date(self, db: sqlite3.Connection) -> "SketchArrays":
        """Return the sketches, with all changes since the last call.

        Sketches of deleted documents stay until all are released: without a vector they are never returned."""
        with self._lock, snapshot(db):
            first = vectors.first_change(db)
            if first is None or first > self._change or self._sketches is None:
                self._sketches = self._load(db)
            else:
                for records in self._new(db):
                    self._sketches.put(records)
            return self._sketches.held()

    def _load(self, db: sqlite3.Connection) -> "Sketches":
        from claude_mem_lite.search.sign_index import Sketches, with_room

        self._sketches, self._change = None, 0
        loaded = Sketches(with_room(vectors.count(db)))
        for records in self._new(db):
            loaded.append(records)
        return loaded

    def _new(self, db: sqlite3.Connection) -> Iterator[bytes]:
        """Yield new sketches part by part: reading all of them at once would take twice the memory."""
        while True:
            newest, records = vectors.changes(db, self._change, _LOADED_AT_ONCE)
            if not records:
                return
            yield records
            self._change = newest


def scopes_of(filters: Filters) -> list[int] | None:
    """Return the numbers of the admitted scopes; None for all scopes."""
    if filters.scope:
        return [vectors.scope_number(filters.scope)]
    if filters.project:
        return [vectors.scope_number(f"project:{filters.project}"), vectors.EVERYWHERE]
    return None


def by_nearness(hit: tuple[int, float]) -> tuple[float, int]:
    """Return the order of a hit: the greatest cosine first, then the newest document."""
    return -hit[1], -hit[0]


def fitting(db: sqlite3.Connection, filters: Filters, candidates: Sequence[int]) -> set[int]:
    """Return the candidates that match all filters."""
    of_memories, of_passages = vectors.apart(candidates)
    found = {vectors.of_memory(seq) for seq in filter_tokens.matching(db, filters, of_memories)}
    if of_passages:
        found |= {vectors.of_passage(seq) for seq in filter_tokens.matching_passages(db, filters, of_passages)}
    return found


@contextmanager
def snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Read from one snapshot inside the block: sketches from before and after a rebuild must not mix."""
    if db.in_transaction:
        yield
        return
    db.execute("begin")
    try:
        yield
    finally:
        db.execute("commit")
