"""Lessons of a turn that is made anew: those of the rules are judged by the scorer of this version, and the unsure
candidates are collected. Called by the rebuild of memories, inside its transaction."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.knowledge import remember
from claude_mem_lite.knowledge.lessons import collection
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.models import UNDONE_LEAD, Memory, Turn, TurnDigest
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import memories, retirements, tombstones


def is_kept(db: sqlite3.Connection, memory: Memory) -> bool:
    """Return whether a lesson has evidence that its turn alone does not tell: code that the user put back, or
    candidates of several sessions."""
    is_undone = memory.summary.startswith(UNDONE_LEAD)
    return memory.origin == "user" and (is_undone or bool(candidates.of_memories(db, [memory.id])))


def put(db: sqlite3.Connection, made: Sequence[Memory], turn: str, at: datetime) -> list[Memory]:
    """Store the lessons that rules make of a turn now, also those that an earlier rebuild retired."""
    stored = []
    for memory in made:
        known = remember.add(db, memory, turn, at)
        retired = retirements.of(db, [known.id]).get(known.id)
        if retired is not None and retired.cause == "rebuilt" and retirements.revive(db, known.id):
            known = memories.find(db, known.id) or known
        stored.append(known)
    return stored


def collect(
    db: sqlite3.Connection, turn: Turn, digest: TurnDigest, likeness: Likeness, received_at: datetime
) -> list[Memory]:
    """Keep the unsure candidates of a turn; return the lessons that they are promoted to.

    Nothing is collected where something was forgotten before the events arrived: a transcript still has it."""
    at = turn.events[-1].at
    if tombstones.has_between(db, at, received_at):
        return []
    return collection.keep(db, collection.of_turn(turn, digest), likeness, turn.key, at)
