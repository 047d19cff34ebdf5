"""Detection of squashes and rebases: the work of a branch is in another line of history, in other commits."""

import heapq
from collections import Counter
from enum import Enum
from math import inf

from claude_mem_lite.code.git.commits import CLOCK_SLACK_S, Ancestry, Changes, Commits, Trees
from claude_mem_lite.code.git.objects import Objects
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.values import frozen

_MAX_OWN = 2_000
_MAX_STEPS = 100
_MAX_CANDIDATES = 2_000
_LARGEST_TEXT_BYTES = 1024 * 1024


@frozen
class Fork:
    """Point where two lines of history part, with the commits only the second line has, newest first."""

    base: str
    own: tuple[str, ...]
    begun: int
    """Time of the first own commit, in seconds since 1970; 0 if the line has no own commits."""


class _Likeness(Enum):
    """Similarity of two changes to one file."""

    SAME = 1
    ALIKE = 2
    """Some lines are equal: possibly the same work, changed after a review."""
    DIFFERENT = 3
    UNREADABLE = 4
    """The content is too large to compare, or missing."""
    NONE = 5
    """The file is unchanged."""


def find_fork(commits: Commits, head: Ancestry, tip: str, deadline: Deadline) -> Fork | None:
    """Return the fork of a tip from a head, with base '' for unrelated histories. None: unknown."""
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
            if deadline.is_past():
                return None
            found = commits.get(parent)
            if found is not None and parent not in seen:
                seen.add(parent)
                heapq.heappush(left, (-found.time, parent))
    return Fork(base, tuple(own), int(begun) if own else 0)


class WorkComparison:
    """Comparison of commits by content, independent of their ids.

    The work of a branch is in a head if a single commit does all the branch does since the fork (a squash), or if every
    commit of the branch, merges aside, has an equal commit (a rebase, cherry-picks). Two commits are equal if both
    leave each of the branch's files in the same state, or add and remove the same lines: others may have changed the
    file before. The commit in the head may touch more files, because a changelog or a version is often added on the
    way.

    A file too large to compare, as a large lock file, is ignored if another file is equal. If a commit is only similar,
    as after a review, the answer is unknown. A branch with no net change has no work to find."""

    def __init__(self, objects: Objects, commits: Commits, trees: Trees) -> None:
        self._objects = objects
        self._commits = commits
        self._trees = trees

    def is_in(self, head: Ancestry, tip: str, deadline: Deadline) -> bool | None:
        """Return True if a head has the work of a tip. None: unknown, for want of objects or time."""
        fork = find_fork(self._commits, head, tip, deadline)
        if fork is None:
            return None
        if not fork.own:
            return False
        if not fork.base:
            return None if head.cut_off else False
        candidates = self._candidates(head, fork, deadline)
        if candidates is None:
            return None
        if self._is_surely_missing(fork, candidates, deadline):
            return False
        whole = self._between((fork.base,), tip, deadline)
        steps = self._steps(fork.own, deadline)
        if whole is None or steps is None:
            return None
        return self._is_done(whole, steps, candidates, Ancestry(self._commits, [fork.base]), deadline)

    def _is_done(
        self, whole: Changes, steps: list[Changes], candidates: list[str], before: Ancestry, deadline: Deadline
    ) -> bool | None:
        """Return True if the candidates do the whole change, or all steps. Commits from before the fork do not
        count."""
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

    def _is_surely_missing(self, fork: Fork, candidates: list[str], deadline: Deadline) -> bool:
        """Return True if no candidate can be the work of a branch, by one changed file of the whole branch and one of a
        single commit: a candidate that leaves a changed file alone neither equals nor resembles the change.

        Without this shortcut, a branch with 2,000 changed files takes 100 ms instead of 2."""
        if len(candidates) > _MAX_CANDIDATES:
            return False
        plain = next((id_ for id_ in fork.own if len(self._parents(id_)) == 1), "")
        paths = {self._changed_path(fork.base, fork.own[0])}
        if plain:
            paths.add(self._changed_path(self._parents(plain)[0], plain))
        return "" not in paths and not any(self._may_touch(id_, path, deadline) for path in paths for id_ in candidates)

    def _parents(self, id_: str) -> tuple[str, ...]:
        commit = self._commits.get(id_)
        return commit.parents if commit else ()

    def _changed_path(self, before: str, after: str) -> str:
        """Return one path with different content in two commits; '' if none was found."""
        old, new = self._commits.get(before), self._commits.get(after)
        return self._trees.first_change(old.tree, new.tree) if old and new else ""

    def _may_touch(self, id_: str, path: str, deadline: Deadline) -> bool:
        """Return True unless a commit leaves the file at a path alone. Merges touch nothing themselves."""
        parents = self._parents(id_)
        commit, parent = self._commits.get(id_), self._commits.get(parents[0]) if len(parents) == 1 else None
        if commit is None or parent is None:
            return False
        old, new = (self._trees.find(tree, path, deadline) for tree in (parent.tree, commit.tree))
        return old is None or old != new

    def _steps(self, own: tuple[str, ...], deadline: Deadline) -> list[Changes] | None:
        """Return the changes of each commit of a branch, without merges; an empty list if the branch has too many."""
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

    def _candidates(self, head: Ancestry, fork: Fork, deadline: Deadline) -> list[str] | None:
        """Return the commits of a head with a possible copy of a commit of the branch: a copy is newer than the
        original.

        Commits after the newest commit of the branch come first, because branches are merged then."""
        base, newest = self._commits.get(fork.base), self._commits.get(fork.own[0])
        if base is None or newest is None:
            return None
        ended = max(base.time, newest.time - CLOCK_SLACK_S)
        after, later = head.since(base.time, deadline), head.since(ended, deadline)
        if after is None or later is None:
            return None
        return [*later, *after[: len(after) - len(later)]]

    def _done_by(self, id_: str, expected: list[Changes], deadline: Deadline) -> dict[_Likeness, list[Changes]] | None:
        """Return the changes a commit makes, split into equal and similar. None: time ran out."""
        done: dict[_Likeness, list[Changes]] = {_Likeness.SAME: [], _Likeness.ALIKE: []}
        if deadline.is_past():
            return None
        commit = self._commits.get(id_)
        parent = self._commits.get(commit.parents[0]) if commit and len(commit.parents) == 1 else None
        if commit is None or parent is None:
            return done
        old, new = self._trees.get(parent.tree), self._trees.get(commit.tree)
        if old is None or new is None:
            return done
        touched = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
        for changes in expected:
            if all(path.partition("/")[0] in touched for path in changes):
                likeness = self._likeness(changes, parent.tree, commit.tree, deadline)
                if likeness is None:
                    return None
                if likeness in done:
                    done[likeness].append(changes)
        return done

    def _likeness(self, changes: Changes, before: str, after: str, deadline: Deadline) -> _Likeness | None:
        """Return the similarity of changes to the difference of two trees. None: time ran out."""
        found: set[_Likeness] = set()
        for path, ids in changes.items():
            if deadline.is_past():
                return None
            found.add(self._likeness_of_file(path, ids, before, after, deadline))
            if _Likeness.NONE in found:
                return _Likeness.NONE
        if found <= {_Likeness.SAME, _Likeness.UNREADABLE} and _Likeness.SAME in found:
            return _Likeness.SAME
        return _Likeness.DIFFERENT if _Likeness.DIFFERENT in found and len(found) == 1 else _Likeness.ALIKE

    def _likeness_of_file(
        self, path: str, expected: tuple[str, str], before: str, after: str, deadline: Deadline
    ) -> _Likeness:
        """Compare the change of a file between two trees with an expected change: same result, or same lines."""
        old, new = self._trees.find(before, path, deadline), self._trees.find(after, path, deadline)
        if old is None or new is None:
            return _Likeness.UNREADABLE
        if old == new or bool(new) != bool(expected[1]):
            return _Likeness.NONE
        if new == expected[1]:
            return _Likeness.SAME
        made, meant = self._line_changes(old, new), self._line_changes(*expected)
        if made is None or meant is None:
            return _Likeness.UNREADABLE
        if made == meant and any(made):
            return _Likeness.SAME
        shared = (line for first, second in zip(made, meant, strict=True) for line in first.keys() & second.keys())
        return _Likeness.ALIKE if any(line.strip() for line in shared) else _Likeness.DIFFERENT

    def _line_changes(self, old: str, new: str) -> tuple[Counter[bytes], Counter[bytes]] | None:
        texts = [self._objects.blob(id_, _LARGEST_TEXT_BYTES) if id_ else b"" for id_ in (old, new)]
        if texts[0] is None or texts[1] is None:
            return None
        before, after = Counter(texts[0].split(b"\n")), Counter(texts[1].split(b"\n"))
        return after - before, before - after

    def _between(self, parents: tuple[str, ...], id_: str, deadline: Deadline) -> Changes | None:
        """Return the changes from the first parent, or from nothing, to a commit."""
        before = self._commits.get(parents[0]) if parents else None
        after = self._commits.get(id_)
        if after is None or (parents and before is None):
            return None
        return self._trees.changes(before.tree if before else "", after.tree, deadline)
