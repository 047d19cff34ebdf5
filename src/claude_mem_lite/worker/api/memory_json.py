"""How memories stand to each other, for whoever is shown one: what replaced it and what it replaced, what contradicts
it, and since when and why it is given to nobody. Reads only."""

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict

from claude_mem_lite.knowledge.claims import supersession
from claude_mem_lite.models import Memory, Tally
from claude_mem_lite.store import memories, memory_links, receipts, retirements


def related(db: sqlite3.Connection, found: Sequence[Memory]) -> dict[str, dict[str, object]]:
    """What is to be told beside each of these memories, by their ids."""
    ids = [memory.id for memory in found]
    against = memory_links.of(db, ids)
    retired = retirements.of(db, [memory.id for memory in found if memory.status == "retired"])
    given = receipts.tallies(db, ids)
    told: dict[str, dict[str, object]] = {}
    for memory in found:
        why = retired.get(memory.id)
        others = [other for id_ in against.get(memory.id, ()) if (other := memories.find(db, id_))]
        successor = memories.find(db, memory.superseded_by) if memory.superseded_by else None
        told[memory.id] = {
            "retired_at": why.at.isoformat() if why else None,
            "retired_cause": why.cause if why else None,
            "retired_because": why.reason if why else "",
            "replaced_by": brief(successor) if successor else None,
            "replaced": [brief(one) for one in supersession.replaced_by(db, [memory.id])],
            "conflicts": [brief(one) for one in others],
            "given": asdict(given.get(memory.id, Tally())),
        }
    return told


def shown(db: sqlite3.Connection, memory: Memory) -> dict[str, object]:
    """All of one memory, with what is to be told beside it."""
    return {**asdict(memory), **related(db, [memory])[memory.id]}


def brief(memory: Memory) -> dict[str, object]:
    """As much of a memory as is told beside another, or in a list of what is stale."""
    return {
        "id": memory.id,
        "kind": memory.kind,
        "title": memory.title,
        "status": memory.status,
        "origin": memory.origin,
        "pinned": memory.pinned,
        "created_at": memory.created_at.isoformat(),
        "last_seen_at": memory.last_seen_at.isoformat(),
    }
