"""The table `unindexed`: documents whose vector has to be made, or made anew. Who changes a document notes it here,
and the worker makes it when it has time.

The table `derived_by`: which version made which part of the index. Another one has that part made anew."""

import json
import sqlite3
from collections.abc import Collection
from typing import Literal

from claude_mem_lite.store.index import vectors
from claude_mem_lite.store.index.vectors import ALL_DOCUMENTS


def note(db: sqlite3.Connection, document: int) -> None:
    """A document is new or says something else; its words are in the index already."""
    db.execute("insert or replace into unindexed (document, words) values (?, 0)", (document,))


def drop(db: sqlite3.Connection, document: int) -> None:
    """A document is gone, and all that was derived from its meaning with it."""
    done(db, [document])
    vectors.remove(db, [document])


def waiting(db: sqlite3.Connection, limit: int, *, words_only: bool = False) -> list[tuple[int, bool]]:
    """Documents to be worked on, newest first, and whether their words are to be indexed as well."""
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
    """Their vectors are still to be made."""
    db.execute(
        "update unindexed set words = 0 where document in (select value from json_each(:documents))",
        {"documents": json.dumps(list(documents))},
    )


def all_again(db: sqlite3.Connection, *, words: bool) -> None:
    """Have every document worked on again: its vector made anew, and its words too if asked for."""
    db.execute(
        f"""insert into unindexed (document, words)
           select document, :words from ({ALL_DOCUMENTS}) where true
           on conflict (document) do update set words = max(words, excluded.words)""",
        {"words": int(words)},
    )


def count(db: sqlite3.Connection, *, words_only: bool = False) -> int:
    (number,) = db.execute("select count(*) from unindexed where words >= ?", (int(words_only),)).fetchone()
    return int(number)


Part = Literal["words", "vectors"]


def version_of(db: sqlite3.Connection, part: Part) -> str:
    """What a part of the index was made by; '' when it never was."""
    row = db.execute("select version from derived_by where part = ?", (part,)).fetchone()
    return "" if row is None else str(row["version"])


def set_version(db: sqlite3.Connection, part: Part, version: str) -> None:
    db.execute(
        "insert or replace into derived_by (part, version) values (:part, :version)",
        {"part": part, "version": version},
    )
