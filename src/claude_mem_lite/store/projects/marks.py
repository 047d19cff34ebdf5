"""The table `project_marks`: remotes, folders, git folders and root commits that identify projects.

`note` records the marks of every event, inside the caller's transaction; `lookup.identify` reads them."""

import os
import sqlite3
from datetime import datetime, timedelta
from typing import Literal

from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.models import Location
from claude_mem_lite.timestamps import text_to_time, time_to_text

MarkKind = Literal["remote", "root_commit", "path", "former_path", "git_folder"]
"""Kind of a mark. A `former_path` leads to its project only while no folder exists at the path, because another
project may take the path. A `root_commit` leads to no project: it confirms another mark. A `git_folder` does both."""
_MAX_GIT_FOLDERS = 50
_ROOT_EVERY = timedelta(days=1)


def note(db: sqlite3.Connection, location: Location, at: datetime) -> None:
    """Record that a project was seen in a location, inside the caller's transaction."""
    db.execute(
        """insert into projects (id, name, root, first_seen_at, last_seen_at)
           values (:project, :name, :root, :at, :at)
           on conflict (id) do update set last_seen_at = max(last_seen_at, :at), root = :root""",
        {"project": location.project, "name": location.name, "root": location.root, "at": time_to_text(at)},
    )
    if location.path:
        _note_marks(db, location, at)


def _note_marks(db: sqlite3.Connection, location: Location, at: datetime) -> None:
    values = {"value": location.path, "project": location.project}
    if os.path.isdir(location.path):
        known = marks(db, location.project, "path")
        if location.path not in known:
            _leave(db, location.project, [folder for folder in known if not os.path.isdir(folder)])
        owners = db.execute("select project from project_marks where kind = 'path' and value = :value", values)
        for row in owners.fetchall():
            if row["project"] != location.project:
                _leave(db, row["project"], [location.path])
        db.execute(
            "delete from project_marks where kind = 'former_path' and value = :value and project = :project", values
        )
        put_mark(db, "path", location.path, location.project, at)
    elif owner(db, ("path", "former_path"), location.path) in ("", location.project):
        put_mark(db, "former_path", location.path, location.project, at)
    if location.remote and owner(db, ("remote",), location.remote) in ("", location.project):
        put_mark(db, "remote", location.remote, location.project, at)
    if location.git_folder:
        _note_git_folder(db, location, at)
    _note_root(db, location, at)


def _note_git_folder(db: sqlite3.Connection, location: Location, at: datetime) -> None:
    """Record the git folder of a location. Some file systems renumber their files each time, so only the last marks are
    kept."""
    put_mark(db, "git_folder", location.git_folder, location.project, at)
    for outdated in marks(db, location.project, "git_folder")[_MAX_GIT_FOLDERS:]:
        db.execute(
            "delete from project_marks where kind = 'git_folder' and value = :value and project = :project",
            {"value": outdated, "project": location.project},
        )


def _leave(db: sqlite3.Connection, project: str, folders: list[str]) -> None:
    """Turn folders that are gone into former folders: the next folder at such a path is another project."""
    for folder in folders:
        values = {"project": project, "value": folder}
        db.execute(
            """insert or replace into project_marks (kind, value, project, last_seen_at)
               select 'former_path', value, project, last_seen_at from project_marks
               where kind = 'path' and value = :value and project = :project""",
            values,
        )
        db.execute("delete from project_marks where kind = 'path' and value = :value and project = :project", values)


def _note_root(db: sqlite3.Connection, location: Location, at: datetime) -> None:
    """Record the root commit of a location, once a day: a history may be rewritten, and former commits are pruned after
    some weeks. '' means a root commit that is too far back. During a replay of events, another repository may exist
    in the folder and is ignored."""
    row = db.execute(
        "select max(last_seen_at) from project_marks where kind = 'root_commit' and project = ?", (location.project,)
    ).fetchone()
    if not location.commit:
        return
    repository = open_repository(location.root)
    known = marks(db, location.project, "root_commit")
    is_recent = row[0] and at - text_to_time(row[0]) < _ROOT_EVERY
    if repository is None or (is_recent and (not known or repository.has_any(known) is not False)):
        return
    if not repository.is_shallow() and repository.commit_time(location.commit) is not None:
        put_mark(db, "root_commit", repository.root_commit(location.commit), location.project, at)


def put_mark(db: sqlite3.Connection, kind: MarkKind, value: str, project: str, at: datetime) -> None:
    db.execute(
        """insert into project_marks (kind, value, project, last_seen_at) values (:kind, :value, :project, :at)
           on conflict do update set last_seen_at = max(last_seen_at, excluded.last_seen_at)""",
        {"kind": kind, "value": value, "project": project, "at": time_to_text(at)},
    )


def marks(db: sqlite3.Connection, project: str, kind: MarkKind) -> list[str]:
    """Return the values of one kind of mark, the last seen first."""
    rows = db.execute(
        """select value from project_marks where project = ? and kind = ? and value <> ''
           order by last_seen_at desc, value""",
        (project, kind),
    )
    return [row["value"] for row in rows]


def owner(db: sqlite3.Connection, kinds: tuple[MarkKind, ...], value: str) -> str:
    """Return the project that a mark leads to, or ''. The id of a project that only memories mention counts as a
    mark."""
    if not value:
        return ""
    row = db.execute(
        f"""select project from project_marks where kind in ({", ".join("?" for _ in kinds)}) and value = ?
            order by kind = 'former_path', last_seen_at desc limit 1""",
        (*kinds, value),
    ).fetchone()
    if row is None:
        row = db.execute(
            """select id as project from projects where id = :value and not exists (
                 select 1 from project_marks where project = :value and kind in ('remote', 'path'))""",
            {"value": value},
        ).fetchone()
    return str(row["project"]) if row else ""


def remotes(db: sqlite3.Connection) -> dict[str, str]:
    """Return the project of every known remote, the last seen project for a remote of several."""
    rows = db.execute(
        "select value, project from project_marks where kind = 'remote' and value <> '' order by last_seen_at"
    )
    return {row["value"]: row["project"] for row in rows}


def is_known(db: sqlite3.Connection, project: str) -> bool:
    """Return True if a project has this id."""
    return db.execute("select 1 from projects where id = ?", (project,)).fetchone() is not None


def current_id(db: sqlite3.Connection, project: str) -> str:
    """Return the current id of a project: a former id is a mark of the project that absorbed it."""
    if is_known(db, project):
        return project
    row = db.execute(
        """select project from project_marks where value = ? and kind in ('remote', 'path', 'former_path')
           order by kind = 'former_path' limit 1""",
        (project,),
    ).fetchone()
    return str(row["project"]) if row else project


def put_former_id(db: sqlite3.Connection, former: str, project: str, at: datetime) -> None:
    """Record a former id of a project as a mark: an id is a remote or a folder of its time."""
    put_mark(db, "former_path" if former.startswith("/") else "remote", former, project, at)


def former_ids(db: sqlite3.Connection, project: str) -> list[str]:
    """Return possible former ids of parts of a project: an id is the remote or the folder of its time."""
    rows = db.execute(
        """select distinct value from project_marks
           where project = :project and kind in ('remote', 'path', 'former_path') and value <> :project""",
        {"project": project},
    )
    return [row["value"] for row in rows]


def forget(db: sqlite3.Connection, project: str) -> None:
    """Remove all marks of a project."""
    db.execute("delete from project_marks where project = ?", (project,))
