"""A forgotten memory stored again, as it was: the other half of `forgetting`, for whoever takes it back at once.

What went with it stays gone: the words of its turns, its receipts, and what repeated it."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.models import Memory
from claude_mem_lite.store import (
    conflicts,
    memories,
    project_marks,
    retirements,
    sessions,
    sightings,
    supersession,
    tombstones,
)
from claude_mem_lite.store.retirements import Retirement


@dataclass(frozen=True, slots=True)
class Record:
    """All that is known of a memory that is to come back."""

    memory: Memory
    retirement: Retirement | None = None
    replaced: Sequence[str] = ()
    """The ids of what it had replaced."""


def restore(db: sqlite3.Connection, record: Record, command: str, now: datetime) -> None:
    """Lift the tombstones of a memory and store it under its id, inside the caller's transaction; one that is there
    already stays as it is."""
    memory = record.memory
    tombstones.lift_memory(db, memory, now)
    project = project_marks.current_id(db, memory.project)
    is_own = memory.scope == f"project:{memory.project}"
    memory = replace(memory, project=project, scope=f"project:{project}" if is_own else memory.scope)
    if memories.find(db, memory.id) is not None:
        return
    memories.insert(db, memory, now)
    sightings.note(db, memory.id, command)  # so that what the command holds goes when the memory is forgotten
    if record.retirement is not None:
        cause, reason, at = record.retirement
        retirements.note(db, memory.id, cause, reason, at)
    # When this one went, its own successor was given to them, and none when that went with it.
    db.execute(
        """update memories set superseded_by = :id
           where id in (select value from json_each(:replaced)) and status = 'superseded'
             and (superseded_by is null or superseded_by is :successor)""",
        {"id": memory.id, "replaced": json.dumps(list(record.replaced)), "successor": memory.superseded_by},
    )
    for other in supersession.ids_contradicting(db, memory):
        conflicts.note(db, memory.id, other, now)
    sessions.note_project(db, memory.project, min(memory.last_seen_at, now))
