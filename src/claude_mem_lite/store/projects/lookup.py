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
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from itertools import islice

from claude_mem_lite.code.git.project_identity import find_location, normalise_remote
from claude_mem_lite.code.git.refs import folder_identity
from claude_mem_lite.code.git.repository import Repository, open_repository
from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.models import Location
from claude_mem_lite.scopes import project_name
from claude_mem_lite.store.projects import change_log
from claude_mem_lite.store.projects.marks import current_id, is_known, marks, owner, put_former_id
from claude_mem_lite.store.projects.rows import is_empty, listed_projects
from claude_mem_lite.values import frozen

_MAX_COMMITS = 50
# Each lookup in the repository takes up to 0.1 ms.
_MAX_HOMELESS = 200
_MAX_NAMESAKES = 10_000


class RepositoryEvidence:
    """Evidence of the repository of a place about projects. The repository is opened on first use."""

    def __init__(self, db: sqlite3.Connection, location: Location) -> None:
        self._db = db
        self._location = location

    @cached_property
    def repository(self) -> Repository | None:
        return open_repository(self._location.root)

    def holds(self, project: str, *, by_sessions: bool = False) -> bool | None:
        """Return True if the repository has a root commit of a project. While no root commit is known, `by_sessions`
        accepts a commit of the project's sessions. Return None without evidence, as in a repository without commits.
        The git folder of a project is evidence even if its history was rewritten."""
        if self.is_git_folder_of(project):
            return True
        known = marks(self._db, project, "root_commit")
        if not known and by_sessions:
            known = _commits_of_sessions(self._db, project)
        if not known or not self._location.commit or self.repository is None:
            return None
        return self.repository.has_any(known)

    def is_git_folder_of(self, project: str) -> bool:
        """Return True if the git folder of the place is a git folder of a project."""
        return bool(self._location.git_folder) and self._location.git_folder in marks(self._db, project, "git_folder")

    def may_be(self, project: str) -> bool:
        """Return True if a remote may lead to a project: not from a repository with other commits, or without
        commits where the project has some."""
        if not self._location.commit and marks(self._db, project, "root_commit"):
            return False
        return self.holds(project) is not False

    def may_join(self, project: str) -> bool:
        """Return True if nothing contradicts a project that only a remote leads to; a shallow clone is no evidence."""
        return self.holds(project) is True or not marks(self._db, project, "root_commit")


def _commits_of_sessions(db: sqlite3.Connection, project: str) -> list[str]:
    """Return the commits that sessions of a project last stood on, the newest first."""
    rows = db.execute(
        """select commit_id from sessions where project = ? and commit_id <> ''
           group by commit_id order by max(last_event_at) desc limit ?""",
        (project, _MAX_COMMITS),
    )
    return [row["commit_id"] for row in rows]


def moved_repository(db: sqlite3.Connection, location: Location, evidence: RepositoryEvidence) -> str:
    """Return the single project without existing folders that belongs to this repository, or ''."""
    if not location.commit or evidence.repository is None:
        return ""
    projects = [
        project
        for project, commits in _homeless(db)
        if evidence.repository.has_any(commits)
        and evidence.holds(project) is not False
        and not (location.remote and marks(db, project, "remote"))
    ]
    return projects[0] if len(projects) == 1 else ""


def _homeless(db: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    """Yield the projects that exist in none of their folders, those last seen first, each with the last commit of
    its sessions or, without sessions, its root commits."""
    folders: dict[str, list[str]] = {}
    query = """select project, value, kind from project_marks where kind in ('path', 'former_path')
               order by last_seen_at desc"""
    for row in db.execute(query):
        known = folders.setdefault(row["project"], [])
        if row["kind"] == "path":
            known.append(row["value"])
    for project, paths in islice(folders.items(), _MAX_HOMELESS):
        commits = _commits_of_sessions(db, project)[:1] or marks(db, project, "root_commit")
        git_folders = marks(db, project, "git_folder")
        if commits and not any(_exists_in(path, commits, git_folders) for path in paths):
            yield project, commits


def _exists_in(path: str, commits: list[str], git_folders: list[str]) -> bool:
    """Return True if a folder exists and its repository may have commits of a project, or is a git folder of the
    project."""
    if not os.path.isdir(path):
        return False
    repository = open_repository(path)
    if repository is None:
        return os.path.isfile(os.path.join(path, "HEAD"))  # a bare repository, used for worktrees only
    return repository.has_any(commits) is not False or folder_identity(repository.common) in git_folders


@frozen
class Identity:
    """Project of a location."""

    project: str
    joins: str = ""
    """Another project that turned out to be the same project, or ''."""


def locate(db: sqlite3.Connection, folder: str) -> Location:
    """Return the location of a folder, with the project that its marks lead to."""
    return recognise(db, find_location(folder))


def recognise(db: sqlite3.Connection, location: Location) -> Location:
    """Return the location with the id and name of the project that its marks lead to."""
    project = identify(db, location).project
    return replace(location, project=project, name=name_of(db, project) or location.name)


def name_of(db: sqlite3.Connection, project: str) -> str:
    """Return the name of a project; '' if unknown."""
    row = db.execute("select name from projects where id = ?", (project,)).fetchone()
    return str(row["name"]) if row else ""


def root_of(db: sqlite3.Connection, project: str) -> str:
    """Return the folder in which a project was last seen; '' if unknown."""
    row = db.execute("select root from projects where id = ?", (project,)).fetchone()
    return str(row["root"]) if row else ""


def location_of(db: sqlite3.Connection, project: str) -> Location:
    """Return the last working location of a project by its id. The folder may be gone, or belong to another project by
    now. A project that only memories mention has no folder."""
    row = db.execute("select name, root from projects where id = ?", (project,)).fetchone()
    name, root = (row["name"], row["root"]) if row else (project_name(project), "")
    if not root:
        return Location(project, name, "")
    return replace(find_location(root), project=project, name=name)


def identify(db: sqlite3.Connection, location: Location) -> Identity:
    """Return the project of a place by the rules above. The result is stable until new marks are recorded."""
    if not location.path:  # no folder at all: a project of its own
        return Identity(location.project)
    evidence = RepositoryEvidence(db, location)
    by_path = owner(db, ("path",) if os.path.isdir(location.path) else ("path", "former_path"), location.path)
    by_remote = owner(db, ("remote",), location.remote)
    if by_path and by_path == by_remote:
        return Identity(by_path)
    if by_path and evidence.holds(by_path, by_sessions=True) is False:
        by_path = ""
    if by_remote and not evidence.may_be(by_remote):
        by_remote = ""
    if not by_path:
        by_path = owner(db, ("git_folder",), location.git_folder)
    if not by_path and (former := owner(db, ("former_path",), location.path)) and evidence.holds(former) is True:
        by_path = former
    if by_path and by_remote and by_path != by_remote:
        if change_log.are_parted(db, by_path, by_remote):
            return Identity(by_path)
        joins = not _has_other_folder(db, by_path, location.path) and evidence.may_join(by_remote)
        return Identity(by_remote, by_path if joins else "")
    return Identity(by_remote or by_path or moved_repository(db, location, evidence) or new_id(db, location.project))


def adopt(db: sqlite3.Connection, id_: str, root: str, at: datetime) -> str:
    """Return the project of imported data: by the folder, if the id was derived from the folder, else by the id. The
    id leads to the project from now on."""
    location = find_location(root)
    project = recognise(db, location).project if location.project == id_ else current_id(db, id_)
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
        last = ", ".join(dict.fromkeys(project.name for project in listed_projects(db, 5))) or "none yet"
        raise NotFound(
            f"there is {what} {text or repr(text)}", f"the last ones are {last}; `claude-mem-lite projects` lists all"
        )
    return candidates[0]


def _has_other_folder(db: sqlite3.Connection, project: str, path: str) -> bool:
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
