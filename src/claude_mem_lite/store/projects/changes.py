"""Changes to projects: merge, rename, move, split, and their undoing.

Called by the job thread, inside the caller's transaction but for `join`. The id of a change is made of its command:
carrying a command out twice is as good as once."""

import json
import os
import sqlite3
from collections.abc import Mapping
from datetime import datetime
from typing import cast

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.scopes import called
from claude_mem_lite.store.projects import listing, lookup
from claude_mem_lite.store.projects.change_log import Change, built_upon, get, is_done, record
from claude_mem_lite.store.projects.marks import current_id, is_known, put_mark
from claude_mem_lite.store.projects.rows import merge_rows, take_apart
from claude_mem_lite.store.projects.splits import Split, split_rows, undo_split
from claude_mem_lite.timestamps import time_to_text


def merge(db: sqlite3.Connection, change: str, source: str, target: str, now: datetime) -> None:
    """Have all that is stored of one project belong to another."""
    if is_done(db, change):
        return
    if source == target:
        raise MemoryLiteError(f"{source} is one project already", "`claude-mem-lite projects` lists them")
    names = _names(db, source, target)
    merged = merge_rows(db, change, source, target, now)
    record(db, change, "merge", source, target, {"merged": [merged], "names": names}, now)


def join(db: sqlite3.Connection, change: str, source: str, target: str, now: datetime) -> None:
    """Merge two projects that their marks show to be one, see `Identity.joins`, in a transaction of its own. Called
    before anything is stored for the folder: `project_marks.note` would give the folder to one of the two."""
    if not is_done(db, change):
        with atomic(db):
            names = _names(db, source, target)
            merged = merge_rows(db, change, source, target, now)
            record(db, change, "join", source, target, {"merged": [merged], "names": names}, now)


def rename(db: sqlite3.Connection, change: str, project: str, name: str, now: datetime) -> None:
    """Rename a project; its id stays."""
    if is_done(db, change):
        return
    row = db.execute("select name from projects where id = ?", (project,)).fetchone()
    if row is None:
        raise NotFound(f"there is no project {project}", "`claude-mem-lite projects` lists them")
    db.execute("update projects set name = :name where id = :id", {"name": name, "id": project})
    record(db, change, "rename", row["name"], name, {"project": project}, now)


def takers(db: sqlite3.Connection, old: str, new: str) -> dict[str, str]:
    """Return the projects that are known in the folders that those of a folder would move to, by these folders."""
    there = [_there(row["value"], old, new) for row in _marks_below(db, old)]
    found = {folder: lookup.locate(db, folder).project for folder in there}
    return {folder: project for folder, project in found.items() if is_known(db, project)}


def move(db: sqlite3.Connection, change: str, old: str, new: str, now: datetime, taken_by: Mapping[str, str]) -> None:
    """Have the projects of a folder, and of the folders below it, be found in another folder from now on.

    A project that is known in the new folder takes in the one that moved there, see `takers`."""
    if is_done(db, change):
        return
    rows = _marks_below(db, old)
    if not rows:
        raise NotFound(f"no project was ever seen in {old}", "`claude-mem-lite projects` lists their folders")
    merged: list[JsonValue] = []
    marked: list[JsonValue] = []
    for row in rows:
        there, project = _there(row["value"], old, new), current_id(db, row["project"])
        other = current_id(db, taken_by.get(there, project))
        if other != project:
            merged.append(merge_rows(db, change, project, other, now))
            project = other
        marked.append(_move_mark(db, row["kind"], row["value"], there, project, now))
    record(db, change, "move", old, new, {"merged": merged, "marked": marked}, now)


def _marks_below(db: sqlite3.Connection, folder: str) -> list[sqlite3.Row]:
    return db.execute(
        """select kind, value, project from project_marks
           where kind in ('path', 'former_path')
             and (value = :folder or substr(value, 1, length(:folder) + 1) = :folder || '/')
           order by value, kind""",
        {"folder": folder},
    ).fetchall()


def _there(folder: str, old: str, new: str) -> str:
    return new + folder[len(old) :]


def split(db: sqlite3.Connection, change: str, wanted: Split, now: datetime) -> None:
    """Make a folder of a project a project of its own, with all that was recorded there, see `project_splits.plan`."""
    if is_done(db, change):
        return
    if not is_known(db, wanted.source):
        raise NotFound(f"there is no project {wanted.source}", "`claude-mem-lite projects` lists them")
    done = split_rows(db, change, wanted, now)
    names = _names(db, wanted.source, wanted.target)
    record(db, change, "split", wanted.source, wanted.target, {"split": done, "names": names}, now)


def undo(db: sqlite3.Connection, id_or_prefix: str, now: datetime) -> Change:
    """Put back what a change moved; what was stored since then stays where it was stored."""
    change = get(db, id_or_prefix)
    if change.undone_at is not None:
        return change
    later = built_upon(db, change)
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
        take_apart(db, change.id, merged)
    if change.kind == "split":
        undo_split(db, change.id, cast("JsonObject", detail["split"]))
    db.execute("delete from project_change_rows where change = ?", (change.id,))
    db.execute(
        "update project_changes set undone_at = :now where id = :id", {"now": time_to_text(now), "id": change.id}
    )
    return get(db, change.id)


def _names(db: sqlite3.Connection, source: str, target: str) -> list[JsonValue]:
    """Return what two projects are called, each with its id where that is the same."""
    stored = listing.names(db)
    one, other = called(source, stored), called(target, stored)
    return [one, other] if one != other else [f"{one} ({source})", f"{other} ({target})"]


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
        put_mark(db, "former_path", value, project, now)
    put_mark(db, "path" if os.path.isdir(there) else "former_path", there, project, now)
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
