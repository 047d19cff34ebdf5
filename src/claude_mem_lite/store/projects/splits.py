"""Split of a folder from a project into a project of its own, and the undo. Part of `changes`.

For two clones that share a remote or a history and are different projects, as two apps from one template."""

import os
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.scopes import project_name
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.store.projects.marks import is_known, marks, put_mark
from claude_mem_lite.store.projects.rows import Recorded, count_outside, is_empty, move_rows, take_rows_back


@dataclass(frozen=True, slots=True)
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


def plan(db: sqlite3.Connection, folder: str, name: str) -> SplitPlan:
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


def split_rows(db: sqlite3.Connection, change: str, split: SplitPlan, now: datetime) -> JsonObject:
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


def undo_split(db: sqlite3.Connection, change: str, done: JsonObject) -> None:
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
