"""The place of an event: read from the disk when the event is first worked on, and from the inbox when it is replayed.

Called by the job thread, before anything is stored for the event."""

import sqlite3
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime

from claude_mem_lite.code.git.project_identity import find_place
from claude_mem_lite.inbox import event_findings
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import JsonObject, Place, text
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.projects import changes, lookup, marks


@dataclass(frozen=True, slots=True)
class Located:
    """Where an event happened, and what the inbox is to keep of that."""

    place: Place
    found: JsonObject


def locate(name: str, cwd: str, queue: Queue, db: sqlite3.Connection, now: datetime) -> Located:
    """Return where an event happened; two projects that its folder shows to be one are merged before."""
    found = event_findings.of_event(queue, name)
    place = _read(found)
    if place is None:
        place = find_place(cwd)
        identity = lookup.identify(db, place)
        place = replace(place, project=identity.project)
        found = {"place": asdict(place), "joins": identity.joins}
        if identity.joins:
            event_findings.note(queue, name, found)
    if joins := text(found.get("joins")):
        changes.join(db, short_id("join", name), joins, place.project, now)
    return Located(_stored(db, place), found)


def recall(name: str, cwd: str, queue: Queue, db: sqlite3.Connection) -> Place:
    """Return where an event happened that was worked on before."""
    place = _read(event_findings.of_event(queue, name))
    return _stored(db, place) if place is not None else lookup.locate(db, cwd)


def _read(found: JsonObject) -> Place | None:
    given = found.get("place")
    if not isinstance(given, dict):
        return None
    place = Place(**{field.name: text(given.get(field.name)) for field in fields(Place)})
    return place if place.project else None


def _stored(db: sqlite3.Connection, place: Place) -> Place:
    """Return the place with the id and name of its project of now: it may have been merged since it was found."""
    project = marks.current_id(db, place.project)
    return replace(place, project=project, name=lookup.name_of(db, project) or place.name)
