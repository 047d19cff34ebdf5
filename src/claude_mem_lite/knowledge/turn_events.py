"""Stored turns, made of their events again, and memories made of a turn's drafts.

A stored turn can be read again, for a model or a rebuild. A turn whose folder or session folder is excluded by now is
not read: its text would go to a model or into memories."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from claude_mem_lite.compress.rules.turn_lessons import is_taught
from claude_mem_lite.compress.toolcalls.provenance import ForeignText
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.inbox import usable_events
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.knowledge import handoffs
from claude_mem_lite.models import (
    COMPOSER_VERSION,
    TRANSCRIPT_TRUST,
    TRUST,
    Draft,
    Location,
    Memory,
    Session,
    Turn,
)
from claude_mem_lite.store import memories, sessions, turns
from claude_mem_lite.store.ids import short_id

CallsBefore = Callable[[str, Sequence[str]], Sequence[Row]]
"""Function that finds the calls of some tools in the turns before a turn."""


def stored_turn(
    db: sqlite3.Connection, key: str, rows: Sequence[Row], calls_before: CallsBefore, config: Config
) -> Turn | str:
    """Return a stored turn made from its events, or the reason against reading."""
    events = usable_events.read_events(rows, config)
    session = sessions.find(db, events[0].session) if events else None
    if session is None:
        return "its events are gone"
    if any(is_excluded(config, folder) for folder in {session.cwd, *(event.cwd for event in events)}):
        return "its folder is excluded now"
    earlier = handoffs.events_left_failing(
        events,
        partial(calls_before, key, handoffs.TOOLS),
        partial(usable_events.read_events, config=config),
    )
    previous = turns.previous_message(db, session.id, events[0].at)
    return Turn(key, session.id, session.project, turns.prompt_of(db, key), tuple(events), earlier, previous)


def location_then(session: Session, stored: Sequence[Memory]) -> Location:
    """Return the location of a turn as stored then: the checkout may be at another commit by now."""
    branch, commit = (stored[0].branch, stored[0].commit) if stored else (session.branch, session.commit)
    return Location(session.project, "", "", branch, commit)


def keep_handoff(
    db: sqlite3.Connection, left: Draft | None, turn: Turn, place: Location, others: ForeignText, now: datetime
) -> None:
    """Store the handoff of a session; retire the stored handoff if nothing is open any more."""
    id_ = memories.handoff_id(turn.session)
    known = memories.find(db, id_)
    if left is None:
        if known is not None and known.made_by != "user":
            memories.retire(db, id_)
    else:
        made = memory_of(left, turn, place, 0, turn.events[-1].at, others)
        memories.put(db, replace(made, id=id_), turn.key, now)


def memory_of(draft: Draft, turn: Turn, place: Location, position: int, at: datetime, others: ForeignText) -> Memory:
    """Return the memory of a draft. The id is the position in the turn, so a model's rewrite keeps the id.

    Lessons of the user get an id from the text, behind the positions that a model may use. `others` is the foreign text
    of the turn, read once for all drafts because reading is slow."""
    why_quarantined = others.why_quarantined(draft)
    is_from_transcript = draft.origin == "user" and any(event.imported for event in turn.events)
    return Memory(
        status="quarantined" if why_quarantined else "active",
        id=short_id(turn.key, draft.title.lower() if is_taught(draft) else str(position)),
        kind=draft.kind,
        title=draft.title,
        summary=draft.summary,
        detail=draft.detail,
        facts=draft.facts,
        files=draft.files,
        symbols=draft.symbols,
        anchors=draft.anchors,
        origin=draft.origin,
        trust=TRANSCRIPT_TRUST if is_from_transcript else TRUST[draft.origin],
        confidence=draft.confidence,
        created_at=at,
        last_seen_at=at,
        scope=draft.scope or f"project:{turn.project}",
        tags=draft.tags,
        project=turn.project,
        session=turn.session,
        prompt=next((event.prompt_id for event in turn.events if event.prompt_id), ""),
        branch=place.branch,
        commit=place.commit,
        prompt_version=f"composer {COMPOSER_VERSION}",
    )
