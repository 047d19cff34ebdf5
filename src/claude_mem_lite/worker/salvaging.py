"""What can still be read of a damaged inbox.db, or one of another version, goes into a new one."""

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.db.soundness import reading

_KEYS = {"inbox": "id", "model_turns": "id", "tombstones": "rowid", "leaving": ""}
Values = tuple[object, ...]
log = logging.getLogger(__name__)


def salvage(damaged: Path, new: Path, now: datetime) -> int:
    """Make a new inbox of the rows that can be read; returns how many events they are."""
    saved = 0
    with closing(open_for_writing(new)) as db:
        migrate(db, INBOX_MIGRATIONS, now)
        for table, key in _KEYS.items():
            known = [row["name"] for row in db.execute(f"pragma table_info({table})")]
            with suppress(sqlite3.DatabaseError), reading(damaged) as old:
                there = [row["name"] for row in old.execute(f"pragma table_info({table})")]
                columns = [name for name in known if name in there]
                if columns:
                    count = _copy(db, table, columns, _rows(old, table, key, columns))
                    saved += count if table == "inbox" else 0
    return saved


def _copy(db: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterator[Values]) -> int:
    marks = ", ".join("?" for _ in columns)
    count = 0
    with atomic(db):
        for row in rows:
            with suppress(sqlite3.IntegrityError, sqlite3.InterfaceError):  # a damaged row may hold anything
                db.execute(f"insert or ignore into {table} ({', '.join(columns)}) values ({marks})", row)
                count += 1
    return count


def _rows(db: sqlite3.Connection, table: str, key: str, columns: Sequence[str]) -> Iterator[Values]:
    """The rows of a table that can be read: at once, else one by one around those that cannot."""
    wanted = ", ".join(columns)
    last = 0
    try:
        if not key:
            for row in db.execute(f"select {wanted} from {table}"):
                yield tuple(row)
            return
        for row in db.execute(f"select {key}, {wanted} from {table} order by {key}"):
            last = row[0]
            yield tuple(row)[1:]
    except sqlite3.DatabaseError:
        log.exception("rows of a damaged table are read one by one", extra={"table": table})
        for number in range(last + 1, _highest(db, table, key) + 1) if key else ():
            with suppress(sqlite3.DatabaseError):
                row = db.execute(f"select {wanted} from {table} where {key} = ?", (number,)).fetchone()
                if row is not None:
                    yield tuple(row)


def _highest(db: sqlite3.Connection, table: str, key: str) -> int:
    for question in (
        f"select max({key}) from {table}",
        f"select max(seq) from sqlite_sequence where name = '{table}'",
    ):
        with suppress(sqlite3.DatabaseError):
            found = db.execute(question).fetchone()[0]
            if isinstance(found, int):
                return found
    return 0
