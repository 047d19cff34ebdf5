"""Scan of one checkout in small steps, over all code-anchored memories of the project.

Memories gone in all checkouts are retired, and restored code revives memories. Runs in the job thread."""

import sqlite3
from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from claude_mem_lite.code.freshness.anchored_files import CheckLimits
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.moves import KnownRenames
from claude_mem_lite.code.freshness.relocation import RelocationSearch
from claude_mem_lite.code.freshness.verdicts import Freshness, VerdictCache, judge
from claude_mem_lite.code.freshness.working_tree import FileState, WorkingTree
from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.models import Location, Memory
from claude_mem_lite.store import memories, memory_queries, retirements, symbol_changes
from claude_mem_lite.store.branches import Hidden, is_hidden
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.values import frozen

# Missing files are searched in batches: each search walks the whole index.
_AT_ONCE = 60
# Number of steps without any verdict: a search for moved code takes a while in a large checkout.
_MAX_TRIES = 100
# An unexplained absence may end within minutes.
_MISSING_FOR = timedelta(minutes=5)
_MAX_REASONS = 5
_MAX_SKIPPED = 20_000
Item = TypeVar("Item")


class OpenCheckout:
    """Checkout opened for one scan, with or without git."""

    def __init__(self, path: str, relocation: RelocationSearch) -> None:
        self.path = path
        self.repository = relocation.repository
        self.relocation = relocation


@frozen
class ScanTarget:
    """Checkout under scan, in the state at the start."""

    location: Location
    root: OpenCheckout
    default_branch: str = ""
    hidden: Hidden = ()
    others: Sequence[OpenCheckout] = ()
    """Other checkouts of the project: code present in any of them is not gone."""


class ScanSkipCache:
    """Fingerprints of anchored files by memory number, to skip unchanged memories.

    An equal fingerprint means an equal verdict."""

    def __init__(self) -> None:
        self._present: dict[int, int] = {}
        self._gone: dict[int, int] = {}
        self._missing_since: dict[int, datetime] = {}
        self._stamp: Hashable = None

    def begin(self, stamp: Hashable) -> None:
        """Begin a scan. If the stamp differs from the last scan's stamp, gone memories are checked again, because
        retiring may be allowed now."""
        if stamp != self._stamp:
            self._gone.clear()
            self._stamp = stamp

    def has(self, seq: int, sum_now: int) -> bool:
        return sum_now in (self._present.get(seq), self._gone.get(seq))

    def note_missing(self, seq: int, now: datetime) -> timedelta:
        """Return the time since the files of a memory were first found missing without an explanation."""
        if len(self._missing_since) >= _MAX_SKIPPED:
            self._missing_since.clear()
        return now - self._missing_since.setdefault(seq, now)

    def note_found(self, seq: int) -> None:
        self._missing_since.pop(seq, None)

    def add(self, seq: int, sum_now: int, *, is_gone: bool) -> None:
        if len(self._present) + len(self._gone) < _MAX_SKIPPED:
            kept, dropped = (self._gone, self._present) if is_gone else (self._present, self._gone)
            kept[seq] = sum_now
            dropped.pop(seq, None)


@dataclass(slots=True)
class ProjectScan:
    """Steps of one scan. `skip_cache` and `verdict_cache` outlive the scan."""

    db: sqlite3.Connection
    cache: CodeCache
    target: ScanTarget
    clock: Clock
    step_s: float
    skip_cache: ScanSkipCache
    verdict_cache: VerdictCache
    changed: bool = False
    """True if any memory was retired or revived."""
    branches: set[str] = field(default_factory=set)
    """Branches of the active memories scanned."""

    def steps(self) -> Iterator[None]:
        """Yield after each small step."""
        self.skip_cache.begin((self.target.location.branch, self.target.hidden))
        self.verdict_cache.begin(self.target.location)
        yield from self._scan_retired()
        yield from self._scan_active()

    def _scan_active(self) -> Iterator[None]:
        for page in memory_queries.pages(self.db, self.target.location.project):
            self.branches |= page.branches
            rows = [row for row in page.anchored if not is_hidden(row.branch, row.created_at, self.target.hidden)]
            touched = self._touched({row.seq: row.anchors for row in rows})
            self.verdict_cache.note_same(self.target.location, {row.seq for row in rows} - touched.keys())
            yield
            for seqs in _batches(list(touched)):
                found = memories.by_seq(self.db, seqs)
                verdicts = yield from self._judged(list(found.values()), self.target.root)
                self.verdict_cache.note(self.target.location, found, verdicts)
                self._note_renames(verdicts)
                gone = {
                    seq for seq, memory in found.items() if _is_gone(verdicts, memory) and self._may_be_retired(memory)
                }
                sure = [found[seq] for seq in gone if self._is_for_good(seq, verdicts[found[seq].id])]
                yield from self._retire(sure, verdicts)
                # Memories gone only in this checkout are checked again: another checkout may change.
                self._skip_unchanged({seq: touched[seq] for seq in found if seq not in gone}, found, verdicts)

    def _scan_retired(self) -> Iterator[None]:
        """Check the memories retired for gone code. The latest are always checked, because a move may become visible
        later."""
        pages = retirements.by_code(self.db, self.target.location.project)
        for number, batch in enumerate(batch for page in pages for batch in _batches(page)):
            found = memories.by_seq(self.db, batch)
            touched = self._touched({seq: memory.anchors for seq, memory in found.items()}, always=number == 0)
            verdicts = yield from self._judged([found[seq] for seq in touched], self.target.root)
            self.verdict_cache.note(self.target.location, found, verdicts)
            self._skip_unchanged(touched, found, verdicts)
            with atomic(self.db):
                for memory in found.values():
                    if memory.id in verdicts and not _is_gone(verdicts, memory):
                        self.changed |= retirements.revive(self.db, memory.id)

    def _touched(self, anchors: Mapping[int, tuple[str, ...]], *, always: bool = False) -> dict[int, int]:
        """Return the memories changed since an earlier scan, by number, each with a fingerprint."""
        touched: dict[int, int] = {}
        states: dict[str, FileState | None] = {}
        try:
            with WorkingTree(self.target.location.root) as tree:
                for seq, memory_anchors in anchors.items():
                    now = hash((memory_anchors, *(_state(tree, file, states) for file in _files(memory_anchors))))
                    if always or not self.skip_cache.has(seq, now):
                        touched[seq] = now
        except OSError:  # the checkout is gone: all states are unknown
            return {}
        return touched

    def _skip_unchanged(
        self, sums: Mapping[int, int], found: Mapping[int, Memory], verdicts: Mapping[str, Freshness]
    ) -> None:
        """Remember the unchanged memories, to be skipped until a change."""
        for seq, sum_now in sums.items():
            if seq not in found or found[seq].id not in verdicts:
                continue
            is_gone = _is_gone(verdicts, found[seq])
            if is_gone or verdicts[found[seq].id].is_settled:
                self.skip_cache.add(seq, sum_now, is_gone=is_gone)
            if not is_gone:
                self.skip_cache.note_found(seq)

    def _judged(self, unjudged: Sequence[Memory], root: OpenCheckout) -> Generator[None, None, dict[str, Freshness]]:
        """Return a verdict for each memory, over as many steps as needed. Memories with an unknown state are left
        out."""
        verdicts: dict[str, Freshness] = {}
        left, tries = list(unjudged), 0
        known = KnownRenames(self.db, self.target.location.project)
        while left and tries < _MAX_TRIES:
            # Untouched files are read as well: code may have been restored within its own turn.
            limits = CheckLimits(Deadline.after(self.step_s), relocation=root.relocation, renames=known)
            now = judge(self.cache, root.path, left, limits)
            sure = {id_: freshness for id_, freshness in now.items() if freshness.verdict != "unknown"}
            tries = 0 if sure else tries + 1
            verdicts |= sure
            left = [memory for memory in left if memory.id not in verdicts]
            yield
        return verdicts

    def _note_renames(self, verdicts: Mapping[str, Freshness]) -> None:
        """Store renames: after the next edit, nothing would prove the rename."""
        renamed = {id_: freshness.renamed for id_, freshness in verdicts.items() if freshness.renamed}
        if renamed:
            with atomic(self.db):
                for id_, renames in renamed.items():
                    symbol_changes.note(self.db, id_, renames)

    def _retire(self, gone: Sequence[Memory], verdicts: Mapping[str, Freshness]) -> Iterator[None]:
        """Retire the memories also gone in the other checkouts."""
        for checkout in self.target.others:
            if gone:
                there = yield from self._judged(gone, checkout)
                gone = [memory for memory in gone if _is_gone(there, memory)]
        with atomic(self.db):
            for memory in gone:
                reason = f"its code is gone: {'; '.join(verdicts[memory.id].reasons[:_MAX_REASONS])}"
                self.changed |= retirements.retire(self.db, memory.id, "code", reason, self.clock())

    def _may_be_retired(self, memory: Memory) -> bool:
        """Return True if this checkout decides about a memory: the checkout is on the memory's branch, or on the
        default branch. On any other branch, code may be missing because the work has not arrived yet."""
        branch = self.target.location.branch
        if self.target.root.repository is None:  # no git
            return True
        if not branch:  # a detached HEAD may be anywhere in history
            return False
        return branch in (memory.branch, self.target.default_branch)

    def _is_for_good(self, seq: int, verdicts: Freshness) -> bool:
        """Return True if gone code will stay gone: deleted, or already missing some minutes ago."""
        return verdicts.is_settled or self.skip_cache.note_missing(seq, self.clock()) >= _MISSING_FOR


def _is_gone(verdicts: Mapping[str, Freshness], memory: Memory) -> bool:
    return memory.id in verdicts and verdicts[memory.id].verdict == "gone"


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
