"""First seven steps of the schema of `memory.db`. A released step is never edited."""

import sqlite3


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
    # Storing first looks up the same title: without this index, filling a project to 100,000 memories took hours.
    connection.execute("create index memories_by_title on memories (scope, kind, lower(title))")
    connection.execute("""
        create table sightings (
            memory text not null,
            turn text not null,
            primary key (memory, turn)
        ) without rowid""")
    # The project is a token inside the row: filtering by the token takes 2.9 ms where a join takes 13.
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
    """Add the word index and the vectors of memories and raw text. All of the data is derived: the worker creates
    missing entries."""
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
    # A document is a memory (number 2 * seq) or a passage (number 2 * seq + 1).
    connection.execute("create table vectors (document integer primary key, vector blob not null)")
    # The change number only grows, so that a holder of sketches in memory can read the newer rows alone.
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
    """Add the changes of turns to functions and classes, the states of branches, and retirements."""
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
    """Add outcomes of injected items, conflicts between memories, and more causes of retirement."""
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
    """Add an index for hit rates, which are read on every prompt, and the estimated size of model calls."""
    connection.execute("create index receipts_by_moment on receipts (project, moment, created_at)")
    connection.execute("alter table model_calls add column estimated_in integer not null default 0")


def m007_progress(connection: sqlite3.Connection) -> None:
    """Add the number of transactions that changed this database, and the count after which the inbox is replayed."""
    connection.execute("""
        create table progress (
            id integer primary key check (id = 1),
            done integer not null,
            replay_after integer
        )""")
    connection.execute("""
        insert into progress (id, done)
        select 1, exists (select 1 from memories) or exists (select 1 from sessions)""")


FIRST_STEPS = (
    m001_memory,
    m002_model_calls,
    m003_search,
    m004_code,
    m005_knowledge,
    m006_outcomes,
    m007_progress,
)
