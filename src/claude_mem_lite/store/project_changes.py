"""Changes to projects: merge, rename, move, and their undoing. Owns `project_changes` and `project_change_rows`.

Called by the job thread, inside the caller's transaction but for `join`. The id of a change is made of its command:
carrying a command out twice is as good as once."""

import json
import os
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.places import find_place
from claude_mem_lite.store import documents, fts, memories, passages, projects, vectors
from claude_mem_lite.store.ids import one_by_prefix
from claude_mem_lite.timestamps import text_to_time, time_to_text

ChangeKind = Literal["merge", "rename", "move", "join"]
"""`join`: two projects were found to be one by their marks; all others are the user's word."""
_TABLES = {"sessions": "id", "memories": "id", "passages": "id", "receipts": "spool_name", "symbol_changes": "seq"}
"""The tables whose rows belong to a project, each with its key."""
_SMALL_TABLES = {"project_marks": ("kind", "value"), "branches": ("name",)}
"""The tables of which a project has few rows, each with its key in the project: their rows are kept with the change."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change to projects that can be undone."""

    id: str
    kind: ChangeKind
    source: str
    """The project, folder or name of before."""
    target: str
    """The project, folder or name of after."""
    at: datetime
    undone_at: datetime | None


def merge(db: sqlite3.Connection, change: str, source: str, target: str, now: datetime) -> None:
    """Have all that is stored of one project belong to another."""
    if _is_done(db, change):
        return
    if source == target:
        raise MemoryLiteError(f"{source} is one project already", "`claude-mem-lite projects` lists them")
    _record(db, change, "merge", source, target, {"merged": [_merge(db, change, source, target, now)]}, now)


def join(db: sqlite3.Connection, change: str, folder: str, now: datetime) -> None:
    """Merge two projects that the marks of a folder show to be one, in a transaction of its own. Called before anything
    is stored for the folder: `projects.note` would give the folder to one of the two."""
    found = projects.identify(db, find_place(folder))
    if found.joins and not _is_done(db, change):
        with atomic(db):
            merged = _merge(db, change, found.joins, found.project, now)
            _record(db, change, "join", found.joins, found.project, {"merged": [merged]}, now)


def rename(db: sqlite3.Connection, change: str, project: str, name: str, now: datetime) -> None:
    """Rename a project; its id stays."""
    if _is_done(db, change):
        return
    row = db.execute("select name from projects where id = ?", (project,)).fetchone()
    if row is None:
        raise NotFound(f"there is no project {project}", "`claude-mem-lite projects` lists them")
    db.execute("update projects set name = :name where id = :id", {"name": name, "id": project})
    _record(db, change, "rename", row["name"], name, {"project": project}, now)


def move(db: sqlite3.Connection, change: str, old: str, new: str, now: datetime) -> None:
    """Have the projects of a folder, and of the folders below it, be found in another folder from now on.

    A project that is known in the new folder takes in the one that moved there."""
    if _is_done(db, change):
        return
    rows = db.execute(
        """select kind, value, project from project_marks
           where kind in ('path', 'former_path') and (value = :old or substr(value, 1, length(:old) + 1) = :old || '/')
           order by value, kind""",
        {"old": old},
    ).fetchall()
    if not rows:
        raise NotFound(f"no project was ever seen in {old}", "`claude-mem-lite projects` lists their folders")
    merged: list[JsonValue] = []
    marked: list[JsonValue] = []
    for row in rows:
        there, project = new + row["value"][len(old) :], str(row["project"])
        other = projects.locate(db, there).project
        if other != project and projects.is_known(db, other):
            merged.append(_merge(db, change, project, other, now))
            project = other
        marked.append(_move_mark(db, row["kind"], row["value"], there, project, now))
    _record(db, change, "move", old, new, {"merged": merged, "marked": marked}, now)


def undo(db: sqlite3.Connection, id_or_prefix: str, now: datetime) -> Change:
    """Put back what a change moved; what was stored since then stays where it was stored."""
    change = get(db, id_or_prefix)
    if change.undone_at is not None:
        return change
    later = _built_upon(db, change)
    if later is not None:
        raise MemoryLiteError(
            f"{later.kind} {later.id} came after it and concerns the same project",
            f"`claude-mem-lite projects undo {later.id}` first",
        )
    row = db.execute("select detail from project_changes where id = ?", (change.id,)).fetchone()
    detail = cast("JsonObject", json.loads(row["detail"]))
    if change.kind == "rename":
        db.execute(
            "update projects set name = :was where id = :id and name = :name",
            {"was": change.source, "name": change.target, "id": detail["project"]},
        )
    for marked in reversed(cast("list[JsonObject]", detail.get("marked", []))):
        _move_mark_back(db, marked)
    for merged in reversed(cast("list[JsonObject]", detail.get("merged", []))):
        _take_apart(db, change.id, merged)
    db.execute("delete from project_change_rows where change = ?", (change.id,))
    db.execute(
        "update project_changes set undone_at = :now where id = :id", {"now": time_to_text(now), "id": change.id}
    )
    return get(db, change.id)


def get(db: sqlite3.Connection, id_or_prefix: str) -> Change:
    nobody = NotFound(f"there is no change {id_or_prefix}", "`claude-mem-lite projects --changes` shows them")
    return _from_row(one_by_prefix(db, "select * from project_changes", "project_changes", id_or_prefix, nobody))


def newest(db: sqlite3.Connection, limit: int) -> list[Change]:
    """Return the last changes, newest first, those that were undone included."""
    rows = db.execute("select * from project_changes order by seq desc limit ?", (limit,))
    return [_from_row(row) for row in rows]


def _merge(db: sqlite3.Connection, change: str, source: str, target: str, now: datetime) -> JsonObject:
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
        projects.put_former_id(db, source, target, now)
    db.execute("delete from projects where id = ?", (source,))
    _index_again(db, change, target)
    return {"source": source, "target": target, "project": dict(row) if row else None, **small}


def _take_apart(db: sqlite3.Connection, change: str, merged: JsonObject) -> None:
    source, target = str(merged["source"]), str(merged["target"])
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
    db.execute(
        "delete from project_marks where project = :target and value = :source and kind <> 'root_commit'", values
    )
    for table in _SMALL_TABLES:
        _put_small_back(db, table, source, target, cast("JsonObject", merged[table]))
    if isinstance(project := merged["project"], dict):
        columns = ", ".join(project)
        marks = ", ".join(f":{name}" for name in project)
        db.execute(f"insert or ignore into projects ({columns}) values ({marks})", project)
    _index_again(db, change, source)


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


def _move_mark(db: sqlite3.Connection, kind: str, value: str, there: str, project: str, now: datetime) -> JsonObject:
    """Have a folder lead to a project in the place of another folder; return what it takes to undo that."""
    before = [
        dict(row)
        for row in db.execute(
            "select * from project_marks where kind in ('path', 'former_path') and value in (?, ?)", (value, there)
        )
    ]
    db.execute("delete from project_marks where kind in ('path', 'former_path') and value = ?", (there,))
    if kind == "path":
        db.execute("delete from project_marks where kind = 'path' and value = ? and project = ?", (value, project))
        projects.put_mark(db, "former_path", value, project, now)
    projects.put_mark(db, "path" if os.path.isdir(there) else "former_path", there, project, now)
    values: JsonObject = {"value": value, "there": there, "project": project}
    moved = db.execute("update projects set root = :there where id = :project and root = :value", values).rowcount
    return {**values, "before": cast("JsonValue", before), "has_root": bool(moved)}


def _move_mark_back(db: sqlite3.Connection, marked: JsonObject) -> None:
    values = {"value": marked["value"], "there": marked["there"], "project": marked["project"]}
    db.execute("delete from project_marks where kind in ('path', 'former_path') and value in (:value, :there)", values)
    for row in cast("list[JsonObject]", marked["before"]):
        db.execute(
            """insert or replace into project_marks (kind, value, project, last_seen_at)
               values (:kind, :value, :project, :last_seen_at)""",
            row,
        )
    if marked["has_root"]:
        db.execute("update projects set root = :value where id = :project and root = :there", values)


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
    vectors.set_scope(db, documents.of_memory(seq), memory.scope)


def _mark_passage(db: sqlite3.Connection, seq: int) -> None:
    passage = passages.by_seq(db, [seq])[seq]
    passages.mark_again(db, seq, passage)
    vectors.set_scope(db, documents.of_passage(seq), f"project:{passage.project}")


def _is_done(db: sqlite3.Connection, change: str) -> bool:
    return db.execute("select 1 from project_changes where id = ?", (change,)).fetchone() is not None


def _record(
    db: sqlite3.Connection, id_: str, kind: ChangeKind, source: str, target: str, detail: JsonObject, now: datetime
) -> None:
    db.execute(
        """insert into project_changes (id, kind, source, target, detail, at)
           values (:id, :kind, :source, :target, :detail, :at)""",
        {
            "id": id_,
            "kind": kind,
            "source": source,
            "target": target,
            "detail": json.dumps(detail),
            "at": time_to_text(now),
        },
    )


def _built_upon(db: sqlite3.Connection, change: Change) -> Change | None:
    """Return the newest later change that moved what this one had moved, if any: it has to be undone before."""
    row = db.execute(
        """select later.* from project_changes as this join project_changes as later
             on later.seq > this.seq and later.undone_at is null and later.kind <> 'rename'
           where this.id = :id and this.kind <> 'rename' and exists (
             select 1 from project_change_rows as mine join project_change_rows as other
               on other.change = later.id and mine.place = other.place and mine.key = other.key
             where mine.change = this.id)
           order by later.seq desc limit 1""",
        {"id": change.id},
    ).fetchone()
    return _from_row(row) if row else None


def _from_row(row: sqlite3.Row) -> Change:
    return Change(
        id=row["id"],
        kind=row["kind"],
        source=row["source"],
        target=row["target"],
        at=text_to_time(row["at"]),
        undone_at=text_to_time(row["undone_at"]) if row["undone_at"] else None,
    )
