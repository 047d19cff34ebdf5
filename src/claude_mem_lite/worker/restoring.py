"""What the user forgot and takes back: from the record that whoever showed the memory still has, to a command, and
from the command to the memory. The command holds all of it, so that it can be replayed."""

import json
import sqlite3
from collections.abc import Mapping
from datetime import datetime
from typing import cast, get_args

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.inbox import buried
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.memory_lines import FIELDS, values_of
from claude_mem_lite.models import LONGEST_RESTORED, JsonObject, JsonValue, Memory, text, texts
from claude_mem_lite.store import memories, restoring, tombstones
from claude_mem_lite.store.retirements import Cause, Retirement


def command_of(record: JsonObject) -> JsonObject:
    """The command for a record as `GET /memories/ID` gives it; refused when that is no memory."""
    memory = {name: record[name] for name in FIELDS if name in record}
    replaced = record.get("replaced")
    asked: JsonObject = {
        "command": "restore",
        "id": text(record.get("id")),
        "memory": memory,
        "retired": {
            "cause": record.get("retired_cause"),
            "reason": record.get("retired_because"),
            "at": record.get("retired_at"),
        },
        "replaced": [text(one.get("id")) for one in replaced if isinstance(one, Mapping)]
        if isinstance(replaced, list)
        else [],
    }
    _read(asked)
    if len(json.dumps(asked)) > LONGEST_RESTORED:  # the inbox would cut it
        raise MemoryLiteError(
            f"{asked['id']} is too long to be brought back", "`claude-mem-lite import jsonl` takes it under a new id"
        )
    return asked


def refuse(db: sqlite3.Connection, id_: str) -> None:
    """MemoryLiteError unless what has this id was forgotten; once it was brought back, it may be asked for again."""
    is_lifted = tombstones.is_lifted(db, id_)
    if not is_lifted and memories.find(db, id_) is not None:
        raise MemoryLiteError(f"there is a memory {id_} that was not forgotten", "it stays as it is")
    if not is_lifted and not tombstones.is_buried(db, id_):
        raise NotFound(f"no memory {id_} was forgotten", "`claude-mem-lite remember` stores a new one")


def restore(name: str, payload: JsonObject, queue: Queue, db: sqlite3.Connection, now: datetime) -> str:
    """Store the memory of a command again and lift its tombstones in both databases."""
    record = _read(payload)
    id_ = record.memory.id
    refuse(db, id_)
    with atomic(db):
        restoring.restore(db, record, name, now)
        # Inside: a worker that dies here carries the command out once more.
        buried.lift(queue.db, tombstones.since(db, now), [id_])
    return id_


def _read(payload: JsonObject) -> restoring.Record:
    told = payload.get("memory")
    given = told if isinstance(told, Mapping) else {}
    values, problems = values_of(given)
    problems += [f"{name} is missing" for name in FIELDS if name not in given]
    if problems:
        raise MemoryLiteError(f"this is no memory that was forgotten: {problems[0]}")
    memory = Memory(**values)  # type: ignore[arg-type]  # checked, one by one
    return restoring.Record(memory, _retirement(payload.get("retired")), texts(payload.get("replaced")))


def _retirement(told: JsonValue) -> Retirement | None:
    given = told if isinstance(told, Mapping) else {}
    cause = given.get("cause")
    if cause not in get_args(Cause):
        return None
    try:
        at = datetime.fromisoformat(text(given.get("at")))
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise MemoryLiteError("this is no memory that was forgotten: nobody knows when it was retired")
    return Retirement(cast("Cause", cause), text(given.get("reason")), at)
