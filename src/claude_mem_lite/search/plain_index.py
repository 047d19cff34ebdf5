"""Search by meaning without numpy, for the first answer of a worker, in a home of few documents."""

import math
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from operator import getitem
from struct import iter_unpack

from claude_mem_lite.embed.plain_table import PlainTable
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.vector_index import MIN_CHECKED, VectorIndex, by_nearness, fitting, scopes_of
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store.index import vectors
from claude_mem_lite.store.index.vectors import DIMENSIONS

MAX_DOCUMENTS = 2_000
"""Number of documents up to which all are candidates; of more, numpy ranks faster than it is imported."""
_BYTE = 8


def suffices(connect: Callable[[], sqlite3.Connection]) -> bool:
    """Return whether the home has few enough documents."""
    with closing(connect()) as db:
        return vectors.count(db) <= MAX_DOCUMENTS


def plain_search() -> Search:
    """Return a search that imports no numpy, for one search in a home of few documents."""
    return Search(PlainTable(), PlainIndex())


class PlainIndex(VectorIndex):
    """Vector index without a cache. Results are those of its base class, except for near ties."""

    def nearest(self, db: sqlite3.Connection, vector: bytes, filters: Filters, limit: int) -> list[tuple[int, float]]:
        left = _ranked(db, vector, filters) if any(vector) else []
        hits: list[tuple[int, float]] = []
        size = max(2 * limit, MIN_CHECKED)
        while left and len(hits) < limit:
            admitted = fitting(db, filters, left[:size])  # first: a cosine takes longer than the filters
            hits += sorted(self.cosines(db, vector, list(admitted)).items(), key=by_nearness)[:limit]
            left, size = left[size:], 3 * size
        return sorted(hits, key=by_nearness)[:limit]

    def cosines(self, db: sqlite3.Connection, vector: bytes, documents: Sequence[int]) -> dict[int, float]:
        ours = tuple(memoryview(vector).cast("b"))
        stored = vectors.exact(db, documents)
        squares = round(math.hypot(*ours) ** 2)
        return {document: _nearest_part(ours, squares, parts) for document, parts in stored.items()}


def _ranked(db: sqlite3.Connection, vector: bytes, filters: Filters) -> list[int]:
    """Return the admitted documents, best first by the product of the vector and their signs."""
    scopes, passages = scopes_of(filters), filters.admits_passages()
    _, records = vectors.changes(db, 0, MAX_DOCUMENTS)
    admitted = [
        (document, bits)
        for document, scope, bits in iter_unpack(f"<qq{DIMENSIONS // _BYTE}s", records)
        if (scopes is None or scope in scopes) and (passages or not vectors.is_passage(document))
    ]
    tables = _tables(vector)
    scores = {document: sum(map(getitem, tables, bits)) for document, bits in admitted}
    return sorted(scores, key=scores.__getitem__, reverse=True)


def _tables(vector: bytes) -> list[list[int]]:
    """Return for each eight numbers of a vector the sums over every byte of signs, the first number by the highest
    bit."""
    numbers = memoryview(vector).cast("b").tolist()
    tables = []
    for at in range(0, DIMENSIONS, _BYTE):
        sums = [0]
        for number in numbers[at : at + _BYTE]:
            sums = [sum_ + added for sum_ in sums for added in (0, number)]
        tables.append(sums)
    return tables


def _nearest_part(ours: tuple[int, ...], squares: int, parts: bytes) -> float:
    """Return the cosine to the nearest of the vectors of a document.

    Products come from distances, |a|² + |b|² - |a - b|² = 2ab: a third of the time of a sum of products."""
    near = -1.0
    for part in iter_unpack(f"{DIMENSIONS}b", parts):
        own_squares = round(math.hypot(*part) ** 2)
        product = round((squares + own_squares - math.dist(ours, part) ** 2) / 2)
        near = max(near, product / math.sqrt(squares * own_squares))
    return near
