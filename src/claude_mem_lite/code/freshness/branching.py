"""Which branches' work is in a checkout, and what becomes of the memories of those that are merged or gone."""

import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from datetime import datetime

from claude_mem_lite.code.freshness.branch_visibility import Look, look
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.commit_memo import CommitAnswers
from claude_mem_lite.code.freshness.verdicts import is_mostly_here
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Place
from claude_mem_lite.store import branches, memory_queries, retirements, sessions

_MEMORIES_OF_A_BRANCH = 10


class Branching:
    """Looks at the branches of repositories, for any thread: what it keeps are answers about commits, and names."""

    def __init__(self, cache: CodeCache) -> None:
        self._cache = cache
        self._answers = CommitAnswers()
        self._lock = threading.Lock()
        self._named: dict[str, frozenset[str]] = {}

    def note(self, project: str, names: Iterable[str]) -> None:
        """Those branches have active memories."""
        with self._lock:
            self._named[project] = frozenset(names)

    def clear(self) -> None:
        """Know of no branch any more but those that the database tells of."""
        with self._lock:
            self._named.clear()

    def look(
        self,
        db: sqlite3.Connection,
        place: Place,
        repository: Repository,
        now: datetime,
        deadline: float,
        others: Sequence[Repository] = (),
    ) -> Look:
        """How the branches stand that anything was made on, as seen from a checkout.

        `others` are the repositories of the project's other checkouts: what is a branch in one of them is not gone."""
        known = branches.of_project(db, place.project)
        with self._lock:
            named = self._named.get(place.project, frozenset())
        # The newest first: if time runs out, nothing is hidden of which it is not known.
        names = dict.fromkeys((*sessions.branches(db, place.project), *named, *(row.name for row in known)))

        def is_here(branch: str) -> bool | None:
            if time.monotonic() >= deadline:
                return None
            made = memory_queries.newest_of_branch(db, place.project, branch, _MEMORIES_OF_A_BRANCH)
            found = is_mostly_here(self._cache, place.root, made, deadline)
            return None if found is False and any(_has_branch(other, branch) for other in others) else found

        return look(known, list(names), repository, now, deadline, is_here, self._answers)


def _has_branch(repository: Repository, name: str) -> bool:
    elsewhere = (other.partition("/")[2] for other in repository.remote_branches())
    return name in repository.branches() or name in elsewhere


def store_branches(db: sqlite3.Connection, project: str, found: Look, now: datetime) -> bool:
    """Store how branches stand; retire what was made on those that are gone, revive what is merged or back.

    Returns whether any memory is another now."""
    changed = False
    with atomic(db):
        branches.put(db, project, found.rows)
        merged_at = {row.name: row.merged_at for row in found.rows}
        for name in found.gone:
            for id_ in retirements.retirable(db, project, name, since=merged_at.get(name)):
                changed |= retirements.retire(db, id_, "branch", f"its branch {name} is gone, unmerged", now, name)
        for name in (*found.merged, *found.came_back):
            for id_ in retirements.of_branch(db, project, name):
                changed |= retirements.revive(db, id_)
    return changed
