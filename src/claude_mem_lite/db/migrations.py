"""Brings both databases up to date: functions that run once each, in order, with their own record.

They stand in `inbox_schema` and `memory_schema`; the schema changes by adding another there."""

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

from claude_mem_lite.db import inbox_schema, memory_schema
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import SchemaTooNew
from claude_mem_lite.timestamps import time_to_text

Migration = Callable[[sqlite3.Connection], None]
# Named here: the doctor of another version asks this module for them.
INBOX_MIGRATIONS: tuple[Migration, ...] = inbox_schema.STEPS
MEMORY_MIGRATIONS: tuple[Migration, ...] = memory_schema.STEPS


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], now: datetime) -> list[str]:
    """Bring a database up to date; returns the names that were run. Refuses one from a newer version."""
    connection.execute("create table if not exists migrations (name text primary key, applied_at text not null)")
    applied = applied_to(connection)
    refuse_newer(connection, migrations)
    ran = []
    for migration in migrations:
        if migration.__name__ in applied:
            continue
        with atomic(connection):
            migration(connection)
            connection.execute(
                "insert into migrations (name, applied_at) values (:name, :at)",
                {"name": migration.__name__, "at": time_to_text(now)},
            )
        ran.append(migration.__name__)
    return ran


def applied_to(connection: sqlite3.Connection) -> set[str]:
    """The names of the migrations that a database has had; none when it is no database of ours."""
    if connection.execute("select 1 from sqlite_master where name = 'migrations'").fetchone() is None:
        return set()
    return {row[0] for row in connection.execute("select name from migrations")}


def unknown_to(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> set[str]:
    """The migrations of a database that only a newer version can have made."""
    return applied_to(connection) - {migration.__name__ for migration in migrations}


def refuse_newer(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """SchemaTooNew when a newer version has written a database."""
    if unknown := unknown_to(connection, migrations):
        raise SchemaTooNew(
            f"the database was written by a newer version (it knows {', '.join(sorted(unknown))})",
            "upgrade claude-mem-lite, or go back to what was there before with `claude-mem-lite restore`",
        )
