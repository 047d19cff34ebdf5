"""One look over a checkout, in small steps: every memory of its project that is tied to code.

What is gone everywhere is retired, what is back is made active again. Runs in the job thread."""

import sqlite3
import time
from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from claude_mem_lite.code.freshness.anchored_files import Effort
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.moves import KnownRenames
from claude_mem_lite.code.freshness.relocation import Elsewhere
from claude_mem_lite.code.freshness.verdicts import Freshness, LastVerdicts, judge
from claude_mem_lite.code.freshness.working_tree import FileState, WorkingTree
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Memory, Place
from claude_mem_lite.store import memories, memory_queries, retirements, symbol_changes
from claude_mem_lite.store.branches import Hidden, is_hidden
from claude_mem_lite.timestamps import Clock

# A hook that asks for context may have to wait for a step.
STEP_S = 0.02
# Those whose files are missing are looked for together: each time that takes a walk through the whole index.
_AT_ONCE = 60
# Without any verdict: looking for what was moved takes a while in a large checkout.
_MAX_TRIES = 100
# Where nothing shows why a file is missing, it may be back within minutes.
_MISSING_FOR = timedelta(minutes=5)
_MAX_REASONS = 5
_MAX_PASSED_OVER = 20_000
Item = TypeVar("Item")


class Root:
    """A checkout that can be looked at, with git or without; for one look."""

    def __init__(self, path: str, repository: Repository | None = None) -> None:
        self.path = path
        self.repository = repository
        self.elsewhere = Elsewhere(path, repository)


@dataclass(frozen=True, slots=True)
class Here:
    """A checkout as it stands when a look at it begins."""

    place: Place
    root: Root
    default_branch: str = ""
    hidden: Hidden = ()
    others: Sequence[Root] = ()
    """The other checkouts of the project: what is there is not gone."""


class PassedOver:
    """What earlier looks at a checkout need not look at again: sums of what memories are tied to, by their numbers.

    While the sum is the same, so is the verdict."""

    def __init__(self) -> None:
        self._in_place: dict[int, int] = {}
        self._gone: dict[int, int] = {}
        self._missing_since: dict[int, datetime] = {}
        self._stamp: Hashable = None

    def begin(self, stamp: Hashable) -> None:
        """A look begins; with another stamp than the last one, what was gone and left alone may be retired now."""
        if stamp != self._stamp:
            self._gone.clear()
            self._stamp = stamp

    def has(self, seq: int, sum_now: int) -> bool:
        return sum_now in (self._in_place.get(seq), self._gone.get(seq))

    def note_missing(self, seq: int, now: datetime) -> timedelta:
        """For how long the files of a memory are known to be missing, for reasons that nothing shows."""
        if len(self._missing_since) >= _MAX_PASSED_OVER:
            self._missing_since.clear()
        return now - self._missing_since.setdefault(seq, now)

    def note_found(self, seq: int) -> None:
        self._missing_since.pop(seq, None)

    def add(self, seq: int, sum_now: int, *, is_gone: bool) -> None:
        if len(self._in_place) + len(self._gone) < _MAX_PASSED_OVER:
            kept, dropped = (self._gone, self._in_place) if is_gone else (self._in_place, self._gone)
            kept[seq] = sum_now
            dropped.pop(seq, None)


@dataclass(slots=True)
class Walk:
    """The steps of one look; `passed_over` and `last_verdicts` outlive it."""

    db: sqlite3.Connection
    cache: CodeCache
    here: Here
    clock: Clock
    passed_over: PassedOver
    last_verdicts: LastVerdicts
    changed: bool = False
    """Whether anything was retired or revived."""
    branches: set[str] = field(default_factory=set)
    """The branches of the active memories it came by."""

    def steps(self) -> Iterator[None]:
        """Does a little each time it is asked to go on."""
        self.passed_over.begin((self.here.place.branch, self.here.hidden))
        self.last_verdicts.begin(self.here.place)
        yield from self._walk_retired()
        yield from self._walk_active()

    def _walk_active(self) -> Iterator[None]:
        for page in memory_queries.pages(self.db, self.here.place.project):
            self.branches |= page.branches
            rows = [row for row in page.anchored if not is_hidden(row.branch, row.created_at, self.here.hidden)]
            touched = self._touched({row.seq: row.anchors for row in rows})
            self.last_verdicts.note_same(self.here.place, {row.seq for row in rows} - touched.keys())
            yield
            for seqs in _batches(list(touched)):
                found = memories.by_seq(self.db, seqs)
                told = yield from self._judged(list(found.values()), self.here.root)
                self.last_verdicts.note(self.here.place, found, told)
                self._note_renames(told)
                gone = {seq for seq, one in found.items() if _is_gone(told, one) and self._may_be_retired(one)}
                sure = [found[seq] for seq in gone if self._is_for_good(seq, told[found[seq].id])]
                yield from self._retire(sure, told)
                # Those that are gone here and not elsewhere are looked at again: it may be the other one that changes.
                self._pass_over({seq: touched[seq] for seq in found if seq not in gone}, found, told)

    def _walk_retired(self) -> Iterator[None]:
        """Those that code retired; the last of them always, because what is moved may be known as such only later."""
        pages = retirements.by_code(self.db, self.here.place.project)
        for number, some in enumerate(batch for page in pages for batch in _batches(page)):
            found = memories.by_seq(self.db, some)
            touched = self._touched({seq: memory.anchors for seq, memory in found.items()}, always=number == 0)
            told = yield from self._judged([found[seq] for seq in touched], self.here.root)
            self.last_verdicts.note(self.here.place, found, told)
            self._pass_over(touched, found, told)
            with atomic(self.db):
                for memory in found.values():
                    if memory.id in told and not _is_gone(told, memory):
                        self.changed |= retirements.revive(self.db, memory.id)

    def _touched(self, anchors: Mapping[int, tuple[str, ...]], *, always: bool = False) -> dict[int, int]:
        """The numbers of those that are not as an earlier look found them, each with its sum."""
        touched: dict[int, int] = {}
        states: dict[str, FileState | None] = {}
        try:
            with WorkingTree(self.here.place.root) as tree:
                for seq, tied in anchors.items():
                    now = hash((tied, *(_state(tree, file, states) for file in _files(tied))))
                    if always or not self.passed_over.has(seq, now):
                        touched[seq] = now
        except OSError:  # the checkout is gone: nothing of it can be told
            return {}
        return touched

    def _pass_over(self, sums: Mapping[int, int], found: Mapping[int, Memory], told: Mapping[str, Freshness]) -> None:
        """Remember what need not be looked at again until it is touched."""
        for seq, sum_now in sums.items():
            if seq not in found or found[seq].id not in told:
                continue
            is_gone = _is_gone(told, found[seq])
            if is_gone or told[found[seq].id].is_settled:
                self.passed_over.add(seq, sum_now, is_gone=is_gone)
            if not is_gone:
                self.passed_over.note_found(seq)

    def _judged(self, wanted: Sequence[Memory], root: Root) -> Generator[None, None, dict[str, Freshness]]:
        """A verdict on each of them, over as many steps as it takes; none on those of which it cannot be told."""
        told: dict[str, Freshness] = {}
        left, tries = list(wanted), 0
        known = KnownRenames(self.db, self.here.place.project)
        while left and tries < _MAX_TRIES:
            # Untouched files are read as well: within its own turn code may have been put back as it was.
            effort = Effort(time.monotonic() + STEP_S, elsewhere=root.elsewhere, renames=known)
            now = judge(self.cache, root.path, left, effort)
            sure = {id_: one for id_, one in now.items() if one.verdict != "unknown"}
            tries = 0 if sure else tries + 1
            told |= sure
            left = [memory for memory in left if memory.id not in told]
            yield
        return told

    def _note_renames(self, told: Mapping[str, Freshness]) -> None:
        """Keep what is called otherwise now: after its next edit nothing would tell."""
        renamed = {id_: one.renamed for id_, one in told.items() if one.renamed}
        if renamed:
            with atomic(self.db):
                for id_, some in renamed.items():
                    symbol_changes.note(self.db, id_, some)

    def _retire(self, gone: Sequence[Memory], told: Mapping[str, Freshness]) -> Iterator[None]:
        """Retire those that are gone in the other checkouts as well."""
        for other in self.here.others:
            if gone:
                elsewhere = yield from self._judged(gone, other)
                gone = [memory for memory in gone if _is_gone(elsewhere, memory)]
        with atomic(self.db):
            for memory in gone:
                reason = f"its code is gone: {'; '.join(told[memory.id].reasons[:_MAX_REASONS])}"
                self.changed |= retirements.retire(self.db, memory.id, "code", reason, self.clock())

    def _may_be_retired(self, memory: Memory) -> bool:
        """Whether this checkout has the last word on a memory whose work is here: it is on its branch, or on the one
        that all work goes to. On any other, code may be missing because it is not there yet."""
        branch = self.here.place.branch
        if self.here.root.repository is None:  # no git
            return True
        if not branch:  # a detached HEAD may be anywhere in history
            return False
        return branch in (memory.branch, self.here.default_branch)

    def _is_for_good(self, seq: int, told: Freshness) -> bool:
        """Whether what is gone will not be back in a moment: it was deleted, or was missing some minutes ago, too."""
        return told.is_settled or self.passed_over.note_missing(seq, self.clock()) >= _MISSING_FOR


def _is_gone(told: Mapping[str, Freshness], memory: Memory) -> bool:
    return memory.id in told and told[memory.id].verdict == "gone"


def _files(anchors: Sequence[str]) -> list[str]:
    return [anchor.file for text in anchors if (anchor := read_anchor(text))]


def _state(tree: WorkingTree, file: str, known: dict[str, FileState | None]) -> FileState | None:
    if file not in known:
        try:
            known[file] = tree.state(file)
        except OSError:
            known[file] = None
    return known[file]


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), _AT_ONCE):
        yield items[start : start + _AT_ONCE]
