"""Memories that must not be found before the user has seen them: those that give orders to an agent in the words of
others. Here is what the user decides about them, and the check of what is brought in from elsewhere.

What a turn made is checked where it becomes a memory (jobs.memory_of)."""

import sqlite3
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.compress.toolcalls.provenance import told_by
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.knowledge import reconcile
from claude_mem_lite.models import FOREIGN_ORIGINS, GUIDANCE_KINDS, Memory
from claude_mem_lite.safety.injection import looks_like_an_attack, looks_like_instructions
from claude_mem_lite.store import memories, memory_links

APPROVED = "approved"
"""The tag of what the user let out of quarantine."""
STANDING_ORDERS = "gives standing orders"
"""The reason of forms that rules of a project have too."""
_UNKNOWN = "was put there by somebody else's word"


def reason_of(memory: Memory) -> str:
    """Why a memory is in quarantine, as far as its words tell."""
    return looks_like_instructions(told_by(memory)) or _UNKNOWN


def checked(memory: Memory) -> Memory:
    """A memory that is brought in from elsewhere, held back if it gives orders: it can claim to be anything.

    Rules of the user are orders by nature, so of what is said to be theirs only attacks are held back."""
    told = told_by(memory)
    reason = looks_like_an_attack(told) if memory.origin == "user" else looks_like_instructions(told)
    if not reason or memory.status == "quarantined":
        return memory
    return replace(memory, status="quarantined", pinned=False, superseded_by=None)


def checked_save(memory: Memory) -> Memory:
    """What an agent wants to be kept: a page may have told it to. Only a rule for the project in its own words may be a
    standing order; what speaks to agents, or wants to be remembered, is none."""
    told = told_by(memory)
    reason = looks_like_instructions(told)
    if reason == STANDING_ORDERS and memory.kind in GUIDANCE_KINDS and memory.origin not in FOREIGN_ORIGINS:
        reason = looks_like_an_attack(told)
    return replace(memory, status="quarantined") if reason else memory


def without_approval(memory: Memory) -> Memory:
    """A memory that nobody but the user may have let out of quarantine, without the mark of that."""
    return replace(memory, tags=tuple(tag for tag in memory.tags if tag.strip().casefold() != APPROVED))


def approve(name: str, memory: Memory, db: sqlite3.Connection, now: datetime) -> None:
    """Let a memory out of quarantine: search finds it from now on. The user trusts its text, and says nothing about its
    code or its date. Its origin stays, so words of pages and foreign tools are given unasked only if pinned besides."""
    if memory.status == "active" and APPROVED in memory.tags:
        return  # twice is as good as once
    must_wait(memory)
    with atomic(db):
        memory_links.note_sighting(db, memory.id, name)  # told anew by a model, the turn leaves it alone
        tags = tuple(dict.fromkeys((*memory.tags, APPROVED)))
        memories.rewrite(db, replace(memory, status="active", tags=tags))
        reconcile.settle(db, memory, name, now)


def must_wait(memory: Memory) -> None:
    """MemoryLiteError for what is not in quarantine."""
    if memory.status != "quarantined":
        raise MemoryLiteError(f"{memory.id} is not in quarantine", "`claude-mem-lite quarantine` lists what is")
