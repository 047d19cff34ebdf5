"""The names of what was forgotten, kept in `inbox.db` as well: they outlive a memory.db that is lost.

Owns the tables `tombstones`, the copy of those in memory.db, and `leaving`, what is still to leave the backups."""

import sqlite3
from collections.abc import Iterable

from claude_mem_lite.db import tombstone_merge
from claude_mem_lite.db.connection import atomic


def add(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> None:
    """Nothing by these names may come back; each with when it was forgotten."""
    with atomic(db):
        tombstone_merge.merge(db, "name", names)


def bury(db: sqlite3.Connection, names: Iterable[tuple[str, str]], leaving: Iterable[str]) -> None:
    """Keep the names of what was forgotten, and which are to leave the backups."""
    known = list(names)
    with atomic(db):
        tombstone_merge.drop_marks(db, "name", [name for name, _ in known])
        tombstone_merge.merge(db, "name", known)
    note_leaving(db, leaving)


def all_of(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in db.execute("select name, forgotten_at from tombstones order by rowid")]


def names(db: sqlite3.Connection) -> bytes:
    """See `store.tombstones.names`."""
    row = db.execute(
        "select cast(group_concat(name, char(10)) as blob) from (select name from tombstones order by name)"
    ).fetchone()
    return bytes(row[0] or b"")


def note_leaving(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """What has these names is to leave the backups."""
    with atomic(db):
        db.executemany("insert or ignore into leaving (name) values (?)", [(name,) for name in names])


def leaving(db: sqlite3.Connection) -> list[str]:
    return [row[0] for row in db.execute("select name from leaving")]


def note_left(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """It has left them."""
    with atomic(db):
        db.executemany("delete from leaving where name = ?", [(name,) for name in names])
