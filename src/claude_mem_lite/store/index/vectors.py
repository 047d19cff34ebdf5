"""The tables `vectors` and `sketches`: embeddings of memories and passages. Derived: the worker computes missing rows.

A sketch is a short form of a vector, a few bytes that search keeps in memory for every document to choose the vectors
to read.

Memories have even document numbers, passages have odd numbers."""

import hashlib
import json
import sqlite3
import struct
from collections.abc import Collection, Iterable, Sequence
from itertools import chain

DIMENSIONS = 256
SKETCH_BYTES = 48
"""Layout: document and scope number, 8 bytes each, then the sign of every dimension, one bit each; little-endian."""
EVERYWHERE = 0
"""Scope number of all scopes beyond one project."""
_HEAD = struct.Struct("<qq")
_AS_DIGITS = b"1" * 128 + b"0" * 128
ALL_DOCUMENTS = "select 2 * seq as document from memories union all select 2 * seq + 1 from passages"
"""SQL query for the numbers of all documents."""


def of_memory(seq: int) -> int:
    return 2 * seq


def of_passage(seq: int) -> int:
    return 2 * seq + 1


def is_passage(document: int) -> bool:
    return document % 2 == 1


def seq_of(document: int) -> int:
    return document // 2


def apart(documents: Iterable[int]) -> tuple[list[int], list[int]]:
    """Split document numbers into row numbers of memories and of passages, in order."""
    seqs: tuple[list[int], list[int]] = [], []
    for document in documents:
        seqs[is_passage(document)].append(seq_of(document))
    return seqs


def count_documents(db: sqlite3.Connection) -> int:
    (number,) = db.execute("select (select count(*) from memories) + (select count(*) from passages)").fetchone()
    return int(number)


def scope_number(scope: str) -> int:
    """Return a number that identifies a scope."""
    if not scope.startswith("project:"):
        return EVERYWHERE
    digest = hashlib.sha256(scope.encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8]) >> 1 or 1


def signs(vector: bytes) -> bytes:
    """Return one bit per dimension, set where the vector is not negative."""
    return int(vector.translate(_AS_DIGITS), 2).to_bytes(DIMENSIONS // 8)


def put(db: sqlite3.Connection, document: int, scope: str, vector: bytes, parts: Sequence[bytes] = ()) -> None:
    """Store the vector of a document, followed by the vectors of its parts, replacing former vectors.

    The sketch covers the whole document alone. Vectors of zeros carry no information and are not stored."""
    if not any(vector):
        remove(db, [document])
        return
    values = {
        "document": document,
        "vector": vector + b"".join(part for part in parts if any(part)),
        "sketch": _HEAD.pack(document, scope_number(scope)) + signs(vector),
    }
    db.execute("insert or replace into vectors (document, vector) values (:document, :vector)", values)
    db.execute("insert or replace into sketches (document, sketch) values (:document, :sketch)", values)


def set_scope(db: sqlite3.Connection, document: int, scope: str) -> None:
    """Update the scope in the sketch of a document; a document without a sketch gets one with its vector."""
    row = db.execute("select sketch from sketches where document = ?", (document,)).fetchone()
    if row is not None:
        sketch = _HEAD.pack(document, scope_number(scope)) + row["sketch"][_HEAD.size :]
        db.execute("insert or replace into sketches (document, sketch) values (?, ?)", (document, sketch))


def remove(db: sqlite3.Connection, documents: Collection[int]) -> None:
    values = {"documents": json.dumps(list(documents))}
    for table in ("vectors", "sketches"):
        db.execute(f"delete from {table} where document in (select value from json_each(:documents))", values)


def remove_orphans(db: sqlite3.Connection) -> None:
    """Remove vectors and sketches of deleted documents."""
    for table in ("vectors", "sketches"):
        db.execute(
            f"""delete from {table}
                where document in (select document from {table} except select document from ({ALL_DOCUMENTS}))"""
        )


def exact(db: sqlite3.Connection, documents: Collection[int]) -> dict[int, bytes]:
    """Return the vectors of documents: the vector of the whole, followed by the vectors of its parts."""
    rows = db.execute(
        "select document, vector from vectors where document in (select value from json_each(:documents))",
        {"documents": json.dumps(list(documents))},
    )
    return {row["document"]: row["vector"] for row in rows}


def changes(db: sqlite3.Connection, after: int, most: int) -> tuple[int, bytes]:
    """Return the sketches stored after a change number, concatenated, and the number of the last one."""
    cursor = db.cursor()
    cursor.row_factory = None  # a million rows as `Row` take twice the time
    values = {"after": after, "most": most}
    (newest,) = cursor.execute(
        "select max(change) from (select change from sketches where change > :after order by change limit :most)",
        values,
    ).fetchone()
    if newest is None:
        return after, b""
    rows = cursor.execute(
        "select sketch from sketches where change > :after and change <= :newest", {"after": after, "newest": newest}
    )
    return newest, b"".join(chain.from_iterable(rows))


def first_change(db: sqlite3.Connection) -> int | None:
    """Return the smallest change number. Numbers only grow, so all sketches with smaller numbers are gone."""
    (first,) = db.execute("select min(change) from sketches").fetchone()
    return None if first is None else int(first)


def count(db: sqlite3.Connection) -> int:
    # `vectors` is six times as large, and a count reads the complete table.
    (number,) = db.execute("select count(*) from sketches").fetchone()
    return int(number)


def clear(db: sqlite3.Connection) -> None:
    db.execute("delete from vectors")
    db.execute("delete from sketches")
