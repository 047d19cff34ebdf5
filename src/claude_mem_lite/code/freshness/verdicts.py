"""Whether what memories tell of still stands in the working tree, by their code anchors.

Called before memories are given, by the worker's look in the background and by `doctor --stale`. Reads only, within
the checkout only, and no longer than it may.

What the last look in the background found changed or moved, for contexts that have no time to look themselves.

The job thread notes it, any thread asks for it. It names memories: `clear()` when one is forgotten."""

import threading
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from claude_mem_lite.code.freshness.anchor_check import AnchorFound, Tie, check_anchors
from claude_mem_lite.code.freshness.anchored_files import Effort
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.syntax.anchors import CodeAnchor, read_anchor
from claude_mem_lite.code.syntax.changes import PRESENT
from claude_mem_lite.models import SAVED_BY_AGENT, Memory, Place
from claude_mem_lite.store.symbol_changes import SymbolRename

Verdict = Literal["fresh", "changed", "gone", "unknown"]
_Told = tuple[CodeAnchor, AnchorFound]


@dataclass(frozen=True, slots=True)
class Freshness:
    """Whether the code a memory tells of is as it was then, and if not, what became of it."""

    verdict: Verdict
    """`unknown`: there was no time to look."""
    reasons: tuple[str, ...] = ()
    is_settled: bool = field(default=True, compare=False)
    """Whether it stays so while the files it is tied to stay as they are, see `AnchorFound`."""
    renamed: tuple[SymbolRename, ...] = field(default=(), compare=False)
    """What its functions are called now, of those that have another name."""
    is_in_doubt: bool = field(default=False, compare=False)
    """Of what is unknown: that something is missing, and there was no time to search for it."""


def judge(
    cache: CodeCache,
    root: str,
    memories: Sequence[Memory],
    effort: Effort,
    made_here: Collection[str] = (),
) -> dict[str, Freshness]:
    """What became of the code that each of these memories tells of, by their ids.

    `made_here` are the ids of those that were made in this
    very checkout, on the branch it is on: of these, files that nobody touched since need no reading. In another
    checkout a file may be older without ever having had the change."""
    told = _told(cache, root, memories, effort, made_here)
    return {memory.id: _verdict(memory, told[memory.id]) for memory in memories}


def is_mostly_here(cache: CodeCache, root: str, memories: Sequence[Memory], deadline: float) -> bool | None:
    """Whether most of the code that these memories tell of stands here as they left it; None: nothing tells.

    That a file or function is there which was there before, too, says nothing."""
    every = (anchor for memory in memories for anchor in _anchors(memory))
    anchors = [anchor for anchor in every if anchor.before != (PRESENT if anchor.name else anchor.after)]
    told = check_anchors(cache, root, list(map(Tie, anchors)), Effort(deadline, keeps_time=True))
    known = [one for one in told if one.state != "unknown"]
    return sum(one.state == "same" for one in known) * 2 > len(known) if known else None


def is_anchored(memory: Memory) -> bool:
    """Whether anything ties a memory to code."""
    return any(read_anchor(anchor) for anchor in memory.anchors)


def _told(
    cache: CodeCache,
    root: str,
    memories: Sequence[Memory],
    effort: Effort,
    made_here: Collection[str],
) -> dict[str, list[_Told]]:
    """How it stands with the anchors of each memory."""
    anchors = [(memory, anchor) for memory in memories for anchor in _anchors(memory)]
    # Not `last_seen_at`: an edit of the memory moves that, and says nothing about the code.
    left_at = {memory.id: memory.created_at for memory in memories if memory.id in made_here}
    ties = [
        Tie(anchor, memory.commit, left_at.get(memory.id), memory.created_at, memory.id) for memory, anchor in anchors
    ]
    told: dict[str, list[_Told]] = {memory.id: [] for memory in memories}
    for (memory, anchor), one in zip(anchors, check_anchors(cache, root, ties, effort), strict=True):
        told[memory.id].append((anchor, one))
    return told


def _anchors(memory: Memory) -> list[CodeAnchor]:
    """The code anchors of a memory: of each symbol the last, and a whole file only where no symbol of it says more."""
    found = {(one.file, one.name): one for text in memory.anchors if (one := read_anchor(text))}
    by_symbol = {file for file, name in found if name}
    return [one for one in found.values() if one.name or one.file not in by_symbol]


def _verdict(memory: Memory, tied: Sequence[_Told]) -> Freshness:
    told = [one for _, one in tied]
    reasons = tuple(dict.fromkeys(one.reason for one in told if one.reason))
    states = {one.state for one in told}
    is_settled = all(one.is_settled for one in told)
    renamed = tuple(SymbolRename(anchor.file, anchor.name, one.name_now) for anchor, one in tied if one.name_now)
    if states <= {"same"}:
        return Freshness("fresh", reasons, is_settled, renamed)
    if "unknown" in states and "changed" not in states:
        is_in_doubt = any(one.state == "unknown" and one.reason for one in told)
        return Freshness("unknown", reasons, is_settled, renamed, is_in_doubt)
    is_gone = states <= {"undone", "gone"}
    # What the user said or holds on to, and what was asked to be remembered, is not taken away by what happens to code.
    is_held = memory.pinned or memory.origin == "user" or memory.made_by == SAVED_BY_AGENT
    return Freshness("gone" if is_gone and not is_held else "changed", reasons, is_settled, renamed)


_MAX_CHECKOUTS = 5
# Of a checkout, the newest memories: some 500 bytes each.
_MAX_NOTED = 2_000
_MAX_REASONS = 5


class _Noted(NamedTuple):
    seq: int
    anchors: int
    """A hash of them."""
    freshness: Freshness


@dataclass(slots=True)
class _Checkout:
    stamp: Hashable
    noted: dict[str, _Noted] = field(default_factory=dict)
    before: dict[str, _Noted] = field(default_factory=dict)
    """What was found when something else was checked out: it holds again for what turns out to be the same here."""


class LastVerdicts:
    """By checkouts. What was found on another branch says nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checkouts: dict[str, _Checkout] = {}

    def begin(self, place: Place) -> None:
        """A look at a checkout begins."""
        with self._lock:
            known = self._checkouts.pop(place.root, None) or _Checkout(_stamp(place))
            if known.stamp != _stamp(place):
                known = _Checkout(_stamp(place), before=_newest(known.before | known.noted))
            while len(self._checkouts) >= _MAX_CHECKOUTS:
                del self._checkouts[next(iter(self._checkouts))]
            self._checkouts[place.root] = known

    def note(self, place: Place, found: Mapping[int, Memory], told: Mapping[str, Freshness]) -> None:
        """The look tells this of memories, which come by their numbers."""
        with self._lock:
            known = self._checkouts[place.root]
            for seq, memory in found.items():
                if memory.id in told:
                    known.before.pop(memory.id, None)
                    known.noted.pop(memory.id, None)
                    if noted := _worth_noting(told[memory.id]):
                        known.noted[memory.id] = _Noted(seq, hash(memory.anchors), noted)
            known.noted = _newest(known.noted)

    def note_same(self, place: Place, seqs: Collection[int]) -> None:
        """The look need not look at these: all is as it was found before."""
        with self._lock:
            known = self._checkouts[place.root]
            same = {id_: noted for id_, noted in known.before.items() if noted.seq in seqs}
            known.noted = _newest(known.noted | same) if same else known.noted
            for id_ in same:
                del known.before[id_]

    def find(self, place: Place, memories: Sequence[Memory]) -> dict[str, Freshness]:
        """What is known of memories, by their ids; nothing of those that were tied to other code since."""
        with self._lock:
            known = self._checkouts.get(place.root)
            if known is None or known.stamp != _stamp(place):
                return {}
            found = [(memory, known.noted[memory.id]) for memory in memories if memory.id in known.noted]
        return {memory.id: noted.freshness for memory, noted in found if noted.anchors == hash(memory.anchors)}

    def clear(self) -> None:
        with self._lock:
            self._checkouts.clear()


def _stamp(place: Place) -> Hashable:
    """Tells what is checked out, as far as it matters: code changes on a branch, and stays changed mostly."""
    return place.project, place.branch or place.commit


def _worth_noting(found: Freshness) -> Freshness | None:
    """What is to be told of it later, if that is more than that it is as it was."""
    if found.verdict == "unknown" or not found.reasons:
        return None
    # What was gone at the last look may be back by now: it may be stale, no more.
    verdict: Verdict = "fresh" if found.verdict == "fresh" else "changed"
    return replace(found, verdict=verdict, reasons=found.reasons[:_MAX_REASONS])


def _newest(noted: dict[str, _Noted]) -> dict[str, _Noted]:
    if len(noted) <= _MAX_NOTED:
        return noted
    return dict(sorted(noted.items(), key=lambda item: item[1].seq)[-_MAX_NOTED:])
