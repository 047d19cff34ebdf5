"""Commits and their ancestry. A walk goes from new to old, and only as far back as a question needs."""

import heapq
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from claude_mem_lite.code.git.objects import Objects

CLOCK_SLACK_S = 24 * 3600
"""Allowed clock difference between machines: a commit may look this much older than its parent."""
_MAX_COMMITS = 50_000
_MAX_KEPT = 8_192
_ID = rb"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_HEAD = re.compile(rb"tree (%b)\n((?:parent %b\n)*)author [^\n]*\ncommitter [^\n]* (\d{1,12}) [-+]\d{4}\n" % (_ID, _ID))


@dataclass(frozen=True, slots=True)
class CommitHead:
    tree: str
    parents: tuple[str, ...]
    time: int
    """Commit time, in seconds since 1970."""


class Commits:
    """Commits of a repository by id."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._known: dict[str, CommitHead] = {}

    def get(self, id_: str) -> CommitHead | None:
        """Return a commit, or None if the commit is missing, as beyond the end of a shallow clone."""
        known = self._known.get(id_)
        if known is not None:
            return known
        found = _HEAD.match(self._objects.commit_head(id_) or b"")
        if found is None:
            return None
        if len(self._known) >= _MAX_KEPT:
            self._known.clear()
        parents = tuple(line.removeprefix("parent ") for line in found[2].decode().splitlines())
        commit = self._known[id_] = CommitHead(found[1].decode(), parents, int(found[3]))
        return commit


class Ancestry:
    """Set of all commits reachable from some heads. A later question continues the walk where the last question
    stopped."""

    def __init__(self, commits: Commits, heads: Iterable[str]) -> None:
        self._commits = commits
        self._to_read = [(head, head) for head in heads]
        """Commits to read next, each with the child leading to it."""
        self._ahead: list[tuple[int, str]] = []
        self._seen: set[str] = set()
        self._passed: list[tuple[int, str]] = []
        self.cut_off: set[str] = set()
        """Commits with a missing parent, and missing heads."""

    def reaches(self, tip: str, deadline: float) -> bool | None:
        """Return True if a commit is reachable. None: unknown, for want of objects or time."""
        if tip in self._seen:
            return True
        target = self._commits.get(tip)
        if target is None or not self._go_back(target.time - CLOCK_SLACK_S, deadline, tip):
            return None
        return tip in self._seen

    def since(self, earliest: int, deadline: float) -> list[str] | None:
        """Return the reachable commits since a time, oldest first, or None if time ran out."""
        if not self._go_back(earliest - CLOCK_SLACK_S, deadline):
            return None
        return [id_ for when, id_ in sorted(self._passed) if when >= earliest]

    def _go_back(self, until: int, deadline: float, tip: str = "") -> bool:
        """Walk until all remaining commits are older, or until the tip was met. Return False if time ran out."""
        while tip not in self._seen and (self._to_read or (self._ahead and -self._ahead[0][0] >= until)):
            # The clock is checked at each commit: a commit may have a thousand parents, and a hostile commit takes 20
            # ms to read.
            if time.monotonic() > deadline or len(self._passed) >= _MAX_COMMITS:
                return False
            if self._to_read:
                self._add(*self._to_read.pop())
                continue
            when, id_ = heapq.heappop(self._ahead)
            self._passed.append((-when, id_))
            commit = self._commits.get(id_)
            self._to_read += [(parent, id_) for parent in commit.parents] if commit else []
        return True

    def _add(self, id_: str, child: str) -> None:
        if id_ in self._seen:
            return
        commit = self._commits.get(id_)
        if commit is None:
            self.cut_off.add(child)
        else:
            self._seen.add(id_)
            heapq.heappush(self._ahead, (-commit.time, id_))


def is_on_first_line(commits: Commits, head: str, tip: str, deadline: float) -> bool | None:
    """Return True if first parents alone lead from a head to a commit: a commit made on the branch, or a
    fast-forward."""
    target, at = commits.get(tip), head
    for _ in range(_MAX_COMMITS):
        if time.monotonic() > deadline:
            return None
        commit = commits.get(at)
        if target is None or commit is None:
            return None
        if at == tip:
            return True
        if not commit.parents or commit.time < target.time - CLOCK_SLACK_S:
            return False
        at = commit.parents[0]
    return None
