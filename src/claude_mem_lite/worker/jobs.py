"""What becomes of one unit of the inbox: events -> compression -> store. Runs in the worker's job thread."""

import json
import logging
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.agents import event_from_payload, spool_time, why_skipped
from claude_mem_lite.compress.summary import summarize
from claude_mem_lite.compress.turns import fold
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.models import Draft, Event, Memory, Place, Receipt, Turn
from claude_mem_lite.places import find_place
from claude_mem_lite.store import memories, receipts, sessions

log = logging.getLogger(__name__)


def process(unit: Sequence[Row], queue: Queue, db: sqlite3.Connection, config: Config, now: datetime) -> set[str]:
    """Work on one unit to the end; returns the projects whose context changed. Twice is as good as once."""
    kept = _readable(unit, queue, config, now)
    if not kept:
        return set()
    events = [event for _, event in kept]
    touched: set[str] = set()
    if events[0].kind in ("SessionStart", "PreCompact"):
        with atomic(db):
            sessions.touch(db, events[0], find_place(events[0].cwd))
    else:
        touched = {_store_turn(kept[0][0].name, events, db)}
    queue.done([row.id for row, _ in kept], now.timestamp())
    return touched


def process_note(row: Row, queue: Queue, db: sqlite3.Connection, start: Row | None, now: datetime) -> None:
    """A hook printed the rendered context because nobody answered in time: that context was given."""
    if start is not None:
        event = event_from_payload(start.name, spool_time(start.name), json.loads(start.payload))
        receipt = Receipt(
            spool_name=start.name,
            session=event.session,
            project=find_place(event.cwd).project,
            moment=event.source or "startup",
            items=(),
            layers=("rendered",),
            layers_skipped=(),
            tokens=0,
            budget=0,
            build_ms=0.0,
            created_at=now,
            given_at=spool_time(row.name),
        )
        with atomic(db):
            receipts.add(db, receipt)
    queue.done([row.id], now.timestamp())


def _readable(unit: Sequence[Row], queue: Queue, config: Config, now: datetime) -> list[tuple[Row, Event]]:
    """The events of a unit that are worth working on; the others are skipped with their reason."""
    kept = []
    for row in unit:
        try:
            payload = json.loads(row.payload)
        except ValueError:  # an unreadable event that was told to be tried again
            queue.fail([row.id], "the payload is no JSON", now.timestamp(), final=True)
            continue
        try:
            event = event_from_payload(row.name, spool_time(row.name), payload)
        except PayloadError as error:
            queue.skip(row.id, error.message, now.timestamp())
            continue
        reason = why_skipped(event, payload)
        if event.tool is not None and event.tool.tool in config.ignored_tools:
            reason = f"tool {event.tool.tool} is ignored by configuration"
        if reason is not None:
            queue.skip(row.id, reason, now.timestamp())
        else:
            kept.append((row, event))
    return kept


def _store_turn(key: str, events: list[Event], db: sqlite3.Connection) -> str:
    """Compress and store one turn; returns its project."""
    first, last = events[0], events[-1]
    before = sessions.find(db, first.session)
    place = find_place(first.cwd)
    project = before.project if before else place.project
    asked = next((event.prompt for event in events if event.prompt), "")
    turn = Turn(key, first.session, project, asked or sessions.last_prompt(db, first.session), tuple(events))
    digest = fold(turn)
    reply = next((event.message for event in reversed(events) if event.message and not event.agent_id), "")
    with atomic(db):
        for event in (first, last):
            sessions.touch(db, event, place)
        if sessions.add_turn(db, key, first, asked, reply):
            for position, draft in enumerate(digest.drafts):
                memories.add(db, _memory(draft, turn, place, position, last.at), key)
            if any(event.kind != "SessionEnd" for event in events):
                summary = summarize(before.summary if before else None, turn, digest)
                sessions.set_summary(db, first.session, summary)
        _close(db, before.status if before else "active", events)
    log.info(
        "turn stored",
        extra={
            "session": first.session,
            "events": len(events),
            "memories": len(digest.drafts),
            "skipped": digest.skipped,
        },
    )
    return project


def _close(db: sqlite3.Connection, status_before: str, events: list[Event]) -> None:
    """Set the session's status by how the turn ended; a failed last turn leaves a failed session."""
    last = events[-1]
    if last.kind == "StopFailure":
        sessions.close(db, last.session, "failed", last.at)
    elif last.kind == "SessionEnd":
        failed = len(events) == 1 and status_before == "failed"
        sessions.close(db, last.session, "failed" if failed else "completed", last.at)


def _memory(draft: Draft, turn: Turn, place: Place, position: int, at: datetime) -> Memory:
    return Memory(
        id=memories.memory_id(turn.key, str(position), draft.kind, draft.title),
        kind=draft.kind,
        title=draft.title,
        summary=draft.summary,
        detail=draft.detail,
        facts=draft.facts,
        files=draft.files,
        symbols=draft.symbols,
        tags=draft.tags,
        origin=draft.origin,
        confidence=draft.confidence,
        created_at=at,
        last_seen_at=at,
        scope=f"project:{turn.project}",
        project=turn.project,
        session=turn.session,
        prompt=turn.prompt[:1000],
        branch=place.branch,
        commit=place.commit,
    )
