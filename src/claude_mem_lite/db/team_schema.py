"""Step of the schema of `memory.db` for team memory: log, heads and cursors of the team protocol, and the triggers that
mark changed memories. A later step that rebuilds `memories` must drop and create these triggers again."""

import sqlite3

_CONTENT = (
    "kind",
    "status",
    "title",
    "summary",
    "facts",
    "files",
    "symbols",
    "anchors",
    "tags",
    "scope",
    "project",
    "branch",
    "commit_id",
    "origin",
    "superseded_by",
)
"""Columns of a memory that decide whether and how the memory is shared."""
_LASTING = ("made_by", "confidence", "pinned")
"""Columns that decide whether a statement of the user is lasting."""


def m021_team(connection: sqlite3.Connection) -> None:
    """Add the tables of team memory, and triggers that mark memories of shared projects in the transaction that changes
    them. Without a team the triggers look into two empty tables."""
    _add_tables(connection)
    _add_triggers(connection)


def m022_team_id(connection: sqlite3.Connection) -> None:
    """Add the id of the team that this home has joined; '' for a home that joined before."""
    connection.execute("alter table team_device add column team text not null default ''")


def m023_team_remarks(connection: sqlite3.Connection) -> None:
    """Add a trigger that marks statements of the user when they become lasting, and mark all of them: remarks made once
    are no longer shared."""
    changed = " or ".join(f"old.{name} is not new.{name}" for name in _LASTING)
    connection.execute(f"""
        create trigger team_memory_confirmed after update of {", ".join(_LASTING)} on memories
        when new.origin = 'user' and ({changed}) and {_is_shared("new")}
        begin
            insert or ignore into team_dirty (memory) values (new.id);
        end""")
    connection.execute(f"""
        insert or ignore into team_dirty (memory)
        select memories.id from memories where memories.origin = 'user' and {_is_shared("memories")}""")


def m024_own_titles(connection: sqlite3.Connection) -> None:
    """Add an index of the titles of own memories: a received memory is compared with these, among any number of
    received ones."""
    connection.execute("create index memories_of_own on memories (scope, kind, lower(title)) where origin <> 'team'")


def _add_tables(connection: sqlite3.Connection) -> None:
    connection.execute("""
        create table team_device (
            one integer primary key check (one = 1),
            id text not null,
            author text not null,
            token text not null,
            next_token text not null default '',
            joined_at text not null
        )""")
    connection.execute("""
        create table team_shares (
            project text primary key,
            remote text not null,
            key text not null unique,
            handoffs integer not null,
            shared_at text not null
        )""")
    connection.execute("""
        create table team_choices (
            memory text primary key,
            choice text not null check (choice in ('share', 'keep'))
        ) without rowid""")
    connection.execute("create table team_dirty (memory text primary key)")
    # With row numbers: entries are sent in the order in which they were written, over all projects.
    connection.execute("""
        create table team_log (
            project text not null,
            device text not null,
            seq integer not null,
            uid text not null,
            rev integer not null,
            op text not null check (op in ('put', 'delete')),
            body text,
            hash text not null,
            at text not null,
            memory text not null,
            state text not null check (state in ('pending', 'sent', 'parked')),
            reason text not null default '',
            primary key (project, device, seq)
        )""")
    connection.execute("create index team_log_by_uid on team_log (uid, rev)")
    connection.execute("create index team_log_waiting on team_log (state) where state <> 'sent'")
    connection.execute("""
        create table team_cursors (
            project text not null,
            device text not null,
            seq integer not null,
            primary key (project, device)
        ) without rowid""")
    connection.execute("""
        create table team_heads (
            uid text primary key,
            project text not null,
            device text not null,
            seq integer not null,
            rev integer not null,
            op text not null check (op in ('put', 'delete')),
            hash text not null,
            body text,
            author text not null,
            at text not null,
            version integer not null,
            memory text not null,
            state text not null check (
                state in ('own', 'applied', 'duplicate', 'forgotten', 'edited', 'parked', 'deleted')
            ),
            reason text not null default ''
        )""")
    connection.execute("create index team_heads_by_memory on team_heads (memory)")
    connection.execute("create index team_heads_parked on team_heads (state) where state = 'parked'")
    connection.execute("""
        create table team_history (
            project text not null,
            device text not null,
            seq integer not null,
            uid text not null,
            rev integer not null,
            op text not null,
            body text,
            author text not null,
            at text not null,
            primary key (project, device, seq)
        )""")
    connection.execute("create index team_history_by_uid on team_history (uid)")


def _add_triggers(connection: sqlite3.Connection) -> None:
    changed = " or ".join(f"old.{name} is not new.{name}" for name in _CONTENT)
    connection.execute(f"""
        create trigger team_memory_added after insert on memories when {_is_shared("new")}
        begin
            insert or ignore into team_dirty (memory) values (new.id);
        end""")
    connection.execute(f"""
        create trigger team_memory_changed after update of {", ".join(_CONTENT)} on memories
        when ({changed}) and ({_is_shared("new")} or {_is_shared("old")} or {_is_known("old.id")})
        begin
            insert or ignore into team_dirty (memory) values (new.id);
        end""")
    # The text of a forgotten memory leaves the log with the memory, whenever the next synchronisation may be.
    of_memory = "uid in (select uid from team_heads where memory = old.id)"
    connection.execute(f"""
        create trigger team_memory_removed after delete on memories
        when {_is_shared("old")} or {_is_known("old.id")}
        begin
            insert or ignore into team_dirty (memory) values (old.id);
            update team_log set body = null where {of_memory};
            update team_history set body = null where {of_memory};
            update team_heads set body = null where memory = old.id;
        end""")
    connection.execute(f"""
        create trigger team_memory_retired after insert on retirements when {_is_known("new.memory")}
        begin
            insert or ignore into team_dirty (memory) values (new.memory);
        end""")


def _is_shared(row: str) -> str:
    return f"""exists (select 1 from team_shares
        where project = {row}.project or {row}.scope = 'project:' || project)"""


def _is_known(memory: str) -> str:
    return f"exists (select 1 from team_heads where team_heads.memory = {memory})"
