"""Evidence that a repository belongs to a project: git folder and commits. Used by `lookup.identify`; reads only."""

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
# Each lookup in the repository takes up to 0.1 ms.
_MAX_HOMELESS = 200


class RepositoryEvidence:
    """Evidence of the repository of a place about projects. The repository is opened on first use."""

    def __init__(self, db: sqlite3.Connection, place: Place) -> None:
        self._db = db
        self._place = place

    @cached_property
    def repository(self) -> Repository | None:
        return open_repository(self._place.root)

    def holds(self, project: str, *, by_sessions: bool = False) -> bool | None:
        """Return True if the repository has a root commit of a project. While no root commit is known, `by_sessions`
        accepts a commit of the project's sessions. Return None without evidence, as in a repository without commits.
        The git folder of a project is evidence even if its history was rewritten."""
        if self.is_git_folder_of(project):
            return True
        known = marks(self._db, project, "root_commit")
        if not known and by_sessions:
            known = _commits_of_sessions(self._db, project)
        if not known or not self._place.commit or self.repository is None:
            return None
        return self.repository.has_any(known)

    def is_git_folder_of(self, project: str) -> bool:
        """Return True if the git folder of the place is a git folder of a project."""
        return bool(self._place.git_folder) and self._place.git_folder in marks(self._db, project, "git_folder")

    def may_be(self, project: str) -> bool:
        """Return True if a remote may lead to a project: not from a repository with other commits, or without
        commits where the project has some."""
        if not self._place.commit and marks(self._db, project, "root_commit"):
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


def moved_repository(db: sqlite3.Connection, place: Place, evidence: RepositoryEvidence) -> str:
    """Return the single project without existing folders that belongs to this repository, or ''."""
    if not place.commit or evidence.repository is None:
        return ""
    projects = [
        project
        for project, commits in _homeless(db)
        if evidence.repository.has_any(commits)
        and evidence.holds(project) is not False
        and not (place.remote and marks(db, project, "remote"))
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
