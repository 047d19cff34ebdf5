"""One look over a checkout, in small steps: every memory of its project that is tied to code.

What is gone everywhere is retired, what is back is made active again. Runs in the job thread."""

import sqlite3
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from claude_mem_lite.code.anchors import read_anchor
from claude_mem_lite.codebase.cache import CodeCache
from claude_mem_lite.codebase.files import Checkout, FileState
from claude_mem_lite.codebase.freshness import Freshness, judge
from claude_mem_lite.codebase.moves import Moves
from claude_mem_lite.codebase.sight import is_bare
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Memory, Place
from claude_mem_lite.store import anchored, memories, retirements
from claude_mem_lite.store.visibility import Hidden, is_hidden
from claude_mem_lite.worker.clock import Clock
from claude_mem_lite.worker.settled import Settled

# A hook that asks for context may have to wait for a step.
STEP_S = 0.02
_PAGE = 500
_AT_ONCE = 20
_MOST_TRIES = 10
_MOST_RETIRED = 1_000
_MOST_REASONS = 5
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Root:
    """A checkout that can be looked at, with git or without."""

    path: str
    moves: Moves | None = None


@dataclass(frozen=True, slots=True)
class Here:
    """A checkout as it stands when a look at it begins."""

    place: Place
    root: Root
    has_git: bool
    default_branch: str = ""
    hidden: Hidden = ()
    others: Sequence[Root] = ()
    """The other checkouts of the project: what is there is not gone."""


@dataclass(slots=True)
class Walk:
    """The steps of one look; `settled` outlives it."""

    db: sqlite3.Connection
    cache: CodeCache
    here: Here
    clock: Clock
    settled: Settled
    changed: bool = False
    """Whether anything was retired or revived."""
    branches: set[str] = field(default_factory=set)
    """The branches of the active memories it came by."""

    def steps(self) -> Iterator[None]:
        """Does a little each time it is asked to go on; nothing when the checkout is not there."""
        self.settled.begin((self.here.place.branch, self.here.hidden))
        if not is_bare(self.here.place.root):
            yield from self._walk_retired()
            yield from self._walk_active()

    def _walk_active(self) -> Iterator[None]:
        spot: anchored.Spot | None = None
        while True:
            page = anchored.page(self.db, self.here.place.project, spot, _PAGE)
            self.branches |= page.branches
            rows = [row for row in page.tied if not is_hidden(row.branch, row.created_at, self.here.hidden)]
            touched = self._touched({row.seq: row.anchors for row in rows})
            yield
            for seqs in _batches(list(touched)):
                found = memories.by_seq(self.db, seqs)
                told = yield from self._judged(list(found.values()), self.here.root)
                gone = {seq for seq, one in found.items() if _is_gone(told, one) and self._may_be_retired(one)}
                yield from self._retire([found[seq] for seq in gone], told)
                # Those that are gone here and not elsewhere are looked at again: it may be the other one that changes.
                self._settle({seq: touched[seq] for seq in found if seq not in gone}, found, told)
            spot = page.end
            if spot is None:
                return

    def _walk_retired(self) -> Iterator[None]:
        """Those that code retired; the last of them always, because what is moved may be known as such only later."""
        retired = retirements.of_project(self.db, self.here.place.project, _MOST_RETIRED)
        seqs = [one.seq for one in retired if one.cause == "code"]
        for number, some in enumerate(_batches(seqs)):
            found = memories.by_seq(self.db, some)
            touched = self._touched({seq: memory.anchors for seq, memory in found.items()}, always=number == 0)
            told = yield from self._judged([found[seq] for seq in touched], self.here.root)
            self._settle(touched, found, told)
            with atomic(self.db):
                for memory in found.values():
                    if memory.id in told and not _is_gone(told, memory):
                        self.changed |= retirements.revive(self.db, memory.id)

    def _touched(self, anchors: Mapping[int, tuple[str, ...]], *, always: bool = False) -> dict[int, int]:
        """The numbers of those that are not as an earlier look found them, each with its sum."""
        touched: dict[int, int] = {}
        states: dict[str, FileState | None] = {}
        try:
            with Checkout(self.here.place.root) as checkout:
                for seq, tied in anchors.items():
                    now = hash((tied, *(_state(checkout, file, states) for file in _files(tied))))
                    if always or not self.settled.knows(seq, now):
                        touched[seq] = now
        except OSError:  # the checkout is gone: nothing of it can be told
            return {}
        return touched

    def _settle(self, sums: Mapping[int, int], found: Mapping[int, Memory], told: Mapping[str, Freshness]) -> None:
        """Remember what need not be looked at again until it is touched."""
        for seq, sum_now in sums.items():
            if seq in found and found[seq].id in told:
                self.settled.note(seq, sum_now, is_gone=_is_gone(told, found[seq]))

    def _judged(self, wanted: Sequence[Memory], root: Root) -> Generator[None, None, dict[str, Freshness]]:
        """A verdict on each of them, over as many steps as it takes; none on those of which it cannot be told."""
        told: dict[str, Freshness] = {}
        left, tries = list(wanted), 0
        while left and tries < _MOST_TRIES:
            # Untouched files are read as well: within its own turn code may have been put back as it was.
            now = judge(self.cache, root.path, left, time.monotonic() + STEP_S, root.moves)
            sure = {id_: one for id_, one in now.items() if one.verdict != "unknown"}
            tries = 0 if sure else tries + 1
            told |= sure
            left = [memory for memory in left if memory.id not in told]
            yield
        return told

    def _retire(self, gone: Sequence[Memory], told: Mapping[str, Freshness]) -> Iterator[None]:
        """Retire those that are gone in the other checkouts as well."""
        for other in self.here.others:
            if gone:
                elsewhere = yield from self._judged(gone, other)
                gone = [memory for memory in gone if _is_gone(elsewhere, memory)]
        with atomic(self.db):
            for memory in gone:
                reason = f"its code is gone: {'; '.join(told[memory.id].reasons[:_MOST_REASONS])}"
                self.changed |= retirements.retire(self.db, memory.id, "code", reason, self.clock())

    def _may_be_retired(self, memory: Memory) -> bool:
        """Whether this checkout has the last word on a memory whose work is here: it is on its branch, or on the one
        that all work goes to. On any other, code may be missing because it is not there yet."""
        branch = self.here.place.branch
        if not self.here.has_git or not branch:  # a detached HEAD may be anywhere in history
            return not self.here.has_git
        return branch in (memory.branch, self.here.default_branch)


def _is_gone(told: Mapping[str, Freshness], memory: Memory) -> bool:
    return memory.id in told and told[memory.id].verdict == "gone"


def _files(anchors: Sequence[str]) -> list[str]:
    return [anchor.file for text in anchors if (anchor := read_anchor(text))]


def _state(checkout: Checkout, file: str, known: dict[str, FileState | None]) -> FileState | None:
    if file not in known:
        try:
            known[file] = checkout.state(file)
        except OSError:
            known[file] = None
    return known[file]


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), _AT_ONCE):
        yield items[start : start + _AT_ONCE]
