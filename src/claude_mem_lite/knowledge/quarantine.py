"""Quarantine: memories that give orders to an agent in words of others wait for the user's decision.

The module checks imports and saves of agents, and approves memories. `turn_memories` checks the memories of turns."""

import sqlite3
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.compress.toolcalls.provenance import text_of
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import FOREIGN_ORIGINS, GUIDANCE_KINDS, Memory
from claude_mem_lite.safety.injection import looks_like_an_attack, looks_like_instructions
from claude_mem_lite.store import memories, memory_links

APPROVED = "approved"
"""Tag of memories that the user let out of quarantine."""
STANDING_ORDERS = "gives standing orders"
"""Reason for forms that ordinary rules of a project also have."""
_UNKNOWN = "was put in quarantine by someone else's claim"


def reason_of(memory: Memory) -> str:
    """Return the reason for the quarantine of a memory, as far as the text shows."""
    return looks_like_instructions(text_of(memory)) or _UNKNOWN


def checked(memory: Memory) -> Memory:
    """Return an imported memory, in quarantine if the text gives orders: an import can claim any origin.

    Rules of the user are orders by nature, so texts of the user are held back only as attacks."""
    text = text_of(memory)
    reason = looks_like_an_attack(text) if memory.origin == "user" else looks_like_instructions(text)
    if not reason or memory.status == "quarantined":
        return memory
    return replace(memory, status="quarantined", pinned=False, superseded_by=None)


def checked_save(memory: Memory) -> Memory:
    """Return a save of an agent, in quarantine if a page may have ordered the save. A rule for the project in the
    agent's own words may be a standing order, unless the rule addresses agents or asks to be remembered."""
    text = text_of(memory)
    reason = looks_like_instructions(text)
    if reason == STANDING_ORDERS and memory.kind in GUIDANCE_KINDS and memory.origin not in FOREIGN_ORIGINS:
        reason = looks_like_an_attack(text)
    return replace(memory, status="quarantined") if reason else memory


def without_approval(memory: Memory) -> Memory:
    """Return a memory without the tag that only the user may set."""
    return replace(memory, tags=tuple(tag for tag in memory.tags if tag.strip().casefold() != APPROVED))


def approve(name: str, memory: Memory, db: sqlite3.Connection, now: datetime) -> None:
    """Let a memory out of quarantine, so that search finds it. The user trusts the text; code and date stay unchecked.
    The origin stays, so text of pages and foreign tools is injected only if the memory is pinned."""
    if memory.status == "active" and APPROVED in memory.tags:
        return  # a repeated command changes nothing
    must_wait(memory)
    with atomic(db):
        memory_links.note_sighting(db, memory.id, name)  # a model's rewrite then leaves the memory unchanged
        tags = tuple(dict.fromkeys((*memory.tags, APPROVED)))
        memories.rewrite(db, replace(memory, status="active", tags=tags))
        remember.reconcile(db, memory, name, now)


def must_wait(memory: Memory) -> None:
    """Raise MemoryLiteError for a memory that is not in quarantine."""
    if memory.status != "quarantined":
        raise MemoryLiteError(f"{memory.id} is not in quarantine", "`claude-mem-lite quarantine` lists what is")
