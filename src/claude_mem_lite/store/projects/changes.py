"""Changes to projects: merge, rename, move, split, and undo.

A split is for two clones that share a remote or a history and are different projects, as two apps from one template.

Called by the job thread, inside the caller's transaction except for `join`. The id of a change is derived from its
command, so a repeated command has no further effect."""

import json
import os
import sqlite3
from collections.abc import Mapping
from datetime import datetime
from typing import cast

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.responses.project import ProjectChange
from claude_mem_lite.scopes import called, project_name
from claude_mem_lite.store.projects import lookup, rows
from claude_mem_lite.store.projects.change_log import built_upon, get, is_done, record
from claude_mem_lite.store.projects.marks import current_id, is_known, marks, put_mark
from claude_mem_lite.store.projects.rows import (
    Recorded,
    count_outside,
    is_empty,
    merge_rows,
    move_rows,
    take_rows_back,
    unmerge_rows,
)
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.values import frozen


@frozen
class SplitPlan:
    """Plan of a split, from disk and database at the first execution of the command."""

    source: str
    """Project that loses the folder."""
    target: str
    """Id of the new project."""
    name: str
    path: str
    root: str
    git_folder: str
    remote: str
    """Remote that moves with the folder; '' if there is none, or if another folder of the project has the same
    remote."""
    elsewhere: tuple[str, ...]
    """Git folders of the other folders of the project."""


def merge(db: sqlite3.Connection, change: str, source: str, target: str, now: datetime) -> None:
    """Move everything that is stored for one project to another project."""
    if is_done(db, change):
        return
    if source == target:
        raise MemoryLiteError(f"{source} is one project already", "`claude-mem-lite projects` lists them")
    names = _names(db, source, target)
    merged = merge_rows(db, change, source, target, now)
    record(db, change, "merge", source, target, {"merged": [merged], "names": names}, now)


def join(db: sqlite3.Connection, change: str, source: str, target: str, now: datetime) -> None:
    """Merge two projects that their marks show to be one (see `Identity.joins`) in a transaction of its own. Must be
    called before anything is stored for the folder: `marks.note` would assign the folder to one of the two."""
    if not is_done(db, change):
        with atomic(db):
            names = _names(db, source, target)
            merged = merge_rows(db, change, source, target, now)
            record(db, change, "join", source, target, {"merged": [merged], "names": names}, now)


def rename(db: sqlite3.Connection, change: str, project: str, name: str, now: datetime) -> None:
    """Rename a project; the id stays."""
    if is_done(db, change):
        return
    row = db.execute("select name from projects where id = ?", (project,)).fetchone()
    if row is None:
        raise NotFound(f"there is no project {project}", "`claude-mem-lite projects` lists them")
    db.execute("update projects set name = :name where id = :id", {"name": name, "id": project})
    record(db, change, "rename", row["name"], name, {"project": project}, now)


def takers(db: sqlite3.Connection, old: str, new: str) -> dict[str, str]:
    """Return the known projects in the target folders of a move, by folder."""
    targets = [_moved_folder(row["value"], old, new) for row in _marks_below(db, old)]
    projects = {folder: lookup.locate(db, folder).project for folder in targets}
    return {folder: project for folder, project in projects.items() if is_known(db, project)}


def move(db: sqlite3.Connection, change: str, old: str, new: str, now: datetime, taken_by: Mapping[str, str]) -> None:
    """Move the projects of a folder, and of the folders below, to another folder.

    A project that is known in the new folder absorbs the moved project, see `takers`."""
    if is_done(db, change):
        return
    rows = _marks_below(db, old)
    if not rows:
        raise NotFound(f"no project was ever seen in {old}", "`claude-mem-lite projects` lists their folders")
    merged: list[JsonValue] = []
    marked: list[JsonValue] = []
    for row in rows:
        target, project = _moved_folder(row["value"], old, new), current_id(db, row["project"])
        taker = current_id(db, taken_by.get(target, project))
        if taker != project:
            merged.append(merge_rows(db, change, project, taker, now))
            project = taker
        marked.append(_move_mark(db, row["kind"], row["value"], target, project, now))
    record(db, change, "move", old, new, {"merged": merged, "marked": marked}, now)


def _marks_below(db: sqlite3.Connection, folder: str) -> list[sqlite3.Row]:
    return db.execute(
        """select kind, value, project from project_marks
           where kind in ('path', 'former_path')
             and (value = :folder or substr(value, 1, length(:folder) + 1) = :folder || '/')
           order by value, kind""",
        {"folder": folder},
    ).fetchall()


def _moved_folder(folder: str, old: str, new: str) -> str:
    return new + folder[len(old) :]


def plan_split(db: sqlite3.Connection, folder: str, name: str) -> SplitPlan:
    """Return the plan of a split; raise an error with the reason if no split is possible."""
    location = lookup.locate(db, folder)
    if not is_known(db, location.project):
        raise NotFound(f"no project was ever seen in {location.path}", "`claude-mem-lite projects` lists their folders")
    folders = [path for path in marks(db, location.project, "path") if path != location.path and os.path.isdir(path)]
    others = [find_location(path) for path in folders]
    elsewhere = tuple(other.git_folder for other in others if other.git_folder)
    recorded = Recorded(location.path, location.git_folder, elsewhere)
    if not others and not count_outside(db, location.project, recorded):
        raise MemoryLiteError(
            f"{location.path} is the only folder of {location.name}, so there is nothing to split",
            "`claude-mem-lite projects rename` gives it another name",
        )
    remote = location.remote if location.remote not in {other.remote for other in others} else ""
    return SplitPlan(
        source=location.project,
        target=lookup.new_id(db, remote or location.path, besides=location.project),
        name=name or project_name(location.path),
        path=location.path,
        root=location.root,
        git_folder=location.git_folder,
        remote=remote,
        elsewhere=elsewhere,
    )


def split(db: sqlite3.Connection, change: str, plan: SplitPlan, now: datetime) -> None:
    """Make a folder of a project a project of its own, with everything that was recorded in the folder; see
    `plan_split`."""
    if is_done(db, change):
        return
    if not is_known(db, plan.source):
        raise NotFound(f"there is no project {plan.source}", "`claude-mem-lite projects` lists them")
    done = _split_rows(db, change, plan, now)
    names = _names(db, plan.source, plan.target)
    record(db, change, "split", plan.source, plan.target, {"split": done, "names": names}, now)


def undo(db: sqlite3.Connection, id_or_prefix: str, now: datetime) -> ProjectChange:
    """Undo a change; rows that were stored later stay unchanged."""
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
        unmerge_rows(db, change.id, merged)
    if change.kind == "split":
        _undo_split(db, change.id, cast("JsonObject", detail["split"]))
    db.execute("delete from project_change_rows where change = ?", (change.id,))
    db.execute(
        "update project_changes set undone_at = :now where id = :id", {"now": time_to_text(now), "id": change.id}
    )
    return get(db, change.id)


def _names(db: sqlite3.Connection, source: str, target: str) -> list[JsonValue]:
    """Return the names of two projects, with their ids if the names are equal."""
    stored = rows.project_names(db)
    source_name, target_name = called(source, stored), called(target, stored)
    return (
        [source_name, target_name]
        if source_name != target_name
        else [f"{source_name} ({source})", f"{target_name} ({target})"]
    )


def _move_mark(db: sqlite3.Connection, kind: str, value: str, target: str, project: str, now: datetime) -> JsonObject:
    """Replace a folder of a project by another folder; return the data for the undo."""
    before = [
        dict(row)
        for row in db.execute(
            "select * from project_marks where kind in ('path', 'former_path') and value in (?, ?)", (value, target)
        )
    ]
    db.execute("delete from project_marks where kind in ('path', 'former_path') and value = ?", (target,))
    if kind == "path":
        db.execute("delete from project_marks where kind = 'path' and value = ? and project = ?", (value, project))
        put_mark(db, "former_path", value, project, now)
    put_mark(db, "path" if os.path.isdir(target) else "former_path", target, project, now)
    values: JsonObject = {"value": value, "there": target, "project": project}
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


def _split_rows(db: sqlite3.Connection, change: str, split: SplitPlan, now: datetime) -> JsonObject:
    """Move everything that was recorded in a folder to a new project; return the data for the undo."""
    before = db.execute("select * from projects where id = ?", (split.source,)).fetchone()
    db.execute(
        """insert or ignore into projects (id, name, root, first_seen_at, last_seen_at)
           values (:id, :name, :root, :first_seen_at, :last_seen_at)""",
        {**dict(before), "id": split.target, "name": split.name, "root": split.root},
    )
    move_rows(db, change, split.source, split.target, Recorded(split.path, split.git_folder, split.elsewhere))
    moved = _move_marks(db, split, now)
    left = _leave_root(db, split, str(before["root"]))
    return {
        "source": split.source,
        "target": split.target,
        "marks": cast("JsonValue", moved),
        "root": before["root"] if left else None,
    }


def _undo_split(db: sqlite3.Connection, change: str, done: JsonObject) -> None:
    """Undo a split. The new project is removed, unless something was stored in it since."""
    source, target = str(done["source"]), str(done["target"])
    take_rows_back(db, change, source, target)
    for row in cast("list[JsonObject]", done["marks"]):
        db.execute(
            "delete from project_marks where kind = :kind and value = :value and project = :target",
            {**row, "target": target},
        )
        db.execute(
            """insert or replace into project_marks (kind, value, project, last_seen_at)
               values (:kind, :value, :project, :last_seen_at)""",
            row,
        )
    if isinstance(done["root"], str):
        db.execute("update projects set root = ? where id = ?", (done["root"], source))
    if is_empty(db, target):
        for table, column in (("project_marks", "project"), ("branches", "project"), ("projects", "id")):
            db.execute(f"delete from {table} where {column} = ?", (target,))


def _move_marks(db: sqlite3.Connection, split: SplitPlan, now: datetime) -> list[JsonObject]:
    """Move the marks of the folder to the new project and return the former ones. Both projects keep the shared
    history."""
    values = {"project": split.source, "path": split.path, "remote": split.remote, "git_folder": split.git_folder}
    condition = """project = :project and (
        (kind in ('path', 'former_path') and value = :path) or (kind = 'remote' and value = :remote)
        or (kind = 'git_folder' and value = :git_folder))"""
    moved: list[JsonObject] = [
        dict(row) for row in db.execute(f"select * from project_marks where {condition}", values)
    ]
    db.execute(f"delete from project_marks where {condition}", values)
    put_mark(db, "path" if os.path.isdir(split.path) else "former_path", split.path, split.target, now)
    if split.remote and any(row["kind"] == "remote" for row in moved):
        put_mark(db, "remote", split.remote, split.target, now)
    if split.git_folder:
        put_mark(db, "git_folder", split.git_folder, split.target, now)
    for commit in marks(db, split.source, "root_commit"):
        put_mark(db, "root_commit", commit, split.target, now)
    return moved


def _leave_root(db: sqlite3.Connection, split: SplitPlan, root: str) -> bool:
    """Remove the folder of the new project as root of the old project; return True if it was the root."""
    if root != split.root:
        return False
    folders = marks(db, split.source, "path")
    db.execute("update projects set root = ? where id = ?", (folders[0] if folders else "", split.source))
    return True
