"""Replacement of the rules' memories of a turn by those of a model, and pairs of old and new memories of a rebuild.

Called inside the worker's transaction. Memories that the user changed or another turn saw stay unchanged."""

import sqlite3
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from claude_mem_lite.knowledge import remember
from claude_mem_lite.knowledge.claims.duplicates import text_without_request
from claude_mem_lite.models import WORK_KINDS, Memory, SessionSummary
from claude_mem_lite.providers import Usage
from claude_mem_lite.store import memory_links, memory_queries, retirements, sessions, turns
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.memory_queries import BESIDE, MAX_POSITIONS
from claude_mem_lite.text import share, share_of_both, stems

_BY_RULES = ("files_read", "files_edited")
MIN_SHARED = 0.5
"""Minimum share of words, files or anchors of two memories with the same subject."""


def retell(db: sqlite3.Connection, turn: str, new: Sequence[Memory], usage: Usage, now: datetime) -> list[Memory]:
    """Replace the memories of a turn, and return the stored memories. The first stored memory carries tokens and cost
    of the call.

    A memory that must stay keeps its id, and the new memory gets another id."""
    before = memory_queries.of_turn(db, turn)
    kept = {memory.id for memory in before if _is_to_be_left_alone(db, memory, turn)}
    stored_at = min([retirements.discard(db, memory.id) for memory in before if memory.id not in kept], default=now)
    counted = False
    stored = []
    for position, memory in enumerate(new[:MAX_POSITIONS]):
        beside = short_id(turn, str(position), BESIDE)
        version = replace(memory, id=beside) if memory.id in kept else memory
        # With the time of the first storing, the new text is no news for a session that got the rules' text.
        stored.append(remember.add(db, version, turn, stored_at))
        counted = counted or retirements.add_usage(db, version.id, usage)
    return stored


def retell_session(db: sqlite3.Connection, session: str, turn: str, summary: SessionSummary, now: datetime) -> bool:
    """Merge a model's summary into the summary of the rules, unless a later turn is stored."""
    found = sessions.find(db, session)
    if found is None or turns.latest_turn(db, session) != turn:
        return False
    sessions.set_summary(db, session, over(found.summary, summary), now)
    return True


def over(rules: SessionSummary, summary: SessionSummary) -> SessionSummary:
    """Return a model's summary, with the rules' text for empty fields and the files of the rules."""
    chosen: dict[str, Any] = {
        field.name: getattr(summary, field.name)
        for field in fields(SessionSummary)
        if field.name not in _BY_RULES and getattr(summary, field.name)
    }
    return replace(rules, **chosen)


def _is_to_be_left_alone(db: sqlite3.Connection, memory: Memory, turn: str) -> bool:
    if memory.pinned or memory.status != "active" or memory.times_seen > 1 or memory.made_by == "user":
        return True
    if retirements.replaced_by(db, [memory.id]):
        return True
    return memory_links.is_seen_elsewhere(db, memory.id, turn)


def pair(old: Sequence[Memory], new: Sequence[Memory]) -> dict[int, Memory]:
    """Return the old memory for new memories by position, best match first."""
    likeness = {
        (was, now): shared
        for was, before in enumerate(old)
        for now, after in enumerate(new)
        if (shared := alike(before, after))
    }
    found: dict[int, int] = {}
    for was, now in sorted(likeness, key=lambda both: (-likeness[both], both)):
        if now not in found and was not in found.values():
            found[now] = was
    return {now: old[was] for now, was in found.items()}


def alike(memory: Memory, other: Memory) -> float:
    """Return the similarity of two memories of one turn, from `MIN_SHARED` to 2; 0 for different subjects."""
    if place_of(memory) != place_of(other):
        return 0.0
    smaller, larger = sorted((stems(text_without_request(memory)), stems(text_without_request(other))), key=len)
    words = share(smaller, larger)
    shared = max(words, _shared(memory.files, other.files), _shared(memory.anchors, other.anchors))
    if shared < MIN_SHARED:
        return 0.0
    return shared + (memory.title.lower() == other.title.lower()) + words / 100  # words decide between equal files


def place_of(memory: Memory) -> str:
    """Return the place of a memory in a turn: one place for all kinds of work, else the kind."""
    return "work" if memory.kind in (*WORK_KINDS, "failure") else memory.kind


def _shared(items: Sequence[str], others: Sequence[str]) -> float:
    return share_of_both(set(items), set(others)) if items or others else 0.0
