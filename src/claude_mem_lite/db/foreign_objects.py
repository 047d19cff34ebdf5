"""What a file holds that no database of ours does: a trigger in it would run with whatever is stored, a view or a table
could be anything."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from functools import cache

from claude_mem_lite.db.integrity import quoted
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate

# By names: how SQLite writes down a definition that was altered differs between its versions.
_ALL = """select type, name, sql like 'create virtual%' as is_virtual from sqlite_master
          where type <> 'index' and name not like 'sqlite\\_%' escape '\\'"""
Kind = tuple[str, str, bool]


def of(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Every table, view and trigger that our migrations do not make, as its type and name."""
    return [(kind, name) for kind, name, is_virtual in _objects(db) if (kind, name, is_virtual) not in _ours()]


def remove(db: sqlite3.Connection) -> int:
    """Drop them from a copy; returns how many there were."""
    found = of(db)
    for kind, name in sorted(found, key=lambda one: one[0] == "table"):  # what belongs to a table goes with it
        db.execute(f"drop {kind} if exists {quoted(name)}")
    return len(found)


@cache
def _ours() -> frozenset[Kind]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, MEMORY_MIGRATIONS, datetime.now(UTC))
        return frozenset(_objects(db))


def _objects(db: sqlite3.Connection) -> list[Kind]:
    return [(str(kind), str(name), bool(is_virtual)) for kind, name, is_virtual in db.execute(_ALL)]
