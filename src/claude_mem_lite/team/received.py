"""Received memories in the table `memories`: storing, updating, and reconciliation with the memories of this device.

Called by `replica` inside its transaction."""

import sqlite3
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.compress.toolcalls.provenance import text_of
from claude_mem_lite.knowledge import remember
from claude_mem_lite.knowledge.quarantine import checked_save, without_approval
from claude_mem_lite.models import Memory, Status
from claude_mem_lite.store import memories, memory_queries, retirements
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.team.body import MADE_BY
from claude_mem_lite.team.entry import uid_of

_TEXT = ("kind", "title", "summary", "facts", "files", "symbols", "anchors", "tags", "branch", "commit")


def id_of(uid: str, *more: str) -> str:
    """Return the local id of a received memory."""
    return short_id("team", uid, *more)


def is_received(memory: Memory) -> bool:
    """Return whether a memory came from the team and the user has not edited it."""
    return memory.origin == "team" and memory.made_by == MADE_BY


def with_uid(db: sqlite3.Connection, uid: str, author: str, created_at: datetime) -> Memory | None:
    """Return the memory of this device that has a uid, as in a copy of its author's home."""
    made = memory_queries.made_at(db, created_at)
    return next((memory for memory in made if uid_of(author, memory.id, memory.created_at) == uid), None)


def own_duplicate(db: sqlite3.Connection, memory: Memory) -> Memory | None:
    """Return the memory of this device that says the same as a received one, retired by the user or not."""
    return remember.find_own_duplicate(db, memory, ("assistant", "user"))


def says_the_same(local: Memory, known: Memory) -> bool:
    """Return whether a local memory has the text and status of a revision."""
    is_alive = (local.status == "active") == (known.status == "active")
    return is_alive and all(getattr(local, name) == getattr(known, name) for name in _TEXT)


def store(db: sqlite3.Connection, memory: Memory, now: datetime) -> Memory:
    """Store a received memory, in quarantine if it reads like an order, and reconcile it."""
    stored = checked_save(memory)
    remember.add_unseen(db, stored, now)
    return stored


def update(db: sqlite3.Connection, local: Memory, new: Memory, now: datetime) -> None:
    """Give a local memory the text and status of a new revision. Everything that this device learned about the memory
    stays: pin, confidence, sightings, and a retirement by its user or its code."""
    text = {name: getattr(new, name) for name in _TEXT}
    is_reworded = text_of(replace(without_approval(local), detail="")) != text_of(new)
    changed = replace(local, **text, detail="" if is_reworded else local.detail)
    if not is_reworded:
        changed = replace(changed, tags=local.tags)  # with the user's approval
    changed = replace(changed, status=_status(db, local, new, is_reworded=is_reworded))
    if changed.status == "active":
        changed = replace(changed, superseded_by=None)
        if is_reworded and is_received(local):
            changed = checked_save(changed)
    if changed == local:
        return
    memories.overwrite(db, changed)
    if changed.status == "active":
        remember.reconcile(db, changed, changed.id, now)


def _status(db: sqlite3.Connection, local: Memory, new: Memory, *, is_reworded: bool) -> Status:
    """Return the status after a revision: its author may retire and revive a memory, and so may this device."""
    if local.status == "quarantined" and not is_reworded:
        return "quarantined"
    if new.status == "retired":
        return "superseded" if local.status == "superseded" else "retired"
    retirement = retirements.of(db, [local.id]).get(local.id)
    if retirement is not None and (not is_reworded or retirement.cause == "user"):
        return "retired"
    return "superseded" if local.status == "superseded" and not is_reworded else "active"
