"""Migrations of both databases: functions that run once each, in order, and are recorded in the table `migrations`.

The functions are in `inbox_schema` and `memory_schema`; a schema change adds a function to one of the modules."""

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

from claude_mem_lite.db import inbox_schema, memory_schema
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import SchemaTooNew
from claude_mem_lite.timestamps import time_to_text

Migration = Callable[[sqlite3.Connection], None]
# The doctor of another version reads these names from this module.
INBOX_MIGRATIONS: tuple[Migration, ...] = inbox_schema.STEPS
MEMORY_MIGRATIONS: tuple[Migration, ...] = memory_schema.STEPS


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration], now: datetime) -> list[str]:
    """Bring a database up to date and return the names of the applied migrations. Refuse a database of a newer
    version."""
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
    """Return the names of the migrations that a database has had; none for a foreign database."""
    if connection.execute("select 1 from sqlite_master where name = 'migrations'").fetchone() is None:
        return set()
    return {row[0] for row in connection.execute("select name from migrations")}


def unknown_to(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> set[str]:
    """Return the migrations of a database that only a newer version can have applied."""
    return applied_to(connection) - {migration.__name__ for migration in migrations}


def refuse_newer(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Raise SchemaTooNew if a newer version has written a database."""
    if unknown := unknown_to(connection, migrations):
        raise SchemaTooNew(
            f"the database was written by a newer version (it knows {', '.join(sorted(unknown))})",
            "upgrade claude-mem-lite, or go back to what was there before with `claude-mem-lite restore`",
        )
