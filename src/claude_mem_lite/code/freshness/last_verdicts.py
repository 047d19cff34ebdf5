"""What the last look in the background found changed or moved, for contexts that have no time to look themselves.

The job thread notes it, any thread asks for it. It names memories: `clear()` when one is forgotten."""

import threading
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from claude_mem_lite.code.freshness.verdicts import Freshness, Verdict
from claude_mem_lite.models import Memory, Place

_MOST_CHECKOUTS = 5
# Of a checkout, the newest memories: some 500 bytes each.
_MOST_NOTED = 2_000
_MOST_REASONS = 5


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
            while len(self._checkouts) >= _MOST_CHECKOUTS:
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
    return replace(found, verdict=verdict, reasons=found.reasons[:_MOST_REASONS])


def _newest(noted: dict[str, _Noted]) -> dict[str, _Noted]:
    if len(noted) <= _MOST_NOTED:
        return noted
    return dict(sorted(noted.items(), key=lambda item: item[1].seq)[-_MOST_NOTED:])
