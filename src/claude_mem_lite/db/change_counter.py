"""Change count and lineage of memory.db, in the tables `progress` and `migrations`.

The change count shows that a database lost writes or is an older copy. The lineage is the time of the first
migration, to the microsecond, and is the same in every copy of a database. Change counts are comparable only within
a lineage."""

import sqlite3
from pathlib import Path

from claude_mem_lite.db.connection import Counting, atomic, damaged
from claude_mem_lite.db.integrity import reading
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS
from claude_mem_lite.values import frozen

_FIRST = MEMORY_MIGRATIONS[0].__name__
MAX_BELIEVED = 10**12
"""Highest credible change count: a change per second for 30,000 years. Files with a higher count are rejected."""
_MOST = 2**62
"""Limit of valid counts, far above MAX_BELIEVED, so that counting on from MAX_BELIEVED stays valid."""


@frozen
class Progress:
    """Number of committed transactions, and the count after which the inbox is replayed; None means no replay."""

    done: int
    replay_after: int | None = None


def progress_of(db: sqlite3.Connection) -> Progress:
    """Return the progress of a database. Raise sqlite3.DatabaseError, as for a corrupt file, if the count is
    impossible.

    A database from before the table `progress` counts as 1 if not empty, as the migration sets it."""
    tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
    if "progress" in tables:
        row = db.execute("select done, replay_after from progress").fetchone()
        if row is None:
            raise damaged("the count of its changes is gone")
        done, after = row
        if not _is_count(done) or not (after is None or _is_count(after)):
            raise damaged("the count of its changes is none")
        return Progress(done, after)
    stored = [name for name in ("memories", "sessions") if name in tables]
    return Progress(int(any(db.execute(f"select 1 from {name} limit 1").fetchone() for name in stored)))


def put_progress(db: sqlite3.Connection, progress: Progress) -> None:
    """Set the progress of a database that replaced another database."""
    with atomic(db):
        db.execute(
            "update progress set done = :done, replay_after = :after",
            {"done": progress.done, "after": progress.replay_after},
        )


def count_of(db: sqlite3.Connection) -> int:
    """Return the change count of a connection that counts; 0 for other connections."""
    return db.done or 0 if isinstance(db, Counting) else 0


def begin(db: sqlite3.Connection) -> None:
    """Start to count transactions on a connection."""
    assert isinstance(db, Counting)
    db.done = progress_of(db).done


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < _MOST


def lineage_of(db: sqlite3.Connection) -> str:
    """Return the lineage of a database, or ''."""
    row = db.execute("select applied_at from migrations where name = :first", {"first": _FIRST}).fetchone()
    return row[0] if row is not None and isinstance(row[0], str) else ""


def of_file(path: Path) -> str:
    """Return the lineage of a database file; '' when the file has none or cannot be read."""
    try:
        with reading(path) as db:
            return lineage_of(db)
    except sqlite3.Error:
        return ""


def put_lineage(db: sqlite3.Connection, taken_over: str) -> None:
    """Assign a lineage to a database that replaced another database."""
    with atomic(db):
        db.execute(
            "update migrations set applied_at = :lineage where name = :first",
            {"lineage": taken_over, "first": _FIRST},
        )
