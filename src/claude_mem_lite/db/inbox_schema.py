"""Schema of `inbox.db`, step by step. A released step is never edited; `migrations` runs the steps."""

import sqlite3


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


STEPS = (
    i001_inbox,
    i002_model_turns,
    i003_replay,
    i004_digests,
    i005_findings,
)
