"""Which home a memory.db belongs to: told by the moment at which its first one was begun, to the microsecond, which
every copy of it has. Counts of changes can be compared only between copies of the same lineage."""

import sqlite3
from pathlib import Path

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.db.integrity import reading
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS

_FIRST = MEMORY_MIGRATIONS[0].__name__


def of(db: sqlite3.Connection) -> str:
    """The lineage of a database; '' when it has none."""
    found = db.execute("select applied_at from migrations where name = :first", {"first": _FIRST}).fetchone()
    return found[0] if found is not None and isinstance(found[0], str) else ""


def of_file(path: Path) -> str:
    """The lineage of a file; '' when it has none, or it cannot be read."""
    try:
        with reading(path) as db:
            return of(db)
    except sqlite3.Error:
        return ""


def put(db: sqlite3.Connection, taken_over: str) -> None:
    """Have a database go on as one of this lineage: after it was put in the place of another."""
    with atomic(db):
        db.execute(
            "update migrations set applied_at = :lineage where name = :first",
            {"lineage": taken_over, "first": _FIRST},
        )
