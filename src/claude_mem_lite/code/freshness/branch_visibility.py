"""Branches merged, gone or hidden, seen from a checkout, and the effects on memories.

A memory made on a branch is provisional. The memory is visible on the branch, and in checkouts with the branch's
commits or the same work. The memory is valid everywhere after the merge into the default branch, and nowhere after the
deletion of an unmerged branch. Merges and deletions need evidence: for want of time or objects, the recorded state
stays. `check_branches` works on rows, without a database; `store_branches` retires and revives memories."""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.commit_memo import CommitQueries, CommitQueryCache
from claude_mem_lite.code.freshness.verdicts import is_mostly_here
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.models import Location
from claude_mem_lite.store import branches, memory_queries, retirements, sessions
from claude_mem_lite.store.branches import Branch, Hidden
from claude_mem_lite.values import frozen

IsHere = Callable[[str], bool | None]
"""Function to tell if the code of a branch's memories is in the working tree; None: unknown."""
_GONE_FOR_GOOD = timedelta(days=30)  # git drops unreachable commits after two weeks to a month
_MAX_HEADS = 5_000


@frozen
class Viewpoint:
    """State of a checkout, with a deadline for questions."""

    repository: Repository
    queries: CommitQueries
    deadline: Deadline
    local: dict[str, str]
    remote: dict[str, str]
    branch: str
    """Branch checked out or under rebase."""
    head: str
    default: str
    trunk: str
    """Commit of the default branch."""

    def tip(self, name: str) -> str:
        """Return the commit of a branch, local or remote; '' if no such branch exists."""
        elsewhere = (commit for remote_name, commit in self.remote.items() if remote_name.partition("/")[2] == name)
        return self.local.get(name) or self.remote.get(f"origin/{name}") or next(elsewhere, "")

    def contains(self, head: str, tip: str) -> bool | None:
        return self.queries.contains((head,), tip)

    def has_same_work(self, head: str, tip: str) -> bool | None:
        return self.queries.has_same_work((head,), tip)

    def has_work(self, head: str, tip: str) -> bool | None:
        """Return True if a head has the work of a tip, in the same commits or in equivalent commits."""
        in_commits = self.contains(head, tip)
        in_others = in_commits or self.has_same_work(head, tip)
        return None if in_commits is None and not in_others else in_others

    def is_late(self) -> bool:
        """Return True if time has run out: an unknown answer may become known the next time."""
        return self.queries.lacked_time or self.deadline.is_past()


@frozen
class BranchState:
    """Findings about a branch."""

    name: str
    row: Branch | None = None
    """Updated database row; None if nothing is known, so the branch may have been merged long ago."""
    tip: str = ""
    """Present commit, or the last commit of a deleted branch."""
    is_current: bool = False
    is_there: bool = False
    is_merged: bool = False
    """True if this check found the merge; the following two fields likewise."""
    is_gone: bool = False
    came_back: bool = False


_MEMORIES_OF_A_BRANCH = 10


@frozen
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


def view_from(repository: Repository, answers: CommitQueryCache, deadline: Deadline) -> Viewpoint | None:
    """Return the view from a checkout, or None if HEAD or the default branch is unknown."""
    branch, head = repository.head()
    default = repository.default_branch()
    if not default or not (branch or head):
        return None
    local, remote = repository.branches(), repository.remote_branches()
    trunk = local.get(default) or remote.get(f"origin/{default}", "")
    at = branch or repository.rebased_branch()
    return Viewpoint(
        repository, answers.within(repository, deadline), deadline, local, remote, at, head, default, trunk
    )


def state_of(view: Viewpoint, name: str, row: Branch | None, now: datetime, is_here: IsHere) -> BranchState:
    """Return the state of a branch, followed through renames."""
    called = name if view.tip(name) else view.repository.renamed_to(name) or name
    is_current = view.branch in (name, called)
    if called == view.default:
        return BranchState(name)
    tip = view.tip(called)
    if tip:
        found = BranchState(name, row, tip, is_current, is_there=True)
        return _there(view, found, called, now)
    if row is None or is_current:  # never seen, or checked out without any commit
        return BranchState(name, row, is_current=is_current)
    return _missing(view, row, now, is_here)


def _there(view: Viewpoint, found: BranchState, called: str, now: datetime) -> BranchState:
    """Return the state of an existing branch."""
    row, tip, restored = found.row, found.tip, False
    if row is not None and called not in view.local and view.repository.commit_time(row.tip) is None:
        return found  # another clone of the project has newer work, not fetched into this clone
    if row is not None and row.gone_at is not None:
        has_it = row.ahead and view.has_work(tip, row.tip)
        if has_it is None:
            return found
        restored, again = has_it, replace(row, gone_at=None)
        # Without the old work, the branch is a new branch of the same name, never seen before.
        row = again if restored else replace(again, tip="", ahead=False, seen_at=row.gone_at)
    if row is not None and row.merged_at and not row.ahead and row.tip == tip:  # recorded before
        return found
    in_trunk = view.contains(view.trunk, tip)
    if in_trunk is None:
        return found
    is_merged = _had_own_commits(view, called, row, tip) if in_trunk else view.has_same_work(view.trunk, tip)
    if in_trunk and is_merged is None:
        return found
    if row is not None and not is_merged:
        begun = view.repository.created(called) if called in view.local else None
        merged_before = _with_merged_part(view, row, tip, begun, now)
        if merged_before is None:
            return found
        row = merged_before
    found = replace(found, came_back=restored)
    return _merged(found, now) if is_merged else replace(found, row=_moved(row, found.name, tip, not in_trunk, now))


def _missing(view: Viewpoint, row: Branch, now: datetime, is_here: IsHere) -> BranchState:
    """Return the state of a known branch after its deletion."""
    tip = _last_tip(view, row)
    found = BranchState(row.name, row, tip)
    is_known = row.merged_at is not None and not row.ahead and row.tip == tip and row.gone_at is None
    if is_known or (row.gone_at is not None and now - row.gone_at > _GONE_FOR_GOOD):
        return found
    in_trunk = view.contains(view.trunk, tip)
    if in_trunk is None:
        return found
    is_merged = _had_own_commits(view, row.name, row, tip) if in_trunk else view.has_same_work(view.trunk, tip)
    if is_merged:
        return _merged(found, now)
    if is_merged is None or row.gone_at is not None:
        return found
    merged_before = _with_merged_part(view, row, tip, None, now)
    if merged_before is None:
        return found
    row = _moved(merged_before, row.name, tip, row.ahead or not in_trunk, now)
    lives_on = _was_never_here(view, row) if in_trunk else _lives_on(view, tip)
    # Without evidence from code, the work may have been merged in any form: the branch is hidden, but not gone.
    if lives_on is not False or is_here(row.name) is not False:
        return replace(found, row=row)
    return replace(found, row=replace(row, gone_at=now), is_gone=True)


def _had_own_commits(view: Viewpoint, called: str, row: Branch | None, tip: str) -> bool | None:
    """Return True if a branch within the default branch got in by a merge since the last check.

    A new branch is within the default branch too, and so is a branch updated by fast-forward. None: unknown."""
    if row is not None and row.tip == tip:
        return row.ahead
    if row is not None and row.ahead and view.has_work(view.trunk, row.tip):
        return True
    on_first_line = view.repository.is_on_first_line(view.trunk, tip, view.deadline)
    if on_first_line is not True:
        return None if on_first_line is None else True
    made = view.repository.last_commit_made(called)
    if made is None:
        return None if row is None else True
    return made > 0 if row is None else made >= int(row.seen_at.timestamp())


def _last_tip(view: Viewpoint, row: Branch) -> str:
    """Return the last commit of a missing branch: the commit recorded, or a later commit from the logs."""
    tips = {tip: view.repository.commit_time(tip) for tip in (row.tip, view.repository.left_at(row.name)) if tip}
    times = {tip: time for tip, time in tips.items() if time is not None}
    return max(times, key=lambda tip: times[tip]) if times else row.tip


def _lives_on(view: Viewpoint, tip: str) -> bool | None:
    """Return True if another branch has the work of a missing branch: renamed, merged, squashed, or not pulled yet."""
    heads = tuple(sorted({*view.local.values(), *view.remote.values(), view.head} - {""}))
    if len(heads) > _MAX_HEADS:
        return None
    in_another = view.queries.contains(heads, tip)
    if in_another is not False:
        return in_another
    return view.queries.has_same_work(heads, tip)


def _was_never_here(view: Viewpoint, row: Branch) -> bool:
    """Return True if a branch without own commits may belong to another clone: HEAD was never on the branch in this
    clone."""
    return not view.repository.left_at(row.name)


def _with_merged_part(view: Viewpoint, row: Branch, tip: str, begun: int | None, now: datetime) -> Branch | None:
    """Return a row with the merge of the recorded commits, if the branch moved on or was recreated after the merge.

    None: time ran out. `begun`: time of the branch's creation, where known."""
    seen = view.repository.commit_time(row.tip)
    if not row.ahead or row.tip == tip or seen is None:
        return row
    was_merged = view.has_work(view.trunk, row.tip)
    if not was_merged:
        return None if was_merged is None and view.is_late() else row
    if begun is None or begun <= int(row.seen_at.timestamp()):
        begun = view.repository.parted_at(view.trunk, tip, view.deadline)
    # Memories older than the unmerged commits belong to the merged commits.
    until = now if begun is None else min(now, datetime.fromtimestamp(max(seen, begun), UTC))
    return replace(row, merged_at=max(until, row.merged_at or until), ahead=False)


def _merged(found: BranchState, now: datetime) -> BranchState:
    row = Branch(found.name, found.tip, ahead=False, seen_at=now, merged_at=now)
    return replace(found, row=row, is_merged=True)


def _moved(row: Branch | None, name: str, tip: str, ahead: bool, now: datetime) -> Branch:
    """Return the updated row; the same object if nothing changed."""
    if row is None:
        return Branch(name, tip, ahead, now)
    return row if (row.tip, row.ahead) == (tip, ahead) else replace(row, tip=tip, ahead=ahead, seen_at=now)
