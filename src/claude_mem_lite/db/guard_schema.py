"""Step of the schema of `memory.db` for guards: guards, their replays and their ledger, and the triggers that keep them
beside the memories they were made from. A later step that rebuilds `memories` must drop and create these triggers
again."""

import sqlite3

_CONTENT = ("kind", "status", "title", "summary", "scope", "project", "origin", "made_by", "trust")
"""Columns of a memory that decide whether and which guard is made from the memory."""


def m025_guards(connection: sqlite3.Connection) -> None:
    """Add guards. Triggers mark the memories of the user that were changed, in the transaction that changes them, and
    remove the text of a forgotten memory from its guard at once."""
    _add_tables(connection)
    _add_triggers(connection)
    connection.execute("insert into guard_memories_due (memory) select id from memories where origin = 'user'")


def _add_tables(connection: sqlite3.Connection) -> None:
    connection.execute("""
        create table guards (
            id text primary key,
            project text not null,
            rule text not null,
            reason text not null,
            instead text not null,
            mode text not null check (mode in ('auto', 'remind', 'ask', 'deny')),
            status text not null
                check (status in ('proposed', 'doubtful', 'active', 'paused', 'dismissed', 'removed')),
            fires_tool text not null,
            fires_text text not null,
            passes_tool text not null,
            passes_text text not null,
            memory text not null default '',
            created_at text not null,
            accepted_at text not null default '',
            changed_at text not null,
            note text not null default '',
            is_announced integer not null default 1
        )""")
    connection.execute("create index guards_by_project on guards (project, status)")
    connection.execute("create index guards_by_memory on guards (memory) where memory <> ''")
    connection.execute("create table guard_memories_due (memory text primary key) without rowid")
    connection.execute("""
        create table guard_replays (
            guard text primary key,
            at text not null,
            calls integer not null,
            sessions integer not null,
            since text not null,
            until text not null,
            is_whole integer not null
        )""")
    connection.execute("""
        create table guard_matches (
            guard text not null,
            position integer not null,
            session text not null,
            turn text not null,
            at text not null,
            tool text not null,
            text text not null,
            matched text not null,
            outcome text not null check (outcome in ('ran', 'refused', 'unknown')),
            is_corrected integer not null,
            primary key (guard, position)
        ) without rowid""")
    connection.execute("create index guard_matches_by_session on guard_matches (session)")
    connection.execute("""
        create table guard_firings (
            name text primary key,
            guard text not null,
            session text not null,
            turn text not null,
            tool_use text not null,
            tool text not null,
            decision text not null check (decision in ('remind', 'ask', 'deny')),
            at text not null,
            ms real not null,
            outcome text not null
                check (outcome in ('open', 'followed', 'overridden', 'got_round', 'false', 'unknown')),
            text text not null default ''
        )""")
    connection.execute("create index guard_firings_by_guard on guard_firings (guard, at)")
    connection.execute("create index guard_firings_by_session on guard_firings (session, outcome)")
    connection.execute("""
        create table guard_failures (
            name text primary key,
            guard text not null,
            at text not null,
            reason text not null
        )""")
    # Sessions with an occasion: a call that the guard matches, or its alternative.
    connection.execute("""
        create table guard_sessions (
            guard text not null,
            session text not null,
            source text not null check (source in ('replay', 'ledger')),
            at text not null,
            violations integer not null,
            primary key (guard, session, source)
        ) without rowid""")


def _add_triggers(connection: sqlite3.Connection) -> None:
    changed = " or ".join(f"old.{name} is not new.{name}" for name in _CONTENT)
    connection.execute("""
        create trigger guard_memory_added after insert on memories when new.origin = 'user'
        begin
            insert or ignore into guard_memories_due (memory) values (new.id);
        end""")
    connection.execute(f"""
        create trigger guard_memory_changed after update of {", ".join(_CONTENT)} on memories
        when ({changed}) and (new.origin = 'user' or old.origin = 'user')
        begin
            insert or ignore into guard_memories_due (memory) values (new.id);
        end""")
    # The text of a forgotten memory leaves the guard with the memory; the firings hold commands that quote it.
    of_memory = "(select id from guards where memory = old.id)"
    connection.execute(f"""
        create trigger guard_memory_removed after delete on memories
        when exists (select 1 from guards where memory = old.id)
        begin
            delete from guard_replays where guard in {of_memory};
            delete from guard_matches where guard in {of_memory};
            delete from guard_firings where guard in {of_memory};
            delete from guard_failures where guard in {of_memory};
            delete from guard_sessions where guard in {of_memory};
            delete from guards where memory = old.id;
        end""")
