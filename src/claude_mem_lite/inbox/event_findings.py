"""What was found on the disk when an event was first worked on: its folder, its remote, the projects that these led to.

Kept with the event, because the disk is another one when the event is replayed: folders are gone, or have a remote by
now. Part of the inbox; erased with its event."""

import json

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import JsonObject


def of_event(queue: Queue, name: str) -> JsonObject:
    """Return what was found for an event; empty when it was not worked on yet."""
    row = queue.db.execute("select found from inbox where name = ?", (name,)).fetchone()
    found = row["found"] if row else ""
    try:
        return parse(found.encode()) if found and isinstance(found, str) else {}
    except PayloadError:  # saved from a damaged inbox, as what is no text
        return {}


def note(queue: Queue, name: str, found: JsonObject) -> None:
    """Keep what was found before it is acted upon: a worker that dies in between finds the disk of then again."""
    told = json.dumps(found)
    if queue.copies is not None:
        queue.copies.note_found(name, told)
    with atomic(queue.db):
        queue.db.execute("update inbox set found = ? where name = ?", (told, name))
