"""The table `progress` of memory.db: how far it is, by which it is seen to have lost something or to be an old one.

Which home a memory.db belongs to: told by the moment at which its first one was begun, to the microsecond, which
every copy of it has. Counts of changes can be compared only between copies of the same lineage."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.db.connection import Counting, atomic, damaged
from claude_mem_lite.db.integrity import reading
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS

MAX_BELIEVED = 10**12
"""A change a second for 30,000 years: what another file says beyond that is not gone on from."""
_MOST = 2**62
"""Far beyond, so that what goes on from the most that is believed stays sound."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How many transactions there were, and behind which one the inbox is to be replayed; None when not at all."""

    done: int
    replay_after: int | None = None


def progress_of(db: sqlite3.Connection) -> Progress:
    """How far a database is; sqlite3.DatabaseError, as of a damaged one, when what it says cannot be.

    One from before there was a count is at 1 when it holds anything, as migrating has it."""
    tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
    if "progress" in tables:
        row = db.execute("select done, replay_after from progress").fetchone()
        if row is None:
            raise damaged("the count of its changes is gone")
        done, after = row
        if not _is_count(done) or not (after is None or _is_count(after)):
            raise damaged("the count of its changes is none")
        return Progress(done, after)
    kept = [name for name in ("memories", "sessions") if name in tables]
    return Progress(int(any(db.execute(f"select 1 from {name} limit 1").fetchone() for name in kept)))


def put_progress(db: sqlite3.Connection, progress: Progress) -> None:
    """Set how far a database is: after it was put in the place of another."""
    with atomic(db):
        db.execute(
            "update progress set done = :done, replay_after = :after",
            {"done": progress.done, "after": progress.replay_after},
        )


def so_far(db: sqlite3.Connection) -> int:
    """How far a database is that is being counted; 0 when nobody counts."""
    return db.done or 0 if isinstance(db, Counting) else 0


def begin(db: sqlite3.Connection) -> None:
    """Count from now on."""
    assert isinstance(db, Counting)
    db.done = progress_of(db).done


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < _MOST


_FIRST = MEMORY_MIGRATIONS[0].__name__


def lineage_of(db: sqlite3.Connection) -> str:
    """The lineage of a database; '' when it has none."""
    found = db.execute("select applied_at from migrations where name = :first", {"first": _FIRST}).fetchone()
    return found[0] if found is not None and isinstance(found[0], str) else ""


def of_file(path: Path) -> str:
    """The lineage of a file; '' when it has none, or it cannot be read."""
    try:
        with reading(path) as db:
            return lineage_of(db)
    except sqlite3.Error:
        return ""


def put_lineage(db: sqlite3.Connection, taken_over: str) -> None:
    """Have a database go on as one of this lineage: after it was put in the place of another."""
    with atomic(db):
        db.execute(
            "update migrations set applied_at = :lineage where name = :first",
            {"lineage": taken_over, "first": _FIRST},
        )
