"""The tables `unindexed` and `derived_by`.

`unindexed` lists documents without a current vector. Whoever changes a document adds it to the table, and the worker
computes the vector later.

`derived_by` records the version that made each part of the index. A part of another version is rebuilt."""

import json
import sqlite3
from collections.abc import Collection
from typing import Literal

from claude_mem_lite.store.index import vectors
from claude_mem_lite.store.index.vectors import ALL_DOCUMENTS

Part = Literal["words", "vectors"]


def note(db: sqlite3.Connection, document: int) -> None:
    """Queue a document that is new or changed; its words are in the index already."""
    db.execute("insert or replace into unindexed (document, words) values (?, 0)", (document,))


def drop(db: sqlite3.Connection, document: int) -> None:
    """Remove a deleted document from the queue, with its vectors."""
    done(db, [document])
    vectors.remove(db, [document])


def waiting(db: sqlite3.Connection, limit: int, *, words_only: bool = False) -> list[tuple[int, bool]]:
    """Return queued documents, newest first, each with a flag for words that must be indexed as well."""
    rows = db.execute(
        "select document, words from unindexed where words >= :least order by document desc limit :limit",
        {"least": int(words_only), "limit": limit},
    )
    return [(row["document"], bool(row["words"])) for row in rows]


def done(db: sqlite3.Connection, documents: Collection[int]) -> None:
    db.execute(
        "delete from unindexed where document in (select value from json_each(:documents))",
        {"documents": json.dumps(list(documents))},
    )


def words_done(db: sqlite3.Connection, documents: Collection[int]) -> None:
    """Record that the words of documents are indexed; their vectors are still missing."""
    db.execute(
        "update unindexed set words = 0 where document in (select value from json_each(:documents))",
        {"documents": json.dumps(list(documents))},
    )


def all_again(db: sqlite3.Connection, *, words: bool) -> None:
    """Queue every document: for a new vector, and for its words too if `words` is set."""
    db.execute(
        f"""insert into unindexed (document, words)
           select document, :words from ({ALL_DOCUMENTS}) where true
           on conflict (document) do update set words = max(words, excluded.words)""",
        {"words": int(words)},
    )


def count(db: sqlite3.Connection, *, words_only: bool = False) -> int:
    (number,) = db.execute("select count(*) from unindexed where words >= ?", (int(words_only),)).fetchone()
    return int(number)


def version_of(db: sqlite3.Connection, part: Part) -> str:
    """Return the version that made a part of the index; '' if none did."""
    row = db.execute("select version from derived_by where part = ?", (part,)).fetchone()
    return "" if row is None else str(row["version"])


def set_version(db: sqlite3.Connection, part: Part, version: str) -> None:
    db.execute(
        "insert or replace into derived_by (part, version) values (:part, :version)",
        {"part": part, "version": version},
    )
