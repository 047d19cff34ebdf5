"""Evidence that a repository is the one of a project: its git folder, and the commits it has. Asked by
`projects.identify`; reads only."""

import os
import sqlite3
from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from claude_mem_lite.code.git.checkout import folder_identity
from claude_mem_lite.code.git.repository import Repository, open_repository
from claude_mem_lite.models import Place
from claude_mem_lite.store.projects.marks import marks

_MAX_COMMITS = 50
# Each is looked up in the repository, within 0.1 ms.
_MAX_HOMELESS = 200


class Evidence:
    """What the repository of a place proves about projects; opened when first asked."""

    def __init__(self, db: sqlite3.Connection, place: Place) -> None:
        self._db = db
        self._place = place

    @cached_property
    def repository(self) -> Repository | None:
        return open_repository(self._place.root)

    def holds(self, project: str, *, by_sessions: bool = False) -> bool | None:
        """Return whether the repository has a root commit of a project, or, while none is known and `by_sessions`, one
        that its sessions stood on; None when nothing tells, as without any commit. The git folder of the project holds
        its history, also when that was rewritten since."""
        if self.is_git_folder_of(project):
            return True
        known = marks(self._db, project, "root_commit")
        if not known and by_sessions:
            known = _commits_of_sessions(self._db, project)
        if not known or not self._place.commit or self.repository is None:
            return None
        return self.repository.has_any(known)

    def is_git_folder_of(self, project: str) -> bool:
        """Return whether the git folder here is one of a project, and not another one in its place."""
        return bool(self._place.git_folder) and self._place.git_folder in marks(self._db, project, "git_folder")

    def may_be(self, project: str) -> bool:
        """Return whether a remote may lead to a project: not from a repository that has other commits, or none at all
        where the project has some."""
        if not self._place.commit and marks(self._db, project, "root_commit"):
            return False
        return self.holds(project) is not False

    def may_join(self, project: str) -> bool:
        """Return whether nothing speaks against a project that a remote alone leads to; a shallow clone cannot tell."""
        return self.holds(project) is True or not marks(self._db, project, "root_commit")


def _commits_of_sessions(db: sqlite3.Connection, project: str) -> list[str]:
    """Return the commits that sessions of a project last stood on, the newest first."""
    rows = db.execute(
        """select commit_id from sessions where project = ? and commit_id <> ''
           group by commit_id order by max(last_event_at) desc limit ?""",
        (project, _MAX_COMMITS),
    )
    return [row["commit_id"] for row in rows]


def moved_here(db: sqlite3.Connection, place: Place, evidence: Evidence) -> str:
    """Return the one project whose folders are all gone and whose repository this is; '' when there is none."""
    if not place.commit or evidence.repository is None:
        return ""
    found = [
        project
        for project, commits in _homeless(db)
        if evidence.repository.has_any(commits)
        and evidence.holds(project) is not False
        and not (place.remote and marks(db, project, "remote"))
    ]
    return found[0] if len(found) == 1 else ""


def _homeless(db: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    """Yield the projects that stand in none of their folders, those last seen first, each with the commit that was last
    worked on there, or, when no session was, its root commits."""
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
        if commits and not any(_stands_in(path, commits, git_folders) for path in paths):
            yield project, commits


def _stands_in(path: str, commits: list[str], git_folders: list[str]) -> bool:
    """Return whether a folder is there and its repository may have commits of a project, or is one of its own."""
    if not os.path.isdir(path):
        return False
    repository = open_repository(path)
    if repository is None:
        return os.path.isfile(os.path.join(path, "HEAD"))  # a bare repository, which only worktrees are made of
    return repository.has_any(commits) is not False or folder_identity(repository.common) in git_folders
