"""Memories as the API returns them: with their relations to other memories, their retirement and their injections."""

import sqlite3
from collections.abc import Sequence

from claude_mem_lite.models import Memory, Tally
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.memories import MemoryBrief, MemoryRecord, MemoryRelations
from claude_mem_lite.store import memories, memory_links, receipts, retirements


def related(db: sqlite3.Connection, found: Sequence[Memory]) -> dict[str, MemoryRelations]:
    """Return the relations of memories by their ids."""
    ids = [memory.id for memory in found]
    against = memory_links.of(db, ids)
    retired = retirements.of(db, [memory.id for memory in found if memory.status == "retired"])
    given = receipts.tallies(db, ids)
    relations: dict[str, MemoryRelations] = {}
    for memory in found:
        retirement = retired.get(memory.id)
        others = [other for id_ in against.get(memory.id, ()) if (other := memories.find(db, id_))]
        successor = memories.find(db, memory.superseded_by) if memory.superseded_by else None
        relations[memory.id] = MemoryRelations(
            retired_at=retirement.at.isoformat() if retirement else None,
            retired_cause=retirement.cause if retirement else None,
            retired_because=retirement.reason if retirement else "",
            replaced_by=brief(successor) if successor else None,
            replaced=tuple(brief(older) for older in retirements.replaced_by(db, [memory.id])),
            conflicts=tuple(brief(other) for other in others),
            given=given.get(memory.id, Tally()),
        )
    return relations


def shown(db: sqlite3.Connection, memory: Memory) -> MemoryRecord:
    """Return a memory with its relations."""
    return response_from(MemoryRecord, memory, related(db, [memory])[memory.id])


def brief(memory: Memory) -> MemoryBrief:
    times = {"created_at": memory.created_at.isoformat(), "last_seen_at": memory.last_seen_at.isoformat()}
    return response_from(MemoryBrief, memory, **times)
