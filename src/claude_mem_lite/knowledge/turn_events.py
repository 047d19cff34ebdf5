"""Events of a turn from the inbox, divided into usable and skipped events, and memories made of the turn's drafts.

A stored turn can be read again, for a model or a rebuild. A turn whose folder or session folder is excluded by now is
not read: its text would go to a model or into memories."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial

from claude_mem_lite.agents.claude_code import TURN_ENDS, event_from_payload, why_skipped
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.compress.rules.turn_lessons import is_taught
from claude_mem_lite.compress.toolcalls.provenance import ForeignText
from claude_mem_lite.config import Config, in_folder, is_excluded
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.knowledge import handoffs
from claude_mem_lite.models import (
    COMPOSER_VERSION,
    TRANSCRIPT_TRUST,
    TRUST,
    Draft,
    Event,
    Location,
    Memory,
    Session,
    Turn,
)
from claude_mem_lite.store import memories, sessions, turns
from claude_mem_lite.store.ids import short_id

CallsBefore = Callable[[str, Sequence[str]], Sequence[Row]]
"""Function that finds the calls of some tools in the turns before a turn."""
_CLOCK_SLACK_S = 300.0


def read_events(unit: Sequence[Row], config: Config) -> list[Event]:
    """Return the usable events of a unit."""
    return list(sort_events(unit, config)[0].values())


def sort_events(unit: Sequence[Row], config: Config) -> tuple[dict[int, Event], dict[int, str]]:
    """Return the usable events of a unit, and the reasons for skipped events by row id.

    Raise PayloadError for an unreadable event that the user asked to retry."""
    kept: dict[int, Event] = {}
    skipped: dict[int, str] = {}
    said = ""
    # Most events of a turn share one folder, and finding the root is slower than reading the events.
    inside = cache(_inside)
    ignored_tools = cache(lambda cwd: in_folder(config, cwd).ignored_tools)
    for row in unit:
        payload = row.parse_payload()
        try:
            event = _in_time(event_from_payload(row.name, payload), row)
        except PayloadError as error:
            skipped[row.id] = error.message
            continue
        event = replace(event, inside=inside(event.cwd))
        if event.kind == "AgentMessage":  # from agents that do not repeat the closing message when they stop
            said = event.message or said
            skipped[row.id] = "told with the end of its turn"
            continue
        if event.kind in TURN_ENDS and not event.message:
            event = replace(event, message=said or None)
        reason = why_skipped(event, payload)
        if event.tool is not None and event.tool.tool in ignored_tools(event.cwd):
            reason = f"tool {event.tool.tool} is ignored by configuration"
        if reason is None:
            kept[row.id] = event
        else:
            skipped[row.id] = reason
    return kept, skipped


def stored_turn(
    db: sqlite3.Connection, key: str, rows: Sequence[Row], calls_before: CallsBefore, config: Config
) -> Turn | str:
    """Return a stored turn made from its events, or the reason against reading."""
    events = read_events(rows, config)
    session = sessions.find(db, events[0].session) if events else None
    if session is None:
        return "its events are gone"
    if any(is_excluded(config, folder) for folder in {session.cwd, *(event.cwd for event in events)}):
        return "its folder is excluded now"
    earlier = handoffs.events_left_failing(
        events,
        partial(calls_before, key, handoffs.TOOLS),
        partial(read_events, config=config),
    )
    previous = turns.previous_message(db, session.id, events[0].at)
    return Turn(key, session.id, session.project, turns.prompt_of(db, key), tuple(events), earlier, previous)


def location_then(session: Session, stored: Sequence[Memory]) -> Location:
    """Return the location of a turn as stored then: the checkout may be at another commit by now."""
    branch, commit = (stored[0].branch, stored[0].commit) if stored else (session.branch, session.commit)
    return Location(session.project, "", "", branch, commit)


def _in_time(event: Event, row: Row) -> Event:
    """Return an event dated at most shortly after its arrival: with a fast clock the event would be the newest for
    years."""
    latest = datetime.fromtimestamp(row.received_at + _CLOCK_SLACK_S, UTC)
    return replace(event, at=min(event.at, latest))


def _inside(cwd: str) -> str:
    """Return the path of a folder inside the checkout: paths of memories start at the root."""
    root = find_location(cwd).root
    folder = os.path.realpath(cwd) if root else ""
    return folder[len(root) + 1 :] if folder.startswith(f"{root}/") else ""


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
