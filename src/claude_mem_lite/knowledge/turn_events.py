"""The events of one unit of the inbox: read, put right, and sorted by whether they are worth working on.

A turn that was stored before, put together from its events once more: for a model, and for a rebuild. Nothing is read
of one whose folder, or that of its session, is excluded by now: its text would go to a model, or into memories."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial

from claude_mem_lite.agents.claude_code import TURN_ENDS, event_from_payload, why_skipped
from claude_mem_lite.code.git.project_identity import find_place
from claude_mem_lite.config import Config, in_folder, is_excluded
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.knowledge import resolved_failures
from claude_mem_lite.models import Event, Memory, Place, Session, Turn
from claude_mem_lite.store import sessions, turns

CallsBefore = Callable[[str, Sequence[str]], Sequence[Row]]
"""Finds the calls of some tools in the few turns before one."""
_CLOCK_SLACK_S = 300.0


def read_events(unit: Sequence[Row], config: Config) -> list[Event]:
    """The events of a unit that are worth working on."""
    return list(sort_events(unit, config)[0].values())


def sort_events(unit: Sequence[Row], config: Config) -> tuple[dict[int, Event], dict[int, str]]:
    """The events of a unit that are worth working on, and why the others are not, by the ids of their rows.

    PayloadError: an unreadable event that was told to be tried again."""
    kept: dict[int, Event] = {}
    skipped: dict[int, str] = {}
    said = ""
    inside = cache(_inside)  # most events of a turn have one folder, and to find it is more than to read them
    ignored_tools = cache(lambda cwd: in_folder(config, cwd).ignored_tools)
    for row in unit:
        payload = row.told()
        try:
            event = _in_time(event_from_payload(row.name, payload), row)
        except PayloadError as error:
            skipped[row.id] = error.message
            continue
        event = replace(event, inside=inside(event.cwd))
        if event.kind == "AgentMessage":  # of an agent that does not repeat its closing words when it stops
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
    """Return a stored turn as its events tell it; or why it may not be read."""
    events = read_events(rows, config)
    session = sessions.find(db, events[0].session) if events else None
    if session is None:
        return "its events are gone"
    if any(is_excluded(config, folder) for folder in {session.cwd, *(event.cwd for event in events)}):
        return "its folder is excluded now"
    earlier = resolved_failures.earlier(
        events,
        partial(calls_before, key, resolved_failures.TOOLS),
        partial(read_events, config=config),
    )
    previous = turns.previous_message(db, session.id, events[0].at)
    return Turn(key, session.id, session.project, turns.prompt_of(db, key), tuple(events), earlier, previous)


def place_then(session: Session, stored: Sequence[Memory]) -> Place:
    """Return where a turn happened, by what was stored of it then: the checkout may be at another commit by now."""
    branch, commit = (stored[0].branch, stored[0].commit) if stored else (session.branch, session.commit)
    return Place(session.project, "", "", branch, commit)


def _in_time(event: Event, row: Row) -> Event:
    """The event not much later than it was taken in: a clock that was ahead must not make it the newest for years."""
    latest = datetime.fromtimestamp(row.received_at + _CLOCK_SLACK_S, UTC)
    return replace(event, at=min(event.at, latest))


def _inside(cwd: str) -> str:
    """Where a folder stands in its checkout: what is done there is told as seen from the root of that."""
    root = find_place(cwd).root
    folder = os.path.realpath(cwd) if root else ""
    return folder[len(root) + 1 :] if folder.startswith(f"{root}/") else ""
