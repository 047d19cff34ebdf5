"""Migrations of both databases: functions that run once each, in order, and are recorded in the table `migrations`.

A schema change of `inbox.db` adds a function here, and of `memory.db` in `memory_schema`."""

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

from claude_mem_lite.db import memory_schema
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import SchemaTooNew
from claude_mem_lite.timestamps import time_to_text

Migration = Callable[[sqlite3.Connection], None]


def i001_inbox(connection: sqlite3.Connection) -> None:
    connection.execute("""
        create table inbox (
            id integer primary key autoincrement,
            name text not null unique,
            event text not null,
            session text not null,
            turn text not null default '',
            payload text not null,
            raw_bytes integer not null,
            status text not null default 'raw'
                check (status in ('raw', 'processing', 'done', 'error', 'skipped')),
            reason text not null default '',
            attempts integer not null default 0,
            lease_until real not null default 0,
            available_at real not null default 0,
            received_at real not null,
            finished_at real
        )""")
    connection.execute("create index inbox_by_status on inbox (status, session, id)")
    connection.execute("create index inbox_by_turn on inbox (turn)")


def i002_model_turns(connection: sqlite3.Connection) -> None:
    connection.execute("""
        create table model_turns (
            id integer primary key autoincrement,
            turn text not null unique,
            session text not null,
            state text not null check (state in ('wanted', 'asking', 'waiting', 'done', 'failed', 'dropped')),
            reason text not null default '',
            attempts integer not null default 0,
            redone integer not null default 0,
            available_at real not null default 0,
            created_at real not null,
            finished_at real
        )""")
    connection.execute("create index model_turns_by_state on model_turns (state, session, id)")


def i003_replay(connection: sqlite3.Connection) -> None:
    """Add what a replay into a lost memory.db needs: the progress of each event, and the tombstones."""
    # Change count of memory.db when the event was processed: 0 before processing, 1 for events from before the count.
    connection.execute("alter table inbox add column work integer not null default 1")
    connection.execute("update inbox set work = 0 where status in ('raw', 'processing')")
    connection.execute("create index inbox_by_work on inbox (status, work, id) where work > 0")
    connection.execute("create table tombstones (name text primary key, forgotten_at text not null)")
    connection.execute("create table leaving (name text primary key) without rowid")


def i004_digests(connection: sqlite3.Connection) -> None:
    """Add digests for the detection of duplicates: with comparisons of payloads, a burst came in at 69 events a
    second."""
    connection.execute("alter table inbox add column digest text not null default ''")
    connection.execute("create index inbox_by_digest on inbox (digest, name)")


def i005_findings(connection: sqlite3.Connection) -> None:
    """Keep what an event found on the disk at first processing: at a replay the disk has changed."""
    connection.execute("alter table inbox add column found text not null default ''")


# The doctor of another version reads these names from this module. A released step is never edited.
INBOX_MIGRATIONS: tuple[Migration, ...] = (i001_inbox, i002_model_turns, i003_replay, i004_digests, i005_findings)
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
