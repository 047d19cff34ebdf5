"""Freshness of memories, judged by their code anchors, and a cache of the verdicts.

`judge` runs before memories are injected, in the background scan and in `doctor --stale`. It only reads, only within
the checkout, and within limits.

`VerdictCache` holds the changes and moves found by the last background scan, for contexts without time for a check. The
job thread writes, any thread reads. The cache names memories: call `clear()` when a memory is forgotten."""

import threading
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from claude_mem_lite.code.freshness.anchor_check import AnchorCheck, AnchorResult, check_anchors
from claude_mem_lite.code.freshness.anchored_files import CheckLimits
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.syntax.changes import PRESENT, CodeAnchor, read_anchor
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.models import SAVED_BY_AGENT, Location, Memory
from claude_mem_lite.store.symbol_changes import SymbolRename
from claude_mem_lite.values import frozen

Verdict = Literal["fresh", "changed", "gone", "unknown"]
_CheckedAnchor = tuple[CodeAnchor, AnchorResult]
_MAX_CHECKOUTS = 5
# Limit per checkout, newest memories first: some 500 bytes each.
_MAX_NOTED = 2_000
_MAX_REASONS = 5


@frozen
class Freshness:
    """Freshness of the code behind a memory, with reasons for a change."""

    verdict: Verdict
    """`unknown`: time ran out."""
    reasons: tuple[str, ...] = ()
    is_settled: bool = field(default=True, compare=False)
    """True if the verdict holds until the anchored files change, see `AnchorResult`."""
    renamed: tuple[SymbolRename, ...] = field(default=(), compare=False)
    """Present names of renamed functions."""
    is_in_doubt: bool = field(default=False, compare=False)
    """True for an unknown verdict with a missing part, if time ran out before the search."""


def judge(
    cache: CodeCache,
    root: str,
    memories: Sequence[Memory],
    limits: CheckLimits,
    made_here: Collection[str] = (),
) -> dict[str, Freshness]:
    """Return the freshness of each memory, by memory id.

    `made_here` are the ids of memories made in this checkout, on the present branch. For these memories, a file
    untouched since needs no reading. In another checkout, a file may be older without ever having had the change."""
    results = _check(cache, root, memories, limits, made_here)
    return {memory.id: _verdict(memory, results[memory.id]) for memory in memories}


def is_mostly_here(cache: CodeCache, root: str, memories: Sequence[Memory], deadline: Deadline) -> bool | None:
    """Return True if most of the code behind the memories is present in the recorded state. None: unknown.

    The presence of a file or function present before proves nothing."""
    every = (anchor for memory in memories for anchor in _anchors(memory))
    anchors = [anchor for anchor in every if anchor.before != (PRESENT if anchor.name else anchor.after)]
    results = check_anchors(cache, root, list(map(AnchorCheck, anchors)), CheckLimits(deadline, keeps_time=True))
    known = [result for result in results if result.state != "unknown"]
    return sum(result.state == "same" for result in known) * 2 > len(known) if known else None


def is_anchored(memory: Memory) -> bool:
    """Return True if a memory has a code anchor."""
    return any(read_anchor(anchor) for anchor in memory.anchors)


def _check(
    cache: CodeCache,
    root: str,
    memories: Sequence[Memory],
    limits: CheckLimits,
    made_here: Collection[str],
) -> dict[str, list[_CheckedAnchor]]:
    """Return the states of all anchors, by memory id."""
    anchors = [(memory, anchor) for memory in memories for anchor in _anchors(memory)]
    # Not `last_seen_at`: an edit of the memory changes `last_seen_at`, without any change to the code.
    left_at = {memory.id: memory.created_at for memory in memories if memory.id in made_here}
    checks = [
        AnchorCheck(anchor, memory.commit, left_at.get(memory.id), memory.created_at, memory.id)
        for memory, anchor in anchors
    ]
    results: dict[str, list[_CheckedAnchor]] = {memory.id: [] for memory in memories}
    for (memory, anchor), result in zip(anchors, check_anchors(cache, root, checks, limits), strict=True):
        results[memory.id].append((anchor, result))
    return results


def _anchors(memory: Memory) -> list[CodeAnchor]:
    """Return the code anchors of a memory: the last anchor of each symbol, and a file anchor only if the file has no
    symbol anchor."""
    found = {(anchor.file, anchor.name): anchor for text in memory.anchors if (anchor := read_anchor(text))}
    by_symbol = {file for file, name in found if name}
    return [anchor for anchor in found.values() if anchor.name or anchor.file not in by_symbol]


def _verdict(memory: Memory, checked: Sequence[_CheckedAnchor]) -> Freshness:
    results = [result for _, result in checked]
    reasons = tuple(dict.fromkeys(result.reason for result in results if result.reason))
    states = {result.state for result in results}
    is_settled = all(result.is_settled for result in results)
    renamed = tuple(
        SymbolRename(anchor.file, anchor.name, result.name_now) for anchor, result in checked if result.name_now
    )
    if states <= {"same"}:
        return Freshness("fresh", reasons, is_settled, renamed)
    if "unknown" in states and "changed" not in states:
        is_in_doubt = any(result.state == "unknown" and result.reason for result in results)
        return Freshness("unknown", reasons, is_settled, renamed, is_in_doubt)
    is_gone = states <= {"undone", "gone"}
    # Statements of the user, pinned memories and explicit saves are not retired by changes to code.
    is_held = memory.pinned or memory.origin == "user" or memory.made_by == SAVED_BY_AGENT
    return Freshness("gone" if is_gone and not is_held else "changed", reasons, is_settled, renamed)


class _Noted(NamedTuple):
    seq: int
    anchors: int
    """Hash of the anchors."""
    freshness: Freshness


@dataclass(slots=True)
class _Checkout:
    stamp: Hashable
    noted: dict[str, _Noted] = field(default_factory=dict)
    before: dict[str, _Noted] = field(default_factory=dict)
    """Verdicts for an earlier HEAD: valid again for memories found unchanged."""


class VerdictCache:
    """Verdicts of the last scan by checkout. Verdicts of another branch do not count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checkouts: dict[str, _Checkout] = {}

    def begin(self, location: Location) -> None:
        """Begin a scan of a checkout."""
        with self._lock:
            known = self._checkouts.pop(location.root, None) or _Checkout(_stamp(location))
            if known.stamp != _stamp(location):
                known = _Checkout(_stamp(location), before=_newest(known.before | known.noted))
            while len(self._checkouts) >= _MAX_CHECKOUTS:
                del self._checkouts[next(iter(self._checkouts))]
            self._checkouts[location.root] = known

    def note(self, location: Location, found: Mapping[int, Memory], results: Mapping[str, Freshness]) -> None:
        """Store the verdicts of a scan, for memories by number."""
        with self._lock:
            known = self._checkouts[location.root]
            for seq, memory in found.items():
                if memory.id in results:
                    known.before.pop(memory.id, None)
                    known.noted.pop(memory.id, None)
                    if noted := _worth_noting(results[memory.id]):
                        known.noted[memory.id] = _Noted(seq, hash(memory.anchors), noted)
            known.noted = _newest(known.noted)

    def note_same(self, location: Location, seqs: Collection[int]) -> None:
        """Restore the earlier verdicts of memories the scan may skip as unchanged."""
        with self._lock:
            known = self._checkouts[location.root]
            same = {id_: noted for id_, noted in known.before.items() if noted.seq in seqs}
            known.noted = _newest(known.noted | same) if same else known.noted
            for id_ in same:
                del known.before[id_]

    def find(self, location: Location, memories: Sequence[Memory]) -> dict[str, Freshness]:
        """Return the cached verdicts, by memory id. Memories with other anchors since have none."""
        with self._lock:
            known = self._checkouts.get(location.root)
            if known is None or known.stamp != _stamp(location):
                return {}
            found = [(memory, known.noted[memory.id]) for memory in memories if memory.id in known.noted]
        return {memory.id: noted.freshness for memory, noted in found if noted.anchors == hash(memory.anchors)}

    def clear(self) -> None:
        with self._lock:
            self._checkouts.clear()


def _stamp(location: Location) -> Hashable:
    """Return an identity of the checked-out state: code changes on a branch, and mostly stays changed."""
    return location.project, location.branch or location.commit


def _worth_noting(found: Freshness) -> Freshness | None:
    """Return the verdict to cache, or None for plain freshness."""
    if found.verdict == "unknown" or not found.reasons:
        return None
    # Code gone at the last scan may be back by now: the memory may be stale, no more.
    verdict: Verdict = "fresh" if found.verdict == "fresh" else "changed"
    return replace(found, verdict=verdict, reasons=found.reasons[:_MAX_REASONS])


def _newest(noted: dict[str, _Noted]) -> dict[str, _Noted]:
    if len(noted) <= _MAX_NOTED:
        return noted
    return dict(sorted(noted.items(), key=lambda item: item[1].seq)[-_MAX_NOTED:])
