"""Search by meaning: the documents whose vectors are nearest to a query's, among those that fit its filters.

Sketches of all documents are held in memory, and followed as the worker puts new ones; vectors stay in the database."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from claude_mem_lite.models import Filters
from claude_mem_lite.store.index import filter_tokens, vectors

if TYPE_CHECKING:
    from claude_mem_lite.search.sign_index import Held, Sketches

# How many sketches are ranked, and how many when too few of those fit the filters: looking at one takes 3 µs, and what
# is farther than so many others means something else.
_CANDIDATES = 2_000
_MAX_CANDIDATES = 6_000
_MAX_SHARE = 0.02
_MIN_LOOKED_AT = 100
_LOADED_AT_ONCE = 16_384
_SOME_MORE = 10


class VectorIndex:
    """Safe to use from several threads. Loads on first use; numpy is imported then, not before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sketches: Sketches | None = None
        self._change = 0

    def nearest(self, db: sqlite3.Connection, vector: bytes, filters: Filters, limit: int) -> list[tuple[int, float]]:
        """The documents nearest to a vector that fit the filters, with the cosine, best first."""
        from claude_mem_lite.search import sign_index

        if not any(vector):
            return []
        held = self._up_to_date(db)
        admitted = sign_index.admitted(held, _scopes(filters), passages=filters.admits_passages())
        found: list[tuple[int, float]] = []
        looked_at: set[int] = set()
        for number in (max(_CANDIDATES, 4 * limit), max(_MAX_CANDIDATES, 12 * limit, int(_MAX_SHARE * len(held)))):
            ranked = sign_index.nearest(held, vector, admitted, number)
            left = [document for document in ranked if document not in looked_at]
            size = max(2 * limit, _MIN_LOOKED_AT)
            while left and len(found) < limit:
                found += self._first_fitting(db, filters, self.cosines(db, vector, left[:size]), limit)
                looked_at.update(left[:size])
                left, size = left[size:], 3 * size
            if len(found) >= limit or len(ranked) < number:
                break
        return sorted(found, key=_by_nearness)[:limit]

    def _first_fitting(
        self, db: sqlite3.Connection, filters: Filters, cosines: Mapping[int, float], limit: int
    ) -> list[tuple[int, float]]:
        """The nearest documents that fit the filters: which do is read of no more than it takes to find so many."""
        near = sorted(cosines.items(), key=_by_nearness)
        found: list[tuple[int, float]] = []
        while near and len(found) < limit:
            size = limit + _SOME_MORE
            fitting = _fitting(db, filters, [document for document, _ in near[:size]])
            found += [one for one in near[:size] if one[0] in fitting]
            near = near[size:]
        return found

    def cosines(self, db: sqlite3.Connection, vector: bytes, wanted: Sequence[int]) -> dict[int, float]:
        """How near each of these documents is to a vector; not those that have none yet."""
        from claude_mem_lite.search import sign_index

        found = vectors.exact(db, wanted)
        return dict(zip(found, sign_index.cosines(vector, list(found.values())), strict=True)) if found else {}

    def let_go(self) -> None:
        """Free the sketches; the next use loads them again."""
        with self._lock:
            self._sketches = None
            self._change = 0

    def _up_to_date(self, db: sqlite3.Connection) -> "Held":
        """The sketches with all that changed since the last time.

        Those of documents that were deleted stay until all are let go: without a vector they are never found."""
        with self._lock, one_moment(db):
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
        """The sketches that were put since the last time, a part at a time: twice all of them would take memory."""
        while True:
            newest, records = vectors.changes(db, self._change, _LOADED_AT_ONCE)
            if not records:
                return
            yield records
            self._change = newest


def _scopes(filters: Filters) -> list[int] | None:
    if filters.scope:
        return [vectors.scope_number(filters.scope)]
    if filters.project:
        return [vectors.scope_number(f"project:{filters.project}"), vectors.EVERYWHERE]
    return None


def _by_nearness(one: tuple[int, float]) -> tuple[float, int]:
    return -one[1], -one[0]


def _fitting(db: sqlite3.Connection, filters: Filters, candidates: Sequence[int]) -> set[int]:
    """The candidates that fit all filters."""
    of_memories, of_passages = vectors.apart(candidates)
    fitting = {vectors.of_memory(seq) for seq in filter_tokens.matching(db, filters, of_memories)}
    if of_passages:
        fitting |= {vectors.of_passage(seq) for seq in filter_tokens.matching_passages(db, filters, of_passages)}
    return fitting


@contextmanager
def one_moment(db: sqlite3.Connection) -> Iterator[None]:
    """All reads inside see the same state: sketches of before and after they were all made anew must not mix."""
    if db.in_transaction:
        yield
        return
    db.execute("begin")
    try:
        yield
    finally:
        db.execute("commit")
