"""What becomes of one unit of the inbox: events -> compression -> store. Runs in the worker's job thread."""

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from claude_mem_lite.agents import event_from_payload, why_skipped
from claude_mem_lite.compress.summary import summarize
from claude_mem_lite.compress.turns import fold
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.models import Draft, Event, Memory, Place, Turn
from claude_mem_lite.places import find_place
from claude_mem_lite.spool_names import time_of
from claude_mem_lite.store import memories, receipts, sessions
from claude_mem_lite.worker import rendered

_CLOCK_SLACK_S = 300.0
log = logging.getLogger(__name__)


def process(unit: Sequence[Row], queue: Queue, db: sqlite3.Connection, config: Config, now: datetime) -> set[str]:
    """Work on one unit to the end; returns the projects whose context changed. Twice is as good as once."""
    kept, skipped = _sort_out(unit, config)
    events = list(kept.values())
    touched: set[str] = set()
    if events and events[0].kind in ("SessionStart", "PreCompact"):
        with atomic(db):
            sessions.touch(db, events[0], find_place(events[0].cwd))
            if events[0].kind == "PreCompact":
                sessions.mark_compacted(db, events[0].session, events[0].at)
    elif events:
        touched = {_store_turn(unit[0].name, events, db, now)}
    queue.finish(list(kept), now.timestamp(), skipped=skipped)
    return touched


def record_rendered(row: Row, queue: Queue, db: sqlite3.Connection, start: Row | None, now: datetime) -> None:
    """A hook printed the rendered context because nobody answered in time: that context was given, as it was built."""
    event = _start_event(start) if start is not None else None
    told = parse(row.payload.encode()).get("context")
    if event is not None and isinstance(told, dict):
        receipt = rendered.receipt_of(told, event, find_place(event.cwd), time_of(row.name))
        with atomic(db):
            receipts.add(db, receipt)
    queue.finish([row.id], now.timestamp())


def _start_event(start: Row) -> Event | None:
    try:
        return event_from_payload(start.name, parse(start.payload.encode()))
    except PayloadError:
        return None


def _sort_out(unit: Sequence[Row], config: Config) -> tuple[dict[int, Event], dict[int, str]]:
    """The events of a unit that are worth working on, and why the others are not, by the ids of their rows.

    PayloadError: an unreadable event that was told to be tried again."""
    kept: dict[int, Event] = {}
    skipped: dict[int, str] = {}
    for row in unit:
        payload = parse(row.payload.encode())
        try:
            event = _in_time(event_from_payload(row.name, payload), row)
        except PayloadError as error:
            skipped[row.id] = error.message
            continue
        reason = why_skipped(event, payload)
        if event.tool is not None and event.tool.tool in config.ignored_tools:
            reason = f"tool {event.tool.tool} is ignored by configuration"
        if reason is None:
            kept[row.id] = event
        else:
            skipped[row.id] = reason
    return kept, skipped


def _in_time(event: Event, row: Row) -> Event:
    """The event not much later than it was taken in: a clock that was ahead must not make it the newest for years."""
    latest = datetime.fromtimestamp(row.received_at + _CLOCK_SLACK_S, UTC)
    return replace(event, at=min(event.at, latest))


def _store_turn(key: str, events: list[Event], db: sqlite3.Connection, now: datetime) -> str:
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
                memories.add(db, _memory(draft, turn, place, position, last.at), key, now)
            if any(event.kind != "SessionEnd" for event in events):
                summary = summarize(before.summary if before else None, turn, digest)
                sessions.set_summary(db, first.session, summary, now)
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
