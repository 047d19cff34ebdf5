"""What a rebuild changed: the memories of some turns before and after it, compared. Reads only."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, rebuilds, sightings, turns

_HELD = ("active", "quarantined")


@dataclass(frozen=True, slots=True)
class Report:
    """Turns that were made anew and turns that were left, and what became of their memories."""

    turns: int = 0
    left: int = 0
    kept: int = 0
    reworded: int = 0
    new: int = 0
    taken_back: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What some turns of a session have seen, and which of these turns are of an older composer."""

    memories: dict[str, Memory]
    stale: frozenset[str]


def snapshot(db: sqlite3.Connection, session: str, keys: Sequence[str]) -> Snapshot:
    """Return how the memories of turns stand now; the handoff of their session belongs to its last turn."""
    handoff = memories.handoff_id(session)
    ids = [id_ for id_ in sightings.memories_in(db, keys) if id_ != handoff]
    ids += [handoff] if turns.latest_turn(db, session) in keys else []
    held = {one.id: one for one in memories.by_ids(db, ids) if one.status in _HELD}
    stale = {one.turn for one in rebuilds.stale_turns(db, session)}
    return Snapshot(held, frozenset(stale & set(keys)))


def compared(before: Snapshot, after: Snapshot) -> Report:
    """Return what changed between two snapshots."""
    both = before.memories.keys() & after.memories.keys()
    kept = sum(_says(before.memories[id_]) == _says(after.memories[id_]) for id_ in both)
    return Report(
        turns=len(before.stale - after.stale),
        left=len(after.stale),
        kept=kept,
        reworded=len(both) - kept,
        new=len(after.memories) - len(both),
        taken_back=len(before.memories) - len(both),
    )


def _says(memory: Memory) -> tuple[object, ...]:
    return memory.kind, memory.title, memory.summary, memory.detail, memory.facts, memory.files, memory.anchors
