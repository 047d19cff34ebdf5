"""Commits, and which of them can be reached from others: newest first, and only as far back as a question needs."""

import heapq
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from claude_mem_lite.code.git.objects import Objects

CLOCK_SLACK_S = 24 * 3600
"""How much older than its parent the clocks of two machines may make a commit."""
_MAX_COMMITS = 50_000
_MAX_KEPT = 8_192
_ID = rb"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_HEAD = re.compile(rb"tree (%b)\n((?:parent %b\n)*)author [^\n]*\ncommitter [^\n]* (\d{1,12}) [-+]\d{4}\n" % (_ID, _ID))


@dataclass(frozen=True, slots=True)
class Commit:
    tree: str
    parents: tuple[str, ...]
    time: int
    """When it was committed, in seconds since 1970."""


class Commits:
    """The commits of a repository by id."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._known: dict[str, Commit] = {}

    def get(self, id_: str) -> Commit | None:
        """A commit; None when it is not here, as beyond the end of a shallow clone."""
        known = self._known.get(id_)
        if known is not None:
            return known
        found = _HEAD.match(self._objects.commit_head(id_) or b"")
        if found is None:
            return None
        if len(self._known) >= _MAX_KEPT:
            self._known.clear()
        parents = tuple(line.removeprefix("parent ") for line in found[2].decode().splitlines())
        commit = self._known[id_] = Commit(found[1].decode(), parents, int(found[3]))
        return commit


class Ancestry:
    """All that can be reached from some commits. It remembers how far it went: the next question goes on there."""

    def __init__(self, commits: Commits, heads: Iterable[str]) -> None:
        self._commits = commits
        self._met = [(head, head) for head in heads]
        """Commits to be read next, each with the one that led to it."""
        self._ahead: list[tuple[int, str]] = []
        self._seen: set[str] = set()
        self._passed: list[tuple[int, str]] = []
        self.cut_off: set[str] = set()
        """Commits met on the way with a parent that is not here, or heads that are not."""

    def reaches(self, tip: str, deadline: float) -> bool | None:
        """Whether a commit is among them; None when that cannot be told, or not in time."""
        if tip in self._seen:
            return True
        wanted = self._commits.get(tip)
        if wanted is None or not self._go_back(wanted.time - CLOCK_SLACK_S, deadline, tip):
            return None
        return tip in self._seen

    def since(self, moment: int, deadline: float) -> list[str] | None:
        """Those committed at a moment or later, oldest first; None when there was no time to find them."""
        if not self._go_back(moment - CLOCK_SLACK_S, deadline):
            return None
        return [id_ for when, id_ in sorted(self._passed) if when >= moment]

    def _go_back(self, until: int, deadline: float, tip: str = "") -> bool:
        """Walk until all that is left is older, or the tip was met; False when that took too long."""
        while tip not in self._seen and (self._met or (self._ahead and -self._ahead[0][0] >= until)):
            # At each commit: one may have a thousand parents, and a hostile one takes 20 ms to read.
            if time.monotonic() > deadline or len(self._passed) >= _MAX_COMMITS:
                return False
            if self._met:
                self._add(*self._met.pop())
                continue
            when, id_ = heapq.heappop(self._ahead)
            self._passed.append((-when, id_))
            commit = self._commits.get(id_)
            self._met += [(parent, id_) for parent in commit.parents] if commit else []
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
    """Whether a commit is reached from a head by first parents alone: it was made there, or by fast-forward."""
    wanted, at = commits.get(tip), head
    for _ in range(_MAX_COMMITS):
        if time.monotonic() > deadline:
            return None
        commit = commits.get(at)
        if wanted is None or commit is None:
            return None
        if at == tip:
            return True
        if not commit.parents or commit.time < wanted.time - CLOCK_SLACK_S:
            return False
        at = commit.parents[0]
    return None
