"""Branches merged, gone or hidden, seen from a checkout, and the effects on memories.

A memory made on a branch is provisional. The memory is visible on the branch, and in checkouts with the branch's
commits or the same work. The memory is valid everywhere after the merge into the default branch, and nowhere after the
deletion of an unmerged branch. Merges and deletions need evidence: for want of time or objects, the recorded state
stays. `check_branches` works on rows, without a database; `store_branches` retires and revives memories."""

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from claude_mem_lite.code.freshness.branch_state import BranchState, IsHere, Viewpoint, state_of, view_from
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.commit_memo import CommitQueryCache
from claude_mem_lite.code.freshness.verdicts import is_mostly_here
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.models import Location
from claude_mem_lite.store import branches, memory_queries, retirements, sessions
from claude_mem_lite.store.branches import Branch, Hidden

_MEMORIES_OF_A_BRANCH = 10


@dataclass(frozen=True, slots=True)
class BranchFindings:
    """Findings about the branches of a repository."""

    hidden: Hidden = ()
    """Branches with work missing from the checkout: hides memories made after a time (None: all memories)."""
    rows: tuple[Branch, ...] = ()
    """New and changed rows, to be stored."""
    merged: tuple[str, ...] = ()
    """Branches found merged: all memories made up to now are valid everywhere, including memories retired with the
    branch."""
    gone: tuple[str, ...] = ()
    """Branches found gone: memories made after the row's `merged_at` are no longer valid."""
    came_back: tuple[str, ...] = ()
    """Deleted branches restored with all of their work."""
    lacked_time: bool = False
    """True if more time could give more findings."""


def check_branches(
    known: Sequence[Branch],
    names: Sequence[str],
    repository: Repository,
    now: datetime,
    deadline: Deadline,
    is_here: IsHere,
    answers: CommitQueryCache,
) -> BranchFindings:
    """Return the states of the known branches and of branches with active memories (`names`), and the hidden branches.

    `is_here` tells if the code of a branch's memories is in the working tree; only branches about to be hidden or
    declared gone are asked about. A branch never seen, neither now nor before, is never hidden."""
    view = view_from(repository, answers, deadline) if known or names else None
    if view is None:
        return BranchFindings()
    ask = cache(is_here)
    rows = {row.name: row for row in known}
    every = (name for name in dict.fromkeys((*names, *rows)) if name not in ("", view.default))
    found = [state_of(view, name, rows.get(name), now, ask) for name in every]
    requested = set(names)
    hidden = [_hidden_since(view, state, ask) for state in found if state.name in requested]
    return BranchFindings(
        hidden=tuple(branch for branch in hidden if branch is not None),
        rows=tuple(state.row for state in found if state.row is not None and state.row != rows.get(state.name)),
        merged=tuple(state.name for state in found if state.is_merged),
        gone=tuple(state.name for state in found if state.is_gone),
        came_back=tuple(state.name for state in found if state.came_back),
        lacked_time=view.queries.lacked_time,
    )


def _hidden_since(view: Viewpoint, found: BranchState, is_here: IsHere) -> tuple[str, datetime | None] | None:
    """Return the branch and the start of the hidden period, or None if the checkout has the work."""
    row = found.row
    if row is None or found.is_current:
        return None
    since = row.merged_at
    if since is not None and not row.ahead and row.gone_at is None:
        return (found.name, since) if found.is_there else None
    if row.ahead:
        has_work = view.has_work(view.head, found.tip)
        if has_work:
            return None
        until = view.queries.here_until(view.head, found.tip, view.trunk)
        if view.is_late() and (has_work is None or until is None):
            return None  # the work may be present: hiding a true memory is worse than showing a premature memory
        here = datetime.fromtimestamp(until, UTC) if until else None
        since = max((time_ for time_ in (since, here) if time_), default=None)
    return None if is_here(found.name) else (found.name, since)


class BranchTracker:
    """Branches of all repositories, for any thread. Caches commit queries and branch names."""

    def __init__(self, cache: CodeCache) -> None:
        self._cache = cache
        self._answers = CommitQueryCache()
        self._lock = threading.Lock()
        self._named: dict[str, frozenset[str]] = {}

    def note(self, project: str, names: Iterable[str]) -> None:
        """Record the branches with active memories."""
        with self._lock:
            self._named[project] = frozenset(names)

    def clear(self) -> None:
        """Drop the recorded branch names; the names in the database remain."""
        with self._lock:
            self._named.clear()

    def check_branches(
        self,
        db: sqlite3.Connection,
        location: Location,
        repository: Repository,
        now: datetime,
        deadline: Deadline,
        others: Sequence[Repository] = (),
    ) -> BranchFindings:
        """Return the states of all branches with memories, seen from a checkout.

        `others` are the repositories of the project's other checkouts: a branch present in any of them is not gone."""
        known = branches.of_project(db, location.project)
        with self._lock:
            named = self._named.get(location.project, frozenset())
        # Newest first: if time runs out, branches without a known state are not hidden.
        names = dict.fromkeys((*sessions.branches(db, location.project), *named, *(row.name for row in known)))

        def is_here(branch: str) -> bool | None:
            if deadline.is_past():
                return None
            made = memory_queries.newest_of_branch(db, location.project, branch, _MEMORIES_OF_A_BRANCH)
            found = is_mostly_here(self._cache, location.root, made, deadline)
            return None if found is False and any(_has_branch(checkout, branch) for checkout in others) else found

        return check_branches(known, list(names), repository, now, deadline, is_here, self._answers)


def _has_branch(repository: Repository, name: str) -> bool:
    remote = (branch.partition("/")[2] for branch in repository.remote_branches())
    return name in repository.branches() or name in remote


def store_branches(db: sqlite3.Connection, project: str, found: BranchFindings, now: datetime) -> bool:
    """Store the branch states, retire the memories of gone branches, and revive memories of merged and restored
    branches.

    Return True if any memory changed."""
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
