"""What a rebuild changed: the memories of some turns before and after it, compared. Reads only."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from claude_mem_lite.models import Memory
from claude_mem_lite.store import lesson_candidates, memories, memory_links, rebuilds, turns

_HELD = ("active", "quarantined")


class Change(NamedTuple):
    """What became of one memory, with the title that it has, or had."""

    change: Literal["new", "reworded", "taken back"]
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Report:
    """Turns that were made anew and turns that were left, and what became of their memories."""

    turns: int = 0
    left: int = 0
    kept: int = 0
    reworded: int = 0
    new: int = 0
    taken_back: int = 0
    unsure: int = 0
    """Sentences that may be lessons and were not known before."""
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What some turns of a session have seen, and which of these turns are of an older composer."""

    memories: dict[str, Memory]
    stale: frozenset[str]
    unsure: int


def snapshot(db: sqlite3.Connection, session: str, keys: Sequence[str]) -> Snapshot:
    """Return how the memories of turns stand now; the handoff of their session belongs to its last turn."""
    handoff = memories.handoff_id(session)
    ids = [id_ for id_ in memory_links.memories_in(db, keys) if id_ != handoff]
    ids += [handoff] if turns.latest_turn(db, session) in keys else []
    held = {one.id: one for one in memories.by_ids(db, ids) if one.status in _HELD}
    stale = {one.turn for one in rebuilds.stale_turns(db, session)}
    unsure = [one for key in keys for one in lesson_candidates.of_turn(db, key)]
    return Snapshot(held, frozenset(stale & set(keys)), sum(one.state in lesson_candidates.OPEN for one in unsure))


def compared(before: Snapshot, after: Snapshot) -> Report:
    """Return what changed between two snapshots."""
    both = before.memories.keys() & after.memories.keys()
    reworded = [id_ for id_ in both if _says(before.memories[id_]) != _says(after.memories[id_])]
    new = after.memories.keys() - both
    gone = before.memories.keys() - both
    changes = (
        *(Change("new", id_, after.memories[id_].title) for id_ in sorted(new)),
        *(Change("reworded", id_, after.memories[id_].title) for id_ in sorted(reworded)),
        *(Change("taken back", id_, before.memories[id_].title) for id_ in sorted(gone)),
    )
    return Report(
        turns=len(before.stale - after.stale),
        left=len(after.stale),
        kept=len(both) - len(reworded),
        reworded=len(reworded),
        new=len(new),
        taken_back=len(gone),
        unsure=max(after.unsure - before.unsure, 0),
        changes=changes,
    )


def _says(memory: Memory) -> tuple[object, ...]:
    return memory.kind, memory.title, memory.summary, memory.detail, memory.facts, memory.files, memory.anchors
