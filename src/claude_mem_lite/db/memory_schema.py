"""Schema of `memory.db`, step by step. A released step is never edited; `migrations` runs the steps."""

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


def m008_renames(connection: sqlite3.Connection) -> None:
    """Add the later names of functions that memories mention, as scans found them, and an index of changes by file."""
    connection.execute("""
        create table renames (
            memory text not null,
            file text not null,
            was text not null,
            name text not null,
            primary key (memory, file, was, name)
        ) without rowid""")
    connection.execute("create index symbol_changes_by_file on symbol_changes (project, file)")


def m009_order(connection: sqlite3.Connection) -> None:
    """Add indexes in the order of the queries: sorting out the best 60 of 10,000 memories for every context took 15
    ms instead of one."""
    connection.execute("drop index if exists memories_by_scope")
    connection.execute("""
        create index memories_by_scope on memories (
            scope, status, pinned desc, origin = 'user' desc, confidence desc, last_seen_at desc, seq,
            kind, origin, stored_at, branch, created_at
        )""")
    connection.execute("create index memories_by_branch on memories (project, branch, created_at)")
    connection.execute("create index sightings_by_turn on sightings (turn)")


def m010_project_marks(connection: sqlite3.Connection) -> None:
    """Add the marks that identify a project, and the project changes that can be undone.

    Former project ids were remotes or paths, and the folders are the working folders of sessions. If two projects
    claim a folder, the project whose id is the folder wins, then the project last seen in the folder."""
    connection.execute("""
        create table project_marks (
            kind text not null check (kind in ('remote', 'root_commit', 'path', 'former_path')),
            value text not null,
            project text not null,
            last_seen_at text not null,
            primary key (kind, value, project)
        ) without rowid""")
    connection.execute("create index project_marks_by_project on project_marks (project, kind)")
    connection.execute("""
        create table project_changes (
            seq integer primary key,
            id text not null unique,
            kind text not null check (kind in ('merge', 'rename', 'move', 'join')),
            source text not null,
            target text not null,
            detail text not null,
            at text not null,
            undone_at text
        )""")
    connection.execute("""
        create table project_change_rows (
            change text not null,
            place text not null,
            key text not null,
            project text not null,
            primary key (change, place, key)
        ) without rowid""")
    known = "select id from projects union select project from sessions"
    for row in connection.execute(f"""
            select project, min(created_at), max(last_seen_at) from memories
            where project <> '' and project not in ({known}) group by project""").fetchall():
        id_, first, last = tuple(row)  # statements of the user kept nothing but the id
        root = id_ if id_.startswith("/") else ""
        name = id_.rstrip("/").rpartition("/")[2] or id_
        connection.execute("insert into projects values (?, ?, ?, ?, ?)", (id_, name, root, first, last))
    connection.execute("""
        insert into project_marks (kind, value, project, last_seen_at)
        select case when substr(id, 1, 1) = '/' then 'path' else 'remote' end, id, id, last_seen_at from projects
        where root <> ''""")
    for folders in (
        "select root as value, id as project, last_seen_at as at from projects where root <> ''",
        """select cwd as value, project, max(last_event_at) as at from sessions
           where cwd like '/%' group by cwd, project""",
    ):
        connection.execute(f"""
            insert or ignore into project_marks (kind, value, project, last_seen_at)
            select 'path', value, project, at from ({folders}) as folders
            where not exists (select 1 from project_marks as known where kind = 'path' and known.value = folders.value)
              and at = (select max(at) from ({folders}) as others where others.value = folders.value)
              and exists (select 1 from projects where id = project)""")


def m011_pauses(connection: sqlite3.Connection) -> None:
    """Add the periods in which memory was off or folders were excluded: backups do not contain the files of the
    home."""
    connection.execute("""
        create table pauses (
            name text primary key,
            glob text not null,
            first_ns integer not null,
            last_ns integer not null,
            is_over integer not null
        ) without rowid""")


def m012_unknown_outcomes(connection: sqlite3.Connection) -> None:
    """Add a third outcome. Earlier outcomes become unknown: fewer than half of the items marked as used had been.
    Outcomes of fixes stay, because the passed command proves them."""
    connection.execute("alter table receipt_items rename to receipt_items_before")
    connection.execute("drop index receipt_items_by_source")
    connection.execute("""
        create table receipt_items (
            receipt text not null,
            position integer not null,
            source text not null,
            layer text not null,
            reason text not null,
            tokens integer not null,
            score real,
            outcome text check (outcome in ('used', 'ignored', 'unknown')),
            primary key (receipt, position)
        ) without rowid""")
    connection.execute("""
        insert into receipt_items (receipt, position, source, layer, reason, tokens, score, outcome)
        select receipt, position, source, layer, reason, items.tokens, score,
          case when outcome is null or moment = 'failure' then outcome else 'unknown' end
        from receipt_items_before as items left join receipts on spool_name = receipt""")
    connection.execute("drop table receipt_items_before")
    connection.execute("create index receipt_items_by_source on receipt_items (source, outcome)")


def m013_git_folders(connection: sqlite3.Connection) -> None:
    """Add a mark that identifies a repository after its history was rewritten, and the change kind `split`."""
    connection.execute("drop index project_marks_by_project")
    connection.execute("alter table project_marks rename to project_marks_before")
    connection.execute("""
        create table project_marks (
            kind text not null check (kind in ('remote', 'root_commit', 'path', 'former_path', 'git_folder')),
            value text not null,
            project text not null,
            last_seen_at text not null,
            primary key (kind, value, project)
        ) without rowid""")
    connection.execute("create index project_marks_by_project on project_marks (project, kind)")
    connection.execute("insert into project_marks select kind, value, project, last_seen_at from project_marks_before")
    connection.execute("drop table project_marks_before")
    connection.execute("alter table project_changes rename to project_changes_before")
    connection.execute("""
        create table project_changes (
            seq integer primary key,
            id text not null unique,
            kind text not null check (kind in ('merge', 'rename', 'move', 'join', 'split')),
            source text not null,
            target text not null,
            detail text not null,
            at text not null,
            undone_at text
        )""")
    connection.execute("""
        insert into project_changes select seq, id, kind, source, target, detail, at, undone_at
        from project_changes_before""")
    connection.execute("drop table project_changes_before")


def m014_recorded_folders(connection: sqlite3.Connection) -> None:
    """Add the folder in which sessions and statements of the user were recorded: a project may have several folders,
    and be split."""
    for table in ("sessions", "memories"):
        connection.execute(f"alter table {table} add column folder text not null default ''")
        connection.execute(f"alter table {table} add column git_folder text not null default ''")


def m015_turn_logs(connection: sqlite3.Connection) -> None:
    """Keep the edits and commands of a turn: search finds them even where the turn left no memory."""
    connection.execute("alter table prompts add column log text not null default ''")


def m017_composers(connection: sqlite3.Connection) -> None:
    """Add the composer version of a turn's memories and the state of a rebuild: skipped turns, unfinished summaries,
    and a cause of retirement."""
    connection.execute("alter table prompts add column composer integer not null default 0")
    connection.execute("alter table prompts add column left_by integer not null default 0")
    connection.execute("create index prompts_by_composer on prompts (composer, created_at)")
    connection.execute("""
        create table rebuilt_summaries (
            session text primary key,
            turn text not null,
            summary text not null
        )""")
    connection.execute("alter table retirements rename to retirements_before")
    connection.execute("""
        create table retirements (
            memory text primary key,
            cause text not null check (cause in ('code', 'branch', 'taken up', 'contradicted', 'user', 'rebuilt')),
            branch text not null,
            reason text not null,
            at text not null
        )""")
    connection.execute("insert into retirements select memory, cause, branch, reason, at from retirements_before")
    connection.execute("drop table retirements_before")


def m018_headline_worth(connection: sqlite3.Connection) -> None:
    """Keep the worth of the memory behind the headline of a session: a memory of less worth must not replace the
    headline."""
    connection.execute("alter table sessions add column headline_worth real not null default 0")


def m019_lesson_candidates(connection: sqlite3.Connection) -> None:
    """Add sentences of prompts that may be lessons, kept until somebody judges or repeats them."""
    connection.execute("""
        create table lesson_candidates (
            id text primary key,
            project text not null,
            session text not null,
            turn text not null,
            sentence text not null,
            wording text not null,
            after_message text not null,
            probability real not null,
            state text not null check (state in ('unsure', 'asked', 'promoted', 'accepted', 'dismissed')),
            created_at text not null,
            asked_at text,
            decided_at text,
            memory text not null default ''
        ) without rowid""")
    connection.execute("create index lesson_candidates_by_project on lesson_candidates (project, state, created_at)")
    connection.execute("create index lesson_candidates_by_session on lesson_candidates (session, asked_at)")
    connection.execute("create index lesson_candidates_by_turn on lesson_candidates (turn)")
    connection.execute("create index lesson_candidates_by_wording on lesson_candidates (wording)")
    connection.execute("create index lesson_candidates_by_memory on lesson_candidates (memory)")


STEPS = (
    m001_memory,
    m002_model_calls,
    m003_search,
    m004_code,
    m005_knowledge,
    m006_outcomes,
    m007_progress,
    m008_renames,
    m009_order,
    m010_project_marks,
    m011_pauses,
    m012_unknown_outcomes,
    m013_git_folders,
    m014_recorded_folders,
    m015_turn_logs,
    m017_composers,
    m018_headline_worth,
    m019_lesson_candidates,
)
