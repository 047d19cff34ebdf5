"""A checkout as one context or one answer sees it, within the time there is for it."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.code.anchors import CodeAnchor
from claude_mem_lite.code.values import ABSENT, CodeChange
from claude_mem_lite.codebase import standing
from claude_mem_lite.codebase.cache import CodeCache
from claude_mem_lite.codebase.freshness import Freshness, judge
from claude_mem_lite.codebase.moves import Moves
from claude_mem_lite.codebase.origins import made_here
from claude_mem_lite.codebase.standing import Tie, look_at
from claude_mem_lite.context.checkout import Standing
from claude_mem_lite.models import Memory, Place
from claude_mem_lite.store.visibility import Hidden


@dataclass(frozen=True, slots=True)
class SeenCheckout:
    """For one thread, and one occasion: the deadline, on the monotonic clock, is for all that it is asked."""

    db: sqlite3.Connection
    cache: CodeCache
    place: Place
    moves: Moves | None
    deadline: float
    hidden: Hidden = ()

    def freshness(self, memories: Sequence[Memory]) -> dict[str, Freshness]:
        """Whether the code that memories of this project tell of is still as they tell it, by their ids."""
        own = [memory for memory in memories if memory.project == self.place.project]
        here = made_here(self.db, self.place, own)
        return judge(self.cache, self.place.root, own, self.deadline, self.moves, here)

    def standing(self, changes: Sequence[CodeChange]) -> list[Standing]:
        """Whether functions are still as a session left them, one answer a change."""
        anchors = [CodeAnchor(one.file, one.name, after=one.after, before=one.before) for one in changes]
        told = look_at(self.cache, self.place.root, list(map(Tie, anchors)), self.deadline, self.moves)
        return [_as_told(one.standing, anchor) for one, anchor in zip(told, anchors, strict=True)]


def _as_told(found: standing.Standing, anchor: CodeAnchor) -> Standing:
    if found in ("same", "unknown"):
        return "as told" if found == "same" else "unknown"
    is_absent = found == "gone" or (found == "undone" and anchor.before == ABSENT)
    return "gone since" if is_absent else "changed since"
