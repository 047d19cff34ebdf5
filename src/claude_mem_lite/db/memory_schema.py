"""Schema of `memory.db`, step by step. A released step is never edited; `migrations` runs the steps."""

import sqlite3

from claude_mem_lite.db.experiment_schema import m026_experiment, m027_outcome_places
from claude_mem_lite.db.guard_schema import m025_guards
from claude_mem_lite.db.memory_schema_first import FIRST_STEPS
from claude_mem_lite.db.team_schema import m021_team, m022_team_id, m023_team_remarks, m024_own_titles


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


def m020_team_origin(connection: sqlite3.Connection) -> None:
    """Add memories received from a teammate, with the name of their author."""
    indexes = connection.execute(
        "select name, sql from sqlite_master where type = 'index' and tbl_name = 'memories' and sql is not null"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"drop index {name}")
    columns = ", ".join(row[1] for row in connection.execute("pragma table_info(memories)"))
    connection.execute("alter table memories rename to memories_before")
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
                check (origin in ('user', 'assistant', 'code', 'command', 'web', 'mcp', 'import', 'team')),
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
            cost_usd real not null,
            folder text not null default '',
            git_folder text not null default '',
            author text not null default ''
        )""")
    connection.execute(f"insert into memories ({columns}) select {columns} from memories_before")
    connection.execute("drop table memories_before")
    for _, definition in indexes:
        connection.execute(definition)
    # Partial: a home without a team pays nothing for the query of received memories.
    connection.execute("""
        create index memories_of_team on memories (
            scope, status, pinned desc, confidence desc, last_seen_at desc, seq,
            kind, origin, stored_at, branch, created_at
        ) where origin = 'team'""")


STEPS = (
    *FIRST_STEPS,
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
    m020_team_origin,
    m021_team,
    m022_team_id,
    m023_team_remarks,
    m024_own_titles,
    m025_guards,
    m026_experiment,
    m027_outcome_places,
)
