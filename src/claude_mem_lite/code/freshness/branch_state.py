"""State of one branch: ahead of the default branch, merged, gone, or unknown."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from claude_mem_lite.code.freshness.commit_memo import CommitQueries, CommitQueryCache
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.store.branches import Branch

IsHere = Callable[[str], bool | None]
"""Function to tell if the code of a branch's memories is in the working tree; None: unknown."""
_GONE_FOR_GOOD = timedelta(days=30)  # git drops unreachable commits after two weeks to a month
_MAX_HEADS = 5_000


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
