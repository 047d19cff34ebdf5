"""Whether the work of a branch is in another line of history although its commits are not: by squash or rebase."""

import heapq
import time
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from math import inf

from claude_mem_lite.code.git.commits import CLOCK_SLACK_S, Ancestry, Commits
from claude_mem_lite.code.git.objects import Objects
from claude_mem_lite.code.git.trees import Changes, Trees

_MAX_OWN = 2_000
_MAX_STEPS = 100
_MAX_CANDIDATES = 2_000
_LARGEST_TEXT_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Fork:
    """Where two lines of history part, and what one of them has of its own, newest first."""

    base: str
    own: tuple[str, ...]
    begun: int
    """When the first of these was committed, in seconds since 1970; 0 when there is none."""


class _Likeness(Enum):
    """How far a change of one file is the same as another."""

    SAME = 1
    ALIKE = 2
    """Some lines are the same: it may be the same work with changes, as a review asks for them."""
    DIFFERENT = 3
    UNREADABLE = 4
    """Too large to compare, or not here."""
    NONE = 5
    """The file is left as it was."""


def find_fork(commits: Commits, head: Ancestry, tip: str, deadline: float) -> Fork | None:
    """The newest commit that a tip shares with a head; None when that cannot be told. '' when they share nothing."""
    first = commits.get(tip)
    if first is None:
        return None
    left, seen = [(-first.time, tip)], {tip}
    base, own, begun = "", list[str](), inf
    while left:
        when, id_ = heapq.heappop(left)
        shared = head.reaches(id_, deadline)
        if shared is None or len(own) >= _MAX_OWN:
            return None
        if shared:
            base = base or id_
            continue
        own.append(id_)
        begun = min(begun, -when)
        commit = commits.get(id_)
        for parent in commit.parents if commit else ():
            if time.monotonic() > deadline:
                return None
            found = commits.get(parent)
            if found is not None and parent not in seen:
                seen.add(parent)
                heapq.heappush(left, (-found.time, parent))
    return Fork(base, tuple(own), int(begun) if own else 0)


class Work:
    """Compares what commits do, whatever they are called.

    The work of a branch is in a head when one commit there does all that the branch does since it parted (a squash),
    or when for every commit of the branch that is no merge there is one that does the same (a rebase, cherry-picks).
    A commit does the same when it leaves each of the branch's files as the branch does, or adds and removes the same
    lines in it: the file may have been changed by others before. It may touch more files, because a changelog or a
    version is often added on the way, and what else it does takes nothing away from the work that is compared.
    A file that cannot be compared, such as a large lock file, says nothing if another one does the same. Where a
    commit does much the same, with changes as a review asks for them, it cannot be told.
    A branch that in the end changes nothing has no work that could be found."""

    def __init__(self, objects: Objects, commits: Commits, trees: Trees) -> None:
        self._objects = objects
        self._commits = commits
        self._trees = trees

    def is_in(self, head: Ancestry, tip: str, deadline: float) -> bool | None:
        """Whether the work of a tip is in a head; None when that cannot be told, or not in time."""
        fork = find_fork(self._commits, head, tip, deadline)
        if fork is None:
            return None
        if not fork.own:
            return False
        if not fork.base:
            return None if head.cut_off else False
        whole = self._between((fork.base,), tip, deadline)
        steps = self._steps(fork.own, deadline)
        candidates = self._candidates(head, fork, deadline)
        if whole is None or steps is None or candidates is None:
            return None
        return self._is_done(whole, steps, candidates, Ancestry(self._commits, [fork.base]), deadline)

    def _is_done(
        self, whole: Changes, steps: list[Changes], candidates: list[str], before: Ancestry, deadline: float
    ) -> bool | None:
        """Whether some candidates do the whole, or all of its steps. What was there before it began does not count."""
        missing, unsure = list(steps), list[Changes]()
        for id_ in candidates[:_MAX_CANDIDATES] if whole else ():
            done = self._done_by(id_, [whole, *missing], deadline)
            if done is None:
                return None
            if not any(done.values()) or before.reaches(id_, deadline):
                continue
            missing = [step for step in missing if step not in done[_Likeness.SAME]]
            if whole in done[_Likeness.SAME] or (steps and not missing):
                return True
            unsure += done[_Likeness.ALIKE]
        is_unsure = whole in unsure or (steps and all(step in unsure for step in missing))
        return None if is_unsure or (whole and len(candidates) > _MAX_CANDIDATES) else False

    def _steps(self, own: tuple[str, ...], deadline: float) -> list[Changes] | None:
        """What each commit of a branch does, without merges; nothing when they are too many to look for."""
        steps: list[Changes] = []
        for id_ in own:
            commit = self._commits.get(id_)
            if commit is None or len(commit.parents) > 1:
                continue
            changes = self._between(commit.parents, id_, deadline)
            if changes is None:
                return None
            if len(steps) == _MAX_STEPS:
                return []
            if changes:
                steps.append(changes)
        return steps

    def _candidates(self, head: Ancestry, fork: Fork, deadline: float) -> list[str] | None:
        """Commits of a head that may repeat those of a branch: a copy is made later than what it copies.

        Those after the newest of the branch come first, because that is when branches are merged."""
        base, newest = self._commits.get(fork.base), self._commits.get(fork.own[0])
        if base is None or newest is None:
            return None
        ended = max(base.time, newest.time - CLOCK_SLACK_S)
        after, later = head.since(base.time, deadline), head.since(ended, deadline)
        if after is None or later is None:
            return None
        return [*later, *after[: len(after) - len(later)]]

    def _done_by(self, id_: str, wanted: list[Changes], deadline: float) -> dict[_Likeness, list[Changes]] | None:
        """Which of these changes a commit makes, among others, and which it may be making; None: no time to tell."""
        done: dict[_Likeness, list[Changes]] = {_Likeness.SAME: [], _Likeness.ALIKE: []}
        if time.monotonic() > deadline:
            return None
        commit = self._commits.get(id_)
        parent = self._commits.get(commit.parents[0]) if commit and len(commit.parents) == 1 else None
        if commit is None or parent is None:
            return done
        old, new = self._trees.get(parent.tree), self._trees.get(commit.tree)
        if old is None or new is None:
            return done
        touched = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
        for changes in wanted:
            if all(path.partition("/")[0] in touched for path in changes):
                likeness = self._likeness(changes, parent.tree, commit.tree, deadline)
                if likeness is None:
                    return None
                if likeness in done:
                    done[likeness].append(changes)
        return done

    def _likeness(self, changes: Changes, before: str, after: str, deadline: float) -> _Likeness | None:
        """How far changes are made between two trees; None when there was no time to tell."""
        found: set[_Likeness] = set()
        for path, ids in changes.items():
            if time.monotonic() > deadline:
                return None
            found.add(self._likeness_of_file(path, ids, before, after, deadline))
            if _Likeness.NONE in found:
                return _Likeness.NONE
        if found <= {_Likeness.SAME, _Likeness.UNREADABLE} and _Likeness.SAME in found:
            return _Likeness.SAME
        return _Likeness.DIFFERENT if _Likeness.DIFFERENT in found and len(found) == 1 else _Likeness.ALIKE

    def _likeness_of_file(
        self, path: str, wanted: tuple[str, str], before: str, after: str, deadline: float
    ) -> _Likeness:
        """Whether a change between two trees leaves a file the same, or adds and removes the same lines."""
        old, new = self._trees.find(before, path, deadline), self._trees.find(after, path, deadline)
        if old is None or new is None:
            return _Likeness.UNREADABLE
        if old == new or bool(new) != bool(wanted[1]):
            return _Likeness.NONE
        if new == wanted[1]:
            return _Likeness.SAME
        one, other = self._line_changes(old, new), self._line_changes(*wanted)
        if one is None or other is None:
            return _Likeness.UNREADABLE
        if one == other and any(one):
            return _Likeness.SAME
        shared = (line for made, meant in zip(one, other, strict=True) for line in made.keys() & meant.keys())
        return _Likeness.ALIKE if any(line.strip() for line in shared) else _Likeness.DIFFERENT

    def _line_changes(self, old: str, new: str) -> tuple[Counter[bytes], Counter[bytes]] | None:
        texts = [self._objects.blob(id_, _LARGEST_TEXT_BYTES) if id_ else b"" for id_ in (old, new)]
        if texts[0] is None or texts[1] is None:
            return None
        before, after = Counter(texts[0].split(b"\n")), Counter(texts[1].split(b"\n"))
        return after - before, before - after

    def _between(self, parents: tuple[str, ...], id_: str, deadline: float) -> Changes | None:
        """What changes from the first of some commits, or from nothing, to another."""
        before = self._commits.get(parents[0]) if parents else None
        after = self._commits.get(id_)
        if after is None or (parents and before is None):
            return None
        return self._trees.changes(before.tree if before else "", after.tree, deadline)
