"""Rows of projects: lists with counts, and moves to another project and back inside the transaction of a change.

Owns `project_change_rows`: the rows that a change moved, with their former project."""

import json
import os
import sqlite3
from datetime import datetime
from typing import TYPE_CHECKING, cast

from claude_mem_lite.models import JsonObject, JsonValue, Location
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, passages, vectors
from claude_mem_lite.store.projects.marks import marks, put_former_id
from claude_mem_lite.timestamps import text_to_time
from claude_mem_lite.values import frozen

if TYPE_CHECKING:
    from claude_mem_lite.responses.project import ListedProject

_TABLES = {
    "sessions": "id",
    "memories": "id",
    "passages": "id",
    "receipts": "spool_name",
    "symbol_changes": "seq",
    "lesson_candidates": "id",
    "guards": "id",
}
"""Tables with rows of projects, each with its key."""
_SMALL_TABLES = {"project_marks": ("kind", "value"), "branches": ("name",), "team_shares": ("remote",)}
"""Tables with few rows per project, each with its key within the project: these rows are stored with the change."""


_OF_GIT_FOLDER = "(git_folder <> '' and git_folder = :git_folder)"
_NOT_ELSEWHERE = "git_folder not in (select value from json_each(:elsewhere))"
_IN_FOLDER = f"({_OF_GIT_FOLDER} or (folder = :folder and {_NOT_ELSEWHERE}))"
_MAX_LISTED = 20


@frozen
class Recorded:
    """Place where rows were recorded: a git folder at any path, or a folder."""

    folder: str
    git_folder: str
    elsewhere: tuple[str, ...]
    """Git folders that are now in other folders, but may have been in this folder."""

    def values(self) -> dict[str, str]:
        return {"folder": self.folder, "git_folder": self.git_folder, "elsewhere": json.dumps(self.elsewhere)}


def merge_rows(db: sqlite3.Connection, change: str, source: str, target: str, now: datetime) -> JsonObject:
    """Move every row of one project to another; return the data for the undo besides `project_change_rows`."""
    values = {"change": change, "source": source, "target": target}
    row = db.execute("select * from projects where id = ?", (source,)).fetchone()
    from claude_mem_lite.store import team_heads  # late: merges are rare

    team_heads.keep_apart(db, source, target)
    for table, key in _TABLES.items():
        db.execute(
            f"""insert or ignore into project_change_rows (change, place, key, project)
                select :change, '{table}', {key}, project from {table} where project = :source""",
            values,
        )
        db.execute(f"update {table} set project = :target where project = :source", values)
    db.execute("update memories set scope = 'project:' || :target where scope = 'project:' || :source", values)
    if row is not None:  # during a replay of lost events the source may be known by its id alone
        db.execute(
            """insert or ignore into projects (id, name, root, first_seen_at, last_seen_at)
               values (:target, :name, :root, :first_seen_at, :last_seen_at)""",
            {**dict(row), "target": target},
        )
    small: JsonObject = {table: _take_small(db, table, source, target) for table in _SMALL_TABLES}
    if not db.execute("select 1 from project_marks where project = ? and value = ?", (target, source)).fetchone():
        put_former_id(db, source, target, now)
    db.execute("delete from projects where id = ?", (source,))
    _index_again(db, change, target)
    return {"source": source, "target": target, "project": dict(row) if row else None, **small}


def note_folder(db: sqlite3.Connection, memory: str, place: Location) -> None:
    """Record the folder in which the user stated a memory without a session; a repeated statement keeps the first
    folder."""
    db.execute(
        """update memories set folder = :folder, git_folder = :git_folder
           where id = :id and session = '' and folder = ''""",
        {"id": memory, "folder": place.path, "git_folder": place.git_folder},
    )


def move_rows(db: sqlite3.Connection, change: str, source: str, target: str, recorded: Recorded) -> None:
    """Move the rows that were recorded in a folder of a project to another project."""
    values = {"change": change, "source": source, "target": target, **recorded.values()}
    moved = "select key from project_change_rows where change = :change and place"
    for table, key in _TABLES.items():
        db.execute(
            f"""insert or ignore into project_change_rows (change, place, key, project)
                select :change, '{table}', {key}, project from {table}
                where project = :source and {_recorded_in(table, f"{moved} = 'sessions'")}""",
            values,
        )
    for table, key in _TABLES.items():
        db.execute(f"update {table} set project = :target where {key} in ({moved} = '{table}')", values)
    db.execute(
        f"""update memories set scope = 'project:' || :target
            where id in ({moved} = 'memories') and scope = 'project:' || :source""",
        values,
    )
    _index_again(db, change, target)


def count_outside(db: sqlite3.Connection, project: str, recorded: Recorded) -> int:
    """Return the number of sessions and statements of a project that were recorded outside of a folder."""
    values = {"project": project, **recorded.values()}
    (sessions,) = db.execute(
        f"select count(*) from sessions where project = :project and not ({_recorded_in('sessions', '')})", values
    ).fetchone()
    (stated,) = db.execute(
        f"""select count(*) from memories where project = :project and session = '' and folder <> ''
              and not ({_IN_FOLDER})""",
        values,
    ).fetchone()
    return int(sessions + stated)


def take_rows_back(db: sqlite3.Connection, change: str, source: str, target: str) -> None:
    """Move the rows of a change back to their former project, except for rows that moved on since."""
    values = {"change": change, "source": source, "target": target}
    moved = "select key from project_change_rows where change = :change and project = :source and place"
    # Scope and project go together: a memory with a new scope from the user keeps the scope.
    db.execute(
        f"""update memories set scope = 'project:' || :source
            where id in ({moved} = 'memories') and scope = 'project:' || :target and project = :target""",
        values,
    )
    for table, key in _TABLES.items():
        db.execute(
            f"update {table} set project = :source where {key} in ({moved} = '{table}') and project = :target", values
        )
    _index_again(db, change, source)


def unmerge_rows(db: sqlite3.Connection, change: str, merged: JsonObject) -> None:
    """Undo `merge_rows`."""
    source, target = str(merged["source"]), str(merged["target"])
    take_rows_back(db, change, source, target)
    db.execute(
        "delete from project_marks where project = :target and value = :source and kind <> 'root_commit'",
        {"source": source, "target": target},
    )
    for table in _SMALL_TABLES:
        if isinstance(saved := merged.get(table), dict):  # changes made before a table existed have none of its rows
            _put_small_back(db, table, source, target, saved)
    if isinstance(project := merged["project"], dict):
        columns = ", ".join(project)
        marks = ", ".join(f":{name}" for name in project)
        db.execute(f"insert or ignore into projects ({columns}) values ({marks})", project)


def _recorded_in(table: str, sessions: str) -> str:
    """Return the condition for rows of a table that were recorded in a folder; `sessions` selects the moved
    sessions."""
    if table == "sessions":
        # For a session from before folders were recorded, only the working folder is known.
        return f"""({_IN_FOLDER} or (folder = '' and
            (cwd = :folder or substr(cwd, 1, length(:folder) + 1) = :folder || '/')))"""
    if table == "memories":
        return f"(session in ({sessions}) or (session = '' and {_IN_FOLDER}))"
    if table == "guards":  # after the memories that they were made from
        return """memory <> '' and memory in (
            select key from project_change_rows where change = :change and place = 'memories')"""
    return f"session in ({sessions})"


def _take_small(db: sqlite3.Connection, table: str, source: str, target: str) -> JsonObject:
    """Move the rows of a small table to another project; return the rows, and the keys that the target had before."""
    rows = [dict(row) for row in db.execute(f"select * from {table} where project = ?", (source,))]
    had = [_key(table, dict(row)) for row in db.execute(f"select * from {table} where project = ?", (target,))]
    db.execute(f"update or ignore {table} set project = ? where project = ?", (target, source))
    db.execute(f"delete from {table} where project = ?", (source,))
    return {"rows": cast("JsonValue", rows), "had": cast("JsonValue", had)}


def _put_small_back(db: sqlite3.Connection, table: str, source: str, target: str, saved: JsonObject) -> None:
    had = cast("list[list[str]]", saved["had"])
    for row in cast("list[JsonObject]", saved["rows"]):
        if _key(table, row) not in had:
            where = " and ".join(f"{name} = :{name}" for name in _SMALL_TABLES[table])
            db.execute(f"delete from {table} where project = :target and {where}", {**row, "target": target})
        columns, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        db.execute(f"insert or replace into {table} ({columns}) values ({marks})", {**row, "project": source})


def _key(table: str, row: JsonObject) -> list[str]:
    return [str(row[name]) for name in _SMALL_TABLES[table]]


def _index_again(db: sqlite3.Connection, change: str, project: str) -> None:
    """Update the filter tokens and scopes of all rows that a change moved."""
    for table, reindex in (("memories", _reindex_memory), ("passages", _reindex_passage)):
        seqs = [
            row["seq"]
            for row in db.execute(
                f"""select seq from {table} where project = ?
                    and id in (select key from project_change_rows where change = ? and place = '{table}')""",
                (project, change),
            )
        ]
        for seq in seqs:
            reindex(db, seq)


def _reindex_memory(db: sqlite3.Connection, seq: int) -> None:
    memory = memories.by_seq(db, [seq])[seq]
    fts.update_filter_tokens(db, seq, memory)
    vectors.set_scope(db, vectors.of_memory(seq), memory.scope)


def _reindex_passage(db: sqlite3.Connection, seq: int) -> None:
    passage = passages.by_seq(db, [seq])[seq]
    passages.update_filter_tokens(db, seq, passage)
    vectors.set_scope(db, vectors.of_passage(seq), f"project:{passage.project}")


def listed_projects(db: sqlite3.Connection, limit: int) -> "list[ListedProject]":
    """Return the projects that hold sessions or memories, those last worked on first."""
    # Late: projects are listed for people, not for hooks.
    from claude_mem_lite.responses.encoding import time_text
    from claude_mem_lite.responses.project import ListedProject

    rows = db.execute(
        """select id, name, root, last_seen_at,
             (select count(*) from sessions where project = projects.id) as sessions,
             (select count(*) from memories where project = projects.id and status = 'active') as memories
           from projects
           where exists (select 1 from sessions where project = projects.id)
              or exists (select 1 from memories where project = projects.id)
           order by last_seen_at desc, id limit ?""",
        (limit,),
    )
    return [
        ListedProject(
            **{**dict(row), "last_seen_at": time_text(text_to_time(row["last_seen_at"]))},
            folders=(*marks(db, row["id"], "path"), *marks(db, row["id"], "former_path"))[:_MAX_LISTED],
            remotes=tuple(marks(db, row["id"], "remote")[:_MAX_LISTED]),
        )
        for row in rows.fetchall()
    ]


def project_names(db: sqlite3.Connection) -> dict[str, str]:
    """Return the name of every project by id."""
    return {row["id"]: row["name"] for row in db.execute("select id, name from projects")}


def project_folders(db: sqlite3.Connection, project: str | None) -> list[str]:
    """Return the existing folders of a project, or of all projects, those last seen first."""
    rows = db.execute(
        """select distinct value from project_marks where kind = 'path' and (:project is null or project = :project)
           order by last_seen_at desc, value""",
        {"project": project},
    )
    return [row["value"] for row in rows if os.path.isdir(row["value"])]


def is_empty(db: sqlite3.Connection, project: str) -> bool:
    row = db.execute(
        "select 1 from sessions where project = :id union all select 1 from memories where project = :id limit 1",
        {"id": project},
    )
    return row.fetchone() is None
