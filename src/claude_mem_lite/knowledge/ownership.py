"""Ownership of memories: an agent erases nothing that its user stated, changed, pinned or confirmed.

The one rule for `memory_forget` and for `forget` and `retire` in an agent's shell. Called while such a command is
carried out."""

import sqlite3

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.knowledge.user_edits import CONFIRMED
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memory_links
from claude_mem_lite.store.ids import short_id


def refuse_agent(db: sqlite3.Connection, memory: Memory, project: str, command: str) -> None:
    """MemoryLiteError when an agent that works in a project may not forget or retire a memory."""
    if memory.scope.startswith("project:") and memory.scope != f"project:{project}":
        raise MemoryLiteError(f"{memory.id} is a memory of another project", f"it can be changed there by `{command}`")
    if memory.status == "quarantined":
        raise MemoryLiteError(f"{memory.id} is in quarantine", "the user can run `claude-mem-lite quarantine`")
    if is_users(db, memory):
        raise MemoryLiteError(
            f"{memory.id} was stated, changed, pinned or confirmed by the user, so nothing was changed",
            f"ask the user, who can run `claude-mem-lite {command} {memory.id}` in a terminal of their own",
        )


def is_users(db: sqlite3.Connection, memory: Memory) -> bool:
    """Whether the user stands for a memory, whoever worded it first."""
    return memory.pinned or "user" in (memory.origin, memory.made_by) or _is_confirmed(db, memory)


def _is_confirmed(db: sqlite3.Connection, memory: Memory) -> bool:
    """Whether a command after the one that made a memory left it as sure as a confirmed one."""
    later = (name for name in memory_links.commands_on(db, memory.id) if short_id(name) != memory.id)
    return memory.confidence >= CONFIRMED and any(later)
