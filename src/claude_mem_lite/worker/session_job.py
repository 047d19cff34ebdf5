"""Processing of events that are no turn: start and compaction of a session, and the note about a rendered context.

For the job thread. Apart from `turn_job`: the first answer of a worker waits for the start of its session, which needs
none of the rules for turns. The place of an event is read from the disk at first processing, and from the inbox at a
replay."""

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime

from claude_mem_lite.agents.adapters import takes_claude_form
from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import event_history, usable_events
from claude_mem_lite.inbox.erase import erase
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.models import Event, JsonObject, Location, text
from claude_mem_lite.store import receipts, sessions, tombstones
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.answers import prerendered

SESSION_EVENTS = ("SessionStart", "PreCompact")
_FORGOTTEN = "it was forgotten"


@frozen
class Located:
    """Place of an event, and the findings that the inbox stores."""

    location: Location
    found: JsonObject


def locate_event(name: str, cwd: str, queue: Queue, db: sqlite3.Connection, now: datetime) -> Located:
    """Return the place of an event; first merge two projects that its folder shows to be the same."""
    found = event_history.findings_of(queue, name)
    location = _read(found)
    if location is None:
        location = find_location(cwd)
        identity = lookup.identify(db, location)
        location = replace(location, project=identity.project)
        found = {"place": asdict(location), "joins": identity.joins}
        if identity.joins:
            event_history.note_findings(queue, name, found)
    if joins := text(found.get("joins")):
        from claude_mem_lite.store.projects import changes  # late: merges are rare

        changes.join(db, short_id("join", name), joins, location.project, now)
    return Located(_stored(db, location), found)


def recall_location(name: str, cwd: str, queue: Queue, db: sqlite3.Connection) -> Location:
    """Return the place of an event that was processed before."""
    location = _read(event_history.findings_of(queue, name))
    return _stored(db, location) if location is not None else lookup.locate(db, cwd)


def _read(found: JsonObject) -> Location | None:
    given = found.get("place")
    if not isinstance(given, dict):
        return None
    location = Location(**{field.name: text(given.get(field.name)) for field in fields(Location)})
    return location if location.project else None


def _stored(db: sqlite3.Connection, location: Location) -> Location:
    """Return the place with the current id and name of its project, which may have been merged."""
    project = marks.current_id(db, location.project)
    return replace(location, project=project, name=lookup.name_of(db, project) or location.name)


def process(unit: Sequence[Row], queue: Queue, db: sqlite3.Connection, config: Config, now: datetime) -> None:
    """Note the start or the compaction of a session. A repetition changes nothing."""
    kept, skipped = usable_events.sort_events(unit, config)
    found = None
    for event in kept.values():
        if is_forgotten(event, unit[0].name, db):
            skip_forgotten(unit, queue, now)
            return
        where = locate_event(unit[0].name, event.cwd, queue, db, now)
        found = where.found
        with atomic(db):
            sessions.touch(db, event, location_at(where.location, event))
            if event.kind == "PreCompact":
                sessions.mark_compacted(db, event.session, event.at)
    queue.finish(list(kept), now.timestamp(), skipped=skipped, findings=found)


def record_rendered(row: Row, queue: Queue, db: sqlite3.Connection, start: Row | None, now: datetime) -> None:
    """Record the receipt of a rendered context, which a hook printed because no answer came in time."""
    event = _start_event(start) if start is not None else None
    header = row.parse_payload().get("context")
    if event is not None and takes_claude_form(event) and isinstance(header, dict):
        location = recall_location(event.name, event.cwd, queue, db)
        receipt = prerendered.receipt_of(header, event, location, time_of(row.name))
        with atomic(db):
            receipts.add(db, receipt)
    queue.finish([row.id], now.timestamp())


def is_forgotten(first: Event, key: str, db: sqlite3.Connection) -> bool:
    """Return whether a turn was forgotten: by its own name, or, for an imported turn, by its session or prompt."""
    names = (first.session, key, first.prompt_id or "") if first.imported else (key,)
    return tombstones.is_buried(db, *names)


def skip_forgotten(unit: Sequence[Row], queue: Queue, now: datetime) -> None:
    """End a unit that was forgotten, and erase its events."""
    queue.finish([], now.timestamp(), skipped=dict.fromkeys((row.id for row in unit), _FORGOTTEN))
    erase(queue, turns=[unit[0].name], sessions=[])


def _start_event(start: Row) -> Event | None:
    try:
        return event_from_payload(start.name, start.parse_payload())
    except PayloadError:
        return None


def location_at(location: Location, event: Event) -> Location:
    """Return the location at the time of an event. Imported events name the branch, but not the commit."""
    return replace(location, branch=event.branch, commit="") if event.imported else location
