"""Which branches are merged, which are gone, and whose work is in a checkout. No database: rows in, rows out.

What is made on a branch is provisional: it is seen on that branch and where its commits or the same work are, holds
everywhere once the default branch has it, and nowhere once the branch is gone without that. Nothing is called merged
or gone without evidence: what cannot be told, for want of time or objects, stays as it was.

Which branches' work is in a checkout, and what becomes of the memories of those that are merged or gone."""

import sqlite3
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from claude_mem_lite.code.freshness.branch_state import BranchState, IsHere, Viewpoint, seen_from, state_of
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.commit_memo import CommitAnswers
from claude_mem_lite.code.freshness.verdicts import is_mostly_here
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Place
from claude_mem_lite.store import branches, memory_queries, retirements, sessions
from claude_mem_lite.store.branches import Branch, Hidden


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a repository found."""

    hidden: Hidden = ()
    """Which branches' work is not here: memories made on them after a moment (None: all of them)."""
    rows: tuple[Branch, ...] = ()
    """Branches that are new or stand otherwise than they are known to, to be stored."""
    merged: tuple[str, ...] = ()
    """What was made on them up to now holds everywhere from now on, also what was retired when they were gone."""
    gone: tuple[str, ...] = ()
    """What was made on them after `merged_at` of their rows holds no longer."""
    came_back: tuple[str, ...] = ()
    """Those that were gone and are there again with all their work."""
    lacked_time: bool = False
    """Whether more could be told with more time."""


def look(
    known: Sequence[Branch],
    names: Sequence[str],
    repository: Repository,
    now: datetime,
    deadline: float,
    is_here: IsHere,
    answers: CommitAnswers,
) -> Look:
    """How the branches stand that are known or have active memories (`names`), and whose work is not in this checkout.

    `is_here` says whether the code that a branch's memories tell of is in the working tree; it is asked of those that
    would be hidden or called gone. A branch that was never seen, neither now nor before, is never hidden."""
    view = seen_from(repository, answers, deadline) if known or names else None
    if view is None:
        return Look()
    ask = cache(is_here)
    rows = {row.name: row for row in known}
    every = (name for name in dict.fromkeys((*names, *rows)) if name not in ("", view.default))
    found = [state_of(view, name, rows.get(name), now, ask) for name in every]
    wanted = set(names)
    hidden = [_hidden(view, one, ask) for one in found if one.name in wanted]
    return Look(
        hidden=tuple(one for one in hidden if one is not None),
        rows=tuple(one.row for one in found if one.row is not None and one.row != rows.get(one.name)),
        merged=tuple(one.name for one in found if one.is_merged),
        gone=tuple(one.name for one in found if one.is_gone),
        came_back=tuple(one.name for one in found if one.came_back),
        lacked_time=view.asking.lacked_time,
    )


def _hidden(view: Viewpoint, found: BranchState, is_here: IsHere) -> tuple[str, datetime | None] | None:
    """Whether the work of a branch is not here, and from when on it is not."""
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
        until = view.asking.here_until(view.head, found.tip, view.trunk)
        if view.is_late() and (has_work is None or until is None):
            return None  # it may be here: to miss what is true is worse than to be told what is not yet
        here = datetime.fromtimestamp(until, UTC) if until else None
        since = max((moment for moment in (since, here) if moment), default=None)
    return None if is_here(found.name) else (found.name, since)


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
