"""Telling a turn anew: what a model made of it takes the place of what rules had made.

Called by the worker inside its transaction. What the user or another turn has a hand in is left alone."""

import sqlite3
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from claude_mem_lite.knowledge import remember
from claude_mem_lite.knowledge.claims import supersession
from claude_mem_lite.models import Memory, SessionSummary, Usage
from claude_mem_lite.store import memories, memory_links, memory_queries, sessions, turns
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.memory_queries import BESIDE, MAX_POSITIONS
from claude_mem_lite.timestamps import text_to_time

_BY_RULES = ("files_read", "files_edited")


def retell(db: sqlite3.Connection, turn: str, told: Sequence[Memory], usage: Usage, now: datetime) -> list[Memory]:
    """Put these memories in the place of a turn's; the first one stored carries what the call took. Returns what is
    stored of them now.

    A memory that must be left alone keeps its id, and the new one stands beside it."""
    before = memory_queries.of_turn(db, turn)
    kept = {memory.id for memory in before if _is_to_be_left_alone(db, memory, turn)}
    stored_at = min([_discard(db, memory.id) for memory in before if memory.id not in kept], default=now)
    counted = False
    stored = []
    for position, memory in enumerate(told[:MAX_POSITIONS]):
        beside = short_id(turn, str(position), BESIDE)
        new = replace(memory, id=beside) if memory.id in kept else memory
        # Stored when the turn was first told: a session that was given the rules' words is not given it as news.
        stored.append(remember.add(db, new, turn, stored_at))
        counted = counted or _count(db, new.id, usage)
    return stored


def retell_session(db: sqlite3.Connection, session: str, turn: str, told: SessionSummary, now: datetime) -> bool:
    """Put a model's summary over the one by rules, unless a later turn has been told since."""
    found = sessions.find(db, session)
    if found is None or turns.latest_turn(db, session) != turn:
        return False
    sessions.set_summary(db, session, over(found.summary, told), now)
    return True


def over(rules: SessionSummary, told: SessionSummary) -> SessionSummary:
    """A model's summary, with the rules' words where it has none, and the files as rules saw them."""
    chosen: dict[str, Any] = {
        field.name: getattr(told, field.name)
        for field in fields(SessionSummary)
        if field.name not in _BY_RULES and getattr(told, field.name)
    }
    return replace(rules, **chosen)


def _is_to_be_left_alone(db: sqlite3.Connection, memory: Memory, turn: str) -> bool:
    if memory.pinned or memory.status != "active" or memory.times_seen > 1 or memory.made_by == "user":
        return True
    if supersession.replaced_by(db, [memory.id]):
        return True
    return memory_links.is_seen_elsewhere(db, memory.id, turn)


def _discard(db: sqlite3.Connection, id_: str) -> datetime:
    """Remove a memory without a tombstone, to be told anew; returns when it was stored."""
    row = db.execute("delete from memories where id = ? returning seq, stored_at", (id_,)).fetchone()
    memories.remove_derived(db, row["seq"])
    memory_links.remove_sightings(db, id_)
    memory_links.drop_conflicts(db, id_)
    return text_to_time(row["stored_at"])


def _count(db: sqlite3.Connection, id_: str, usage: Usage) -> bool:
    """Note on a memory what telling the turn took; False when the memory was not stored under this id."""
    changed = db.execute(
        """update memories set tokens_in = tokens_in + :tokens_in, tokens_out = tokens_out + :tokens_out,
               cost_usd = cost_usd + :cost_usd where id = :id""",
        {"id": id_, "tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, "cost_usd": usage.cost_usd},
    )
    return changed.rowcount == 1
