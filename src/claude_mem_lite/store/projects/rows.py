"""The rows that belong to a project, given to another one and back, inside the transaction of a change.

Owns `project_change_rows`: which rows a change moved, and where they were before."""

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from claude_mem_lite.models import JsonObject, JsonValue, Place
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, passages, vectors
from claude_mem_lite.store.projects.marks import put_former_id

_TABLES = {
    "sessions": "id",
    "memories": "id",
    "passages": "id",
    "receipts": "spool_name",
    "symbol_changes": "seq",
    "lesson_candidates": "id",
}
"""The tables whose rows belong to a project, each with its key."""
_SMALL_TABLES = {"project_marks": ("kind", "value"), "branches": ("name",)}
"""The tables of which a project has few rows, each with its key in the project: their rows are kept with the change."""


_OF_GIT_FOLDER = "(git_folder <> '' and git_folder = :git_folder)"
_NOT_ELSEWHERE = "git_folder not in (select value from json_each(:elsewhere))"
_IN_FOLDER = f"({_OF_GIT_FOLDER} or (folder = :folder and {_NOT_ELSEWHERE}))"


@dataclass(frozen=True, slots=True)
class Recorded:
    """Where rows were recorded: in a git folder, wherever that stood, or in a folder."""

    folder: str
    git_folder: str
    elsewhere: tuple[str, ...]
    """The git folders that are known to stand in other folders by now, but may have stood here."""

    def values(self) -> dict[str, str]:
        return {"folder": self.folder, "git_folder": self.git_folder, "elsewhere": json.dumps(self.elsewhere)}


def merge_rows(db: sqlite3.Connection, change: str, source: str, target: str, now: datetime) -> JsonObject:
    """Move every row of one project to another; return what it takes to undo it besides `project_change_rows`."""
    values = {"change": change, "source": source, "target": target}
    row = db.execute("select * from projects where id = ?", (source,)).fetchone()
    for table, key in _TABLES.items():
        db.execute(
            f"""insert or ignore into project_change_rows (change, place, key, project)
                select :change, '{table}', {key}, project from {table} where project = :source""",
            values,
        )
        db.execute(f"update {table} set project = :target where project = :source", values)
    db.execute("update memories set scope = 'project:' || :target where scope = 'project:' || :source", values)
    if row is not None:  # the other may be known by its id alone, while lost events are replayed
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


def note_folder(db: sqlite3.Connection, memory: str, place: Place) -> None:
    """Record where a memory was stated that no session tells of; of one that was stated before, the first place."""
    db.execute(
        """update memories set folder = :folder, git_folder = :git_folder
           where id = :id and session = '' and folder = ''""",
        {"id": memory, "folder": place.path, "git_folder": place.git_folder},
    )


def give_rows(db: sqlite3.Connection, change: str, source: str, target: str, recorded: Recorded) -> None:
    """Give what was recorded in a folder of a project to another project."""
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
    """Return how many sessions and statements of the user a project has that were not recorded in a folder."""
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
    """Give the rows that a change moved back to the project where they were, but for those that moved on since."""
    values = {"change": change, "source": source, "target": target}
    moved = "select key from project_change_rows where change = :change and project = :source and place"
    # Both or none: a memory that the user gave another scope since keeps it.
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


def take_apart(db: sqlite3.Connection, change: str, merged: JsonObject) -> None:
    """Undo `merge_rows`."""
    source, target = str(merged["source"]), str(merged["target"])
    take_rows_back(db, change, source, target)
    db.execute(
        "delete from project_marks where project = :target and value = :source and kind <> 'root_commit'",
        {"source": source, "target": target},
    )
    for table in _SMALL_TABLES:
        _put_small_back(db, table, source, target, cast("JsonObject", merged[table]))
    if isinstance(project := merged["project"], dict):
        columns = ", ".join(project)
        marks = ", ".join(f":{name}" for name in project)
        db.execute(f"insert or ignore into projects ({columns}) values ({marks})", project)


def _recorded_in(table: str, sessions: str) -> str:
    """Return the condition for rows of a table that were recorded in a folder, `sessions` being those that were."""
    if table == "sessions":
        # Of a session that was recorded before folders were noted, only where it worked is known.
        return f"""({_IN_FOLDER} or (folder = '' and
            (cwd = :folder or substr(cwd, 1, length(:folder) + 1) = :folder || '/')))"""
    if table == "memories":
        return f"(session in ({sessions}) or (session = '' and {_IN_FOLDER}))"
    return f"session in ({sessions})"


def _take_small(db: sqlite3.Connection, table: str, source: str, target: str) -> JsonObject:
    """Give the rows of a small table to another project; return them, and the keys that the other had before."""
    rows = [dict(row) for row in db.execute(f"select * from {table} where project = ?", (source,))]
    had = [_key(table, dict(row)) for row in db.execute(f"select * from {table} where project = ?", (target,))]
    db.execute(f"update or ignore {table} set project = ? where project = ?", (target, source))
    db.execute(f"delete from {table} where project = ?", (source,))
    return {"rows": cast("JsonValue", rows), "had": cast("JsonValue", had)}


def _put_small_back(db: sqlite3.Connection, table: str, source: str, target: str, kept: JsonObject) -> None:
    had = cast("list[list[str]]", kept["had"])
    for row in cast("list[JsonObject]", kept["rows"]):
        if _key(table, row) not in had:
            where = " and ".join(f"{name} = :{name}" for name in _SMALL_TABLES[table])
            db.execute(f"delete from {table} where project = :target and {where}", {**row, "target": target})
        columns, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        db.execute(f"insert or replace into {table} ({columns}) values ({marks})", {**row, "project": source})


def _key(table: str, row: JsonObject) -> list[str]:
    return [str(row[name]) for name in _SMALL_TABLES[table]]


def _index_again(db: sqlite3.Connection, change: str, project: str) -> None:
    """Have the derived marks of all rows that a change moved say where they belong now."""
    for table, mark in (("memories", _mark_memory), ("passages", _mark_passage)):
        seqs = [
            row["seq"]
            for row in db.execute(
                f"""select seq from {table} where project = ?
                    and id in (select key from project_change_rows where change = ? and place = '{table}')""",
                (project, change),
            )
        ]
        for seq in seqs:
            mark(db, seq)


def _mark_memory(db: sqlite3.Connection, seq: int) -> None:
    memory = memories.by_seq(db, [seq])[seq]
    fts.mark_again(db, seq, memory)
    vectors.set_scope(db, vectors.of_memory(seq), memory.scope)


def _mark_passage(db: sqlite3.Connection, seq: int) -> None:
    passage = passages.by_seq(db, [seq])[seq]
    passages.mark_again(db, seq, passage)
    vectors.set_scope(db, vectors.of_passage(seq), f"project:{passage.project}")
