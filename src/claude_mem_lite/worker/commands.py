"""What the user does by command, taken from the inbox like any event, so that recovery can replay it."""

import sqlite3
from datetime import datetime

from claude_mem_lite.compress.language.clean import clean
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.inbox.model_turns import ModelTurns
from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.models import KINDS, LONGEST_TITLE, JsonObject, Memory, text, texts
from claude_mem_lite.places import find_place
from claude_mem_lite.spool_names import time_of
from claude_mem_lite.store import forgetting, memories, model_calls, sessions
from claude_mem_lite.words import within
from claude_mem_lite.worker.scopes import resolve_scope


def carry_out(row: Row, queue: Queue, model_turns: ModelTurns, db: sqlite3.Connection, now: datetime) -> list[str]:
    """Do what a command says; returns the ids of the memories concerned."""
    payload = parse(row.payload.encode())
    if payload.get("command") == "remember":
        return [_remember(row.name, payload, db, now)]
    if payload.get("command") == "forget":
        return _forget(payload, queue, model_turns, db, now)
    raise MemoryLiteError(f"unknown command {payload.get('command')!r}")


def _remember(name: str, payload: JsonObject, db: sqlite3.Connection, now: datetime) -> str:
    kind = next((known for known in KINDS if known == payload.get("kind")), None)
    words = clean(text(payload.get("text"))).strip()
    if kind is None or not words:
        raise MemoryLiteError("a memory needs a known kind and some text", f"kinds are {', '.join(KINDS)}")
    place = find_place(text(payload.get("cwd")))
    scope = resolve_scope(db, text(payload.get("scope")), kind, place.project)
    at = time_of(name)
    title = words.splitlines()[0]
    memory = Memory(
        id=memories.memory_id(name),
        kind=kind,
        title=within(title, LONGEST_TITLE),
        summary=words,
        created_at=at,
        last_seen_at=at,
        scope=scope,
        project=scope.removeprefix("project:") if scope.startswith("project:") else place.project,
        tags=texts(payload.get("tags")),
        branch=place.branch,
        commit=place.commit,
        origin="user",
        confidence=1.0,
        made_by="user",
    )
    with atomic(db):
        return memories.add(db, memory, name, now).id


def _forget(
    payload: JsonObject, queue: Queue, model_turns: ModelTurns, db: sqlite3.Connection, now: datetime
) -> list[str]:
    """Remove memories from every table, the index and the inbox; sessions and projects with all they hold."""
    session, project = text(payload.get("session")) or None, text(payload.get("project")) or None
    project = sessions.find_project(db, project) if project else None
    ids = [memories.get(db, wanted).id for wanted in texts(payload.get("ids"))]
    ids += memories.ids_of(db, session=session, project=project)
    whole = ([session] if session else []) + (sessions.ids_of_project(db, project) if project else [])
    if not ids and not any(sessions.find(db, one) for one in whole):
        raise NotFound("there is nothing to forget by that name", "`claude-mem-lite list` shows what there is")
    with atomic(db):
        turns = forgetting.forget(db, ids, whole, now)
        model_calls.forget(db, turns, whole)
        # Inside: a worker that dies here finds the memories again, and with them the events to erase.
        model_turns.erase(turns=turns, sessions=whole)
        queue.erase(turns=turns, sessions=whole)
    db.execute("pragma wal_checkpoint(truncate)")
    return ids
