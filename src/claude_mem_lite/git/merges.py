"""Whether the work of a branch is in another line of history although its commits are not: by squash or rebase."""

import heapq
import time
from collections import Counter
from dataclasses import dataclass

from claude_mem_lite.git.commits import CLOCK_SLACK_S, Ancestry, Commits
from claude_mem_lite.git.objects import Objects
from claude_mem_lite.git.trees import Changes, Trees

_MOST_OWN = 2_000
_MOST_STEPS = 100
_MOST_CANDIDATES = 2_000
_LARGEST_TEXT_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Fork:
    """Where two lines of history part, and what one of them has of its own, newest first."""

    base: str
    own: tuple[str, ...]


def find_fork(commits: Commits, head: Ancestry, tip: str, deadline: float) -> Fork | None:
    """The newest commit that a tip shares with a head; None when that cannot be told. '' when they share nothing."""
    first = commits.get(tip)
    if first is None:
        return None
    left, seen = [(-first.time, tip)], {tip}
    base, own = "", list[str]()
    while left:
        _, id_ = heapq.heappop(left)
        shared = head.reaches(id_, deadline)
        if shared is None or len(own) >= _MOST_OWN:
            return None
        if shared:
            base = base or id_
            continue
        own.append(id_)
        commit = commits.get(id_)
        for parent in commit.parents if commit else ():
            found = commits.get(parent)
            if found is not None and parent not in seen:
                seen.add(parent)
                heapq.heappush(left, (-found.time, parent))
    return Fork(base, tuple(own))


class Work:
    """Compares what commits do, whatever they are called.

    The work of a branch is in a head when one commit there does all that the branch does since it parted (a squash),
    or when for every commit of the branch that is no merge there is one that does the same (a rebase, cherry-picks).
    A commit does the same when it leaves each of the branch's files as the branch does, or adds and removes the same
    lines in it: the file may have been changed by others before. It may touch more files, because a changelog or a
    version is often added on the way, and what else it does takes nothing away from the work that is compared.
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
        missing = list(steps)
        for id_ in candidates if whole else ():
            if time.monotonic() > deadline:
                return None
            done = self._done_by(id_, [whole, *missing])
            if not done or before.reaches(id_, deadline):
                continue
            missing = [step for step in missing if step not in done]
            if whole in done or (steps and not missing):
                return True
        return False

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
            if len(steps) == _MOST_STEPS:
                return []
            if changes:
                steps.append(changes)
        return steps

    def _candidates(self, head: Ancestry, fork: Fork, deadline: float) -> list[str] | None:
        """Commits of a head that may repeat those of a branch: a copy is made later than what it copies.

        Those after the newest of the branch come first, because that is when branches are merged."""
        times = {id_: commit.time for id_ in (fork.base, *fork.own) if (commit := self._commits.get(id_))}
        begun = max(times.get(fork.base, 0), min(times.values(), default=0) - CLOCK_SLACK_S)
        ended = max(begun, times.get(fork.own[0], 0) - CLOCK_SLACK_S)
        after, later = head.since(begun, deadline), head.since(ended, deadline)
        if after is None or later is None:
            return None
        return [*later, *after[: len(after) - len(later)]][:_MOST_CANDIDATES]

    def _done_by(self, id_: str, wanted: list[Changes]) -> list[Changes]:
        """Which of these changes a commit makes, among others."""
        commit = self._commits.get(id_)
        parent = self._commits.get(commit.parents[0]) if commit and len(commit.parents) == 1 else None
        if commit is None or parent is None:
            return []
        old, new = self._trees.get(parent.tree), self._trees.get(commit.tree)
        if old is None or new is None:
            return []
        touched = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
        return [
            changes
            for changes in wanted
            if all(path.partition("/")[0] in touched for path in changes)
            and all(self._does(ids, path, parent.tree, commit.tree) for path, ids in changes.items())
        ]

    def _does(self, wanted: tuple[str, str], path: str, before: str, after: str) -> bool:
        """Whether the change of one file is made between two trees."""
        old, new = self._trees.find(before, path), self._trees.find(after, path)
        if old is None or new is None or old == new:
            return False
        return new == wanted[1] or self._has_same_lines((old, new), wanted)

    def _has_same_lines(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether two changes of a file add and remove the same lines."""
        if bool(one[1]) != bool(other[1]):
            return False
        old, new = (self._line_changes(*ids) for ids in (one, other))
        return old is not None and old == new and any(old)

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
