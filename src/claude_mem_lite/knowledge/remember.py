"""Store a memory, or count it as a sighting of one that says the same."""

import json
import sqlite3
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.knowledge.claims.claim import found_by
from claude_mem_lite.knowledge.claims.duplicates import TOLD_KINDS, joined, say_the_same
from claude_mem_lite.models import Kind, Memory
from claude_mem_lite.store import memories, memory_links, tombstones
from claude_mem_lite.store.index import fts
from claude_mem_lite.store.memories import from_row
from claude_mem_lite.timestamps import time_to_text

_MAX_CANDIDATES = 30


def add(db: sqlite3.Connection, memory: Memory, turn: str, now: datetime) -> Memory:
    """Store a memory seen in a turn, or count the turn as one more sighting of what is known already."""
    if tombstones.is_buried(db, memory.id):
        return memory
    known = find_same(db, memory)
    if known is None:
        memories.insert(db, memory, now)
        memory_links.note_sighting(db, memory.id, turn)
        return memory
    if known.id != memory.id:
        more = joined(known, memory)
        known = replace(more, times_seen=known.times_seen + memory_links.note_sighting(db, known.id, turn))
        if known.status == "retired" and _is_said_since(db, known, memory):
            db.execute("delete from retirements where memory = ?", (known.id,))
            known = replace(known, status="active")
        memories.overwrite(db, known)
    return known


def find_same(db: sqlite3.Connection, memory: Memory) -> Memory | None:
    """What is known already and says the same: the one with its id, else the oldest that does."""
    row = db.execute("select * from memories where id = ?", (memory.id,)).fetchone()
    if row is not None:
        return from_row(row)
    if memory.status == "quarantined":
        return _same_in_quarantine(db, memory)
    found = _alike(db, memory)
    active = next((one for one in found if say_the_same(one, memory)), None)
    if active is not None:
        return active
    # What the user retired, or was contradicted too often, is known too: found again, it is not told anew.
    settled = (one for one in found if one.status == "retired")
    return next((one for one in settled if say_the_same(replace(one, status="active"), memory)), None)


def _is_said_since(db: sqlite3.Connection, known: Memory, memory: Memory) -> bool:
    """Whether the user says again what was retired: only that brings it back, not an old session that is read late."""
    row = db.execute("select at from retirements where memory = ?", (known.id,)).fetchone()
    return memory.origin == "user" and row is not None and row["at"] < time_to_text(memory.last_seen_at)


def _same_in_quarantine(db: sqlite3.Connection, memory: Memory) -> Memory | None:
    """What waits there already, word for word: joined with anything else, its words would get out with that."""
    row = db.execute(
        """select * from memories where status = 'quarantined' and scope = :scope and kind = :kind and title = :title
             and summary = :summary and origin = :origin order by seq limit 1""",
        {name: getattr(memory, name) for name in ("scope", "kind", "title", "summary", "origin")},
    ).fetchone()
    return from_row(row) if row is not None else None


def _alike(db: sqlite3.Connection, memory: Memory) -> list[Memory]:
    """Memories of the same kind and scope that may say the same; of what the user lays down, of all such kinds."""
    held = """(memories.status = 'active' or (memories.status = 'retired' and exists (select 1 from retirements
        where retirements.memory = memories.id and cause in ('user', 'contradicted'))))"""
    kinds: tuple[Kind, ...] = (memory.kind,)
    alike = fts.alike(db, memory, _MAX_CANDIDATES)
    if memory.origin == "user" and memory.kind in TOLD_KINDS:
        words = found_by(memory.title, is_against=memory.kind == "anti_pattern")
        kinds, alike = TOLD_KINDS, [*alike, *fts.naming(db, words, memory.scope, _MAX_CANDIDATES)]
    rows = db.execute(
        # The signs keep SQLite from looking at all of the scope and kind (6 ms at 20,000) where it has the rows.
        f"""select * from memories where seq in (select value from json_each(:alike))
             and +kind in (select value from json_each(:kinds)) and {held} and +scope = :scope
           union
           select * from memories where kind = :kind and {held} and scope = :scope
             and lower(title) = lower(:title)
           order by seq limit :limit""",
        {
            "scope": memory.scope,
            "kind": memory.kind,
            "kinds": json.dumps(kinds),
            "title": memory.title,
            "alike": json.dumps(alike),
            "limit": _MAX_CANDIDATES,
        },
    )
    return [from_row(row) for row in rows]
