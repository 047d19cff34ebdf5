"""Lookup of the project of a folder, a name or a remote. Reads only; `marks.note` records the marks.

A project keeps the first id. The marks of a project are remotes, folders, git folders and root commits. When one mark
changes, the other marks still lead to the same project.

Rules, in this order:
1. A folder and a remote that lead to the same project are trusted, whatever became of the history.
2. A folder or a remote alone leads to a project, unless the repository has none of the root commits of the project
   and the git folder differs: then a namesake has taken the location, and is a project of its own. A repository
   without commits proves nothing: its remote leads to no project that has a root commit.
3. Where folder and remote lead to two projects, the project of the remote wins. The project of the folder joins the
   other, unless the folder is one of several, see `Identity.joins`. Projects that the user split stay separate.
4. A git folder leads to a project where no folder does. So does a former folder that exists again, if the
   repository has a root commit of the project.
5. A repository at an unknown folder is the project that exists in none of its folders any more, if the repository has
   the last commit of its sessions. A repository with a remote is not a project that has other remotes.
6. Everything else is a new project."""

import os
import shlex
import sqlite3
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.code.git.project_identity import find_place, normalise_remote
from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.models import Place
from claude_mem_lite.scopes import project_name
from claude_mem_lite.store.projects import change_log
from claude_mem_lite.store.projects.evidence import RepositoryEvidence, moved_repository
from claude_mem_lite.store.projects.listing import is_empty, listed
from claude_mem_lite.store.projects.marks import MarkKind, current_id, is_known, marks, owner, put_former_id

_MAX_NAMESAKES = 10_000


@dataclass(frozen=True, slots=True)
class Identity:
    """Project of a place."""

    project: str
    joins: str = ""
    """Another project that turned out to be the same project, or ''."""


def locate(db: sqlite3.Connection, folder: str) -> Place:
    """Return the place of a folder, with the project that its marks lead to."""
    return recognise(db, find_place(folder))


def recognise(db: sqlite3.Connection, place: Place) -> Place:
    """Return the place with the id and name of the project that its marks lead to."""
    project = identify(db, place).project
    return replace(place, project=project, name=name_of(db, project) or place.name)


def name_of(db: sqlite3.Connection, project: str) -> str:
    """Return the name of a project; '' if unknown."""
    row = db.execute("select name from projects where id = ?", (project,)).fetchone()
    return str(row["name"]) if row else ""


def place_of(db: sqlite3.Connection, project: str) -> Place:
    """Return the last working place of a project by its id. The folder may be gone, or belong to another project by
    now. A project that only memories mention has no folder."""
    row = db.execute("select name, root from projects where id = ?", (project,)).fetchone()
    name, root = (row["name"], row["root"]) if row else (project_name(project), "")
    if not root:
        return Place(project, name, "")
    return replace(find_place(root), project=project, name=name)


def identify(db: sqlite3.Connection, place: Place) -> Identity:
    """Return the project of a place by the rules above. The result is stable until new marks are recorded."""
    if not place.path:  # no folder at all: a project of its own
        return Identity(place.project)
    evidence = RepositoryEvidence(db, place)
    by_path = owner(db, _path_kinds(place.path), place.path)
    by_remote = owner(db, ("remote",), place.remote)
    if by_path and by_path == by_remote:
        return Identity(by_path)
    if by_path and evidence.holds(by_path, by_sessions=True) is False:
        by_path = ""
    if by_remote and not evidence.may_be(by_remote):
        by_remote = ""
    if not by_path:
        by_path = owner(db, ("git_folder",), place.git_folder)
    if not by_path and (former := owner(db, ("former_path",), place.path)) and evidence.holds(former) is True:
        by_path = former
    if by_path and by_remote and by_path != by_remote:
        if change_log.are_parted(db, by_path, by_remote):
            return Identity(by_path)
        joins = not _has_other_folder(db, by_path, place.path) and evidence.may_join(by_remote)
        return Identity(by_remote, by_path if joins else "")
    return Identity(by_remote or by_path or moved_repository(db, place, evidence) or new_id(db, place.project))


def adopt(db: sqlite3.Connection, id_: str, root: str, at: datetime) -> str:
    """Return the project of imported data: by the folder, if the id was derived from the folder, else by the id. The
    id leads to the project from now on."""
    place = find_place(root)
    project = recognise(db, place).project if place.project == id_ else current_id(db, id_)
    if project != id_ and current_id(db, id_) == id_:
        put_former_id(db, id_, project, at)
    return project


def find(db: sqlite3.Connection, text: str) -> str:
    """Return the id of a project as `named` does, or by any folder inside the project."""
    if os.path.isabs(text) and current_id(db, text) == text:
        located = locate(db, text).project
        if is_known(db, located):
            return located
    return named(db, text)


def named(db: sqlite3.Connection, text: str) -> str:
    """Return the id of a project by its id, a folder, a remote as git prints or as we store it, or a unique name.

    Among projects of the same name, a project with content takes precedence over empty ones."""
    for written in filter(None, (text, normalise_remote(text))):
        known = current_id(db, written)
        if is_known(db, known):
            return known
    rows = db.execute(
        "select id from projects where name = ? collate nocase order by last_seen_at desc, id", (text,)
    ).fetchall()
    ids = [str(row["id"]) for row in rows]
    candidates = [project for project in ids if not is_empty(db, project)] or ids
    if len(candidates) > 1:
        merge = f"claude-mem-lite projects merge {shlex.quote(candidates[1])} {shlex.quote(candidates[0])}"
        raise Ambiguous(
            f"{text} is the name of several projects",
            f"give one of their ids: {', '.join(candidates)}, or make them one: `{merge}`",
        )
    if not candidates:
        what = "no folder and no project" if os.path.isabs(text) else "no project"
        last = ", ".join(project.name for project in listed(db, 5)) or "none yet"
        raise NotFound(
            f"there is {what} {text or repr(text)}", f"the last ones are {last}; `claude-mem-lite projects` lists all"
        )
    return candidates[0]


def _path_kinds(path: str) -> tuple[MarkKind, ...]:
    return ("path",) if os.path.isdir(path) else ("path", "former_path")


def _has_other_folder(db: sqlite3.Connection, project: str, path: str) -> bool:
    """Return True if a project has another existing folder."""
    return any(folder != path and os.path.isdir(folder) for folder in marks(db, project, "path"))


def new_id(db: sqlite3.Connection, preferred: str, *, besides: str = "") -> str:
    """Return an unused project id, except that `besides` may use it: the preferred id, or the id with a number."""
    for number in range(1, _MAX_NAMESAKES):
        id_ = preferred if number == 1 else f"{preferred}#{number}"
        taken = db.execute(
            """select 1 from projects where id = :id union all
               select 1 from project_marks where project = :id
                 or (value = :id and kind in ('remote', 'path', 'former_path') and project <> :besides)""",
            {"id": id_, "besides": besides},
        )
        if taken.fetchone() is None:
            break
    return id_
