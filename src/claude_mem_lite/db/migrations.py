"""The schema of both databases, as functions that run once each, in order, with their own record.

A released function is never edited; the schema changes by adding another."""

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

from claude_mem_lite.db.connection import atomic, time_to_text
from claude_mem_lite.errors import SchemaTooNew

Migration = Callable[[sqlite3.Connection], None]


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
    """What it takes to do again what a lost memory.db had: how far that was, and what must stay forgotten."""
    # The count of memory.db when an event was worked on; before there was one, 1. It is 0 until then.
    connection.execute("alter table inbox add column work integer not null default 1")
    connection.execute("update inbox set work = 0 where status in ('raw', 'processing')")
    connection.execute("create index inbox_by_work on inbox (status, work, id) where work > 0")
    connection.execute("create table tombstones (name text primary key, forgotten_at text not null)")
    connection.execute("create table leaving (name text primary key) without rowid")


def i004_digests(connection: sqlite3.Connection) -> None:
    """Whether the same was told before: held against the payloads themselves, a burst came in at 69 events a second."""
    connection.execute("alter table inbox add column digest text not null default ''")
    connection.execute("create index inbox_by_digest on inbox (digest, name)")


def m001_memory(connection: sqlite3.Connection) -> None:
    connection.execute("""
        create table projects (
            id text primary key,
            name text not null,
            root text not null,
            first_seen_at text not null,
            last_seen_at text not null
        )""")
    connection.execute("""
        create table sessions (
            id text primary key,
            project text not null,
            cwd text not null,
            branch text not null,
            commit_id text not null,
            source text not null,
            status text not null check (status in ('active', 'completed', 'interrupted', 'failed')),
            started_at text not null,
            last_event_at text not null,
            ended_at text,
            compacted_at text not null default '',
            told_at text not null default '',
            headline text not null default '',
            request text not null default '',
            investigated text not null default '',
            learned text not null default '',
            completed text not null default '',
            next_steps text not null default '[]',
            files_read text not null default '[]',
            files_edited text not null default '[]',
            notes text not null default '',
            key_decisions text not null default '[]'
        )""")
    connection.execute("create index sessions_by_project on sessions (project, last_event_at)")
    connection.execute("""
        create table prompts (
            turn text primary key,
            session text not null,
            prompt_id text not null,
            text text not null,
            reply text not null,
            created_at text not null
        )""")
    connection.execute("create index prompts_by_session on prompts (session, created_at)")
    connection.execute("""
        create table memories (
            seq integer primary key,
            id text not null unique,
            kind text not null,
            status text not null check (status in ('active', 'superseded', 'retired', 'quarantined')),
            title text not null,
            summary text not null,
            detail text not null,
            facts text not null,
            files text not null,
            symbols text not null,
            anchors text not null,
            tags text not null,
            scope text not null,
            project text not null,
            session text not null,
            prompt text not null,
            branch text not null,
            commit_id text not null,
            origin text not null
                check (origin in ('user', 'assistant', 'code', 'command', 'web', 'mcp', 'import')),
            trust real not null,
            confidence real not null,
            times_seen integer not null,
            created_at text not null,
            last_seen_at text not null,
            stored_at text not null,
            pinned integer not null,
            superseded_by text,
            made_by text not null,
            prompt_version text not null,
            tokens_in integer not null,
            tokens_out integer not null,
            cost_usd real not null
        )""")
    connection.execute("create index memories_by_project on memories (project, status, created_at)")
    connection.execute("create index memories_by_session on memories (session)")
    connection.execute("create index memories_by_scope on memories (scope, status)")
    # Storing looks for the same title first: without this, filling a project to 100,000 memories took hours.
    connection.execute("create index memories_by_title on memories (scope, kind, lower(title))")
    connection.execute("""
        create table sightings (
            memory text not null,
            turn text not null,
            primary key (memory, turn)
        ) without rowid""")
    # The project is a token inside the row: filtering by it in the match is 2.9 ms where a join takes 13.
    connection.execute("""
        create virtual table memories_fts using fts5 (
            title, summary, facts, files, detail, project, tokenize = 'porter unicode61'
        )""")
    connection.execute("""
        create table receipts (
            spool_name text primary key,
            session text not null,
            project text not null,
            moment text not null,
            items text not null,
            layers text not null,
            layers_skipped text not null,
            tokens integer not null,
            budget integer not null,
            build_ms real not null,
            created_at text not null,
            given_at text
        )""")
    connection.execute("create index receipts_by_session on receipts (session, given_at)")
    connection.execute("create table tombstones (memory text primary key, forgotten_at text not null)")


def m002_model_calls(connection: sqlite3.Connection) -> None:
    connection.execute("""
        create table model_calls (
            id integer primary key autoincrement,
            turn text not null,
            session text not null,
            made_by text not null,
            purpose text not null check (purpose in ('turn', 'summary')),
            outcome text not null check (outcome in ('asking', 'told', 'unavailable', 'refused', 'lost')),
            tokens_in integer not null,
            tokens_out integer not null,
            cost_usd real not null,
            ms real not null default 0,
            at text not null
        )""")
    connection.execute("create index model_calls_by_time on model_calls (at)")
    connection.execute("create index model_calls_by_session on model_calls (session)")


def m003_search(connection: sqlite3.Connection) -> None:
    """Words and meaning, over memories and raw text. Everything here is derived: what is missing, the worker makes."""
    connection.execute("alter table prompts add column tasks text not null default ''")
    connection.execute("drop table memories_fts")
    connection.execute("""
        create virtual table memories_fts using fts5 (
            title, summary, facts, files, detail, marks, tokenize = 'porter unicode61 remove_diacritics 2'
        )""")
    connection.execute("""
        create table passages (
            seq integer primary key,
            id text not null unique,
            kind text not null check (kind in ('turn', 'session')),
            source text not null,
            session text not null,
            project text not null,
            created_at text not null,
            unique (kind, source)
        )""")
    connection.execute("create index passages_by_session on passages (session)")
    connection.execute("create index passages_by_project on passages (project, kind, created_at)")
    connection.execute("create index memories_by_time on memories (created_at)")
    connection.execute("""
        create virtual table passages_fts using fts5 (
            asked, answered, marks, tokenize = 'porter unicode61 remove_diacritics 2'
        )""")
    # A document is a memory (twice its seq) or a passage (twice its seq, and one).
    connection.execute("create table vectors (document integer primary key, vector blob not null)")
    # The change number only grows, so that whoever holds the sketches in memory asks for what is new.
    connection.execute("""
        create table sketches (
            change integer primary key autoincrement,
            document integer not null unique,
            sketch blob not null
        )""")
    connection.execute("create table unindexed (document integer primary key, words integer not null)")
    connection.execute("create table derived_by (part text primary key, version text not null)")
    connection.execute("insert into unindexed (document, words) select 2 * seq, 1 from memories")


def m004_code(connection: sqlite3.Connection) -> None:
    """What turns did to functions and classes, where branches stood, and which memories code retired."""
    connection.execute("""
        create table symbol_changes (
            seq integer primary key,
            turn text not null,
            session text not null,
            project text not null,
            branch text not null,
            at text not null,
            file text not null,
            name text not null,
            kind text not null,
            action text not null check (action in ('new', 'modified', 'deleted')),
            signature text not null,
            was text not null,
            before text not null,
            after text not null,
            unique (turn, file, name)
        )""")
    connection.execute("create index symbol_changes_by_session on symbol_changes (session)")
    connection.execute("""
        create table branches (
            project text not null,
            name text not null,
            tip text not null,
            ahead integer not null,
            seen_at text not null,
            merged_at text,
            gone_at text,
            primary key (project, name)
        ) without rowid""")
    connection.execute("""
        create table retirements (
            memory text primary key,
            cause text not null check (cause in ('code', 'branch')),
            branch text not null,
            reason text not null,
            at text not null
        )""")


def m005_knowledge(connection: sqlite3.Connection) -> None:
    """What was given and what came of it, what replaces or contradicts what, and more reasons to retire a memory."""
    connection.execute("""
        create table receipt_items (
            receipt text not null,
            position integer not null,
            source text not null,
            layer text not null,
            reason text not null,
            tokens integer not null,
            score real,
            outcome text check (outcome in ('used', 'ignored')),
            primary key (receipt, position)
        ) without rowid""")
    connection.execute("create index receipt_items_by_source on receipt_items (source, outcome)")
    connection.execute("""
        insert into receipt_items (receipt, position, source, layer, reason, tokens)
        select spool_name, item.key, item.value, '', '', 0 from receipts, json_each(receipts.items) as item""")
    connection.execute("alter table receipts drop column items")
    connection.execute("create index memories_by_successor on memories (superseded_by) where superseded_by is not null")
    connection.execute("""
        create table conflicts (
            memory text not null,
            other text not null,
            noted_at text not null,
            primary key (memory, other)
        ) without rowid""")
    connection.execute("alter table retirements rename to retirements_before")
    connection.execute("""
        create table retirements (
            memory text primary key,
            cause text not null check (cause in ('code', 'branch', 'taken up', 'contradicted', 'user')),
            branch text not null,
            reason text not null,
            at text not null
        )""")
    connection.execute("insert into retirements select memory, cause, branch, reason, at from retirements_before")
    connection.execute("drop table retirements_before")


def m006_outcomes(connection: sqlite3.Connection) -> None:
    """Hit rates of sources, read on every prompt, and the size of what models were sent, by our own estimate."""
    connection.execute("create index receipts_by_moment on receipts (project, moment, created_at)")
    connection.execute("alter table model_calls add column estimated_in integer not null default 0")


def m007_progress(connection: sqlite3.Connection) -> None:
    """How many transactions changed this database, and from which on the inbox is to be replayed, if at all."""
    connection.execute("""
        create table progress (
            id integer primary key check (id = 1),
            done integer not null,
            replay_after integer
        )""")
    connection.execute("""
        insert into progress (id, done)
        select 1, exists (select 1 from memories) or exists (select 1 from sessions)""")


INBOX_MIGRATIONS: tuple[Migration, ...] = (i001_inbox, i002_model_turns, i003_replay, i004_digests)
MEMORY_MIGRATIONS: tuple[Migration, ...] = (
    m001_memory,
    m002_model_calls,
    m003_search,
    m004_code,
    m005_knowledge,
    m006_outcomes,
    m007_progress,
)
