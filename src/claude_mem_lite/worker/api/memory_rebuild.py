"""The API of `rebuild --memories`: which turns are of an older composer, and having their memories made anew.

A few turns of one session come at a time, with their events where only a transcript still has them. The answer says
what that changed; a dry run does all of it and takes it back."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from functools import cache, partial

from pydantic import Field

from claude_mem_lite.compress.toolcalls.provenance import Hearsay
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox import past_turns
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.knowledge import memory_rebuild, rebuild_report, turn_events
from claude_mem_lite.store import rebuilds, tombstones, turns
from claude_mem_lite.text import one_line
from claude_mem_lite.worker.api.import_turns import PastEvent, TurnMark, arrival_of, of_pauses
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Meant, Running, require_settings, wait
from claude_mem_lite.worker.loop import Loop

MAX_TURNS = 20
_PASS_TIMEOUT_S = 10.0
router = Router(prefix="/api/rebuild/memories")
Events = dict[str, list[Arrival]]
"""What transcripts have of turns, by the keys of these."""


class PastSource(Body):
    """A stored turn as a transcript has it."""

    turn: str
    mark: TurnMark
    events: list[PastEvent]


class RebuildTurns(Body):
    session: str
    turns: list[str] = Field(max_length=MAX_TURNS)
    past: list[PastSource] = Field(default_factory=list)
    dry_run: bool = False
    so_far: dict[str, str | float] | None = None
    """Of a dry run: the `so_far` of the answer for the turns before these."""


class _TakenBack(Exception):
    """Ends the transactions of a dry run."""


@router.get("")
def stale_sessions(loop: Running, meant: Meant) -> dict[str, object]:
    """The sessions of a project, or of all, with turns of an older composer, oldest first."""
    with closing(loop.readers.open()) as db:
        return {"sessions": [one._asdict() for one in rebuilds.stale_sessions(db, meant)]}


@router.get("/turns")
def stale_turns(loop: Running, session: str) -> dict[str, object]:
    """Those turns of a session, each with the size of what the inbox has of it."""
    with closing(loop.readers.open()) as db:
        found = rebuilds.stale_turns(db, session)
    with closing(loop.inbox_readers.open()) as db:
        sizes = past_turns.sizes(db, session)
    return {
        "turns": [
            {**one._asdict(), "began_at": one.began_at.isoformat(), "kept_bytes": sizes.get(one.turn, 0)}
            for one in found
        ]
    }


@router.post("")
def rebuild_turns(asked: RebuildTurns, loop: Running) -> dict[str, object]:
    """Make the memories of turns anew, or find out what that would change."""
    require_settings(loop, "nothing is rebuilt")
    events = _events(asked.past, loop)
    if asked.dry_run:
        return wait(loop.call_both(partial(_try, loop, asked, events)))
    wait(loop.call_queue(lambda queue: _put(queue, events, loop)))
    with closing(loop.readers.open()) as db:
        before = rebuild_report.snapshot(db, asked.session, asked.turns)
    wait(loop.command({"command": memory_rebuild.COMMAND, "turns": asked.turns}))
    loop.settle(_PASS_TIMEOUT_S)  # else the next command would prolong the pass that a session's start waits for
    with closing(loop.readers.open()) as db:
        return _told(rebuild_report.compared(before, rebuild_report.snapshot(db, asked.session, asked.turns)))


def _try(loop: Loop, asked: RebuildTurns, events: Events, db: sqlite3.Connection, queue: Queue) -> dict[str, object]:
    """Return what a rebuild would change, by doing it and taking it back."""
    report: dict[str, object] = {}
    with suppress(_TakenBack), atomic(queue.db), atomic(db):
        _insert(queue, events, loop)
        if asked.so_far is not None:
            rebuilds.put_summary_row(db, asked.so_far)
        before = rebuild_report.snapshot(db, asked.session, asked.turns)
        for key in asked.turns:
            memory_rebuild.rebuild_turn(db, queue, key, loop.config, loop.likeness, loop.clock())
        changed = rebuild_report.compared(before, rebuild_report.snapshot(db, asked.session, asked.turns))
        report = {**_told(changed), "so_far": rebuilds.summary_row(db, asked.session)}
        raise _TakenBack
    return report


def _told(report: rebuild_report.Report) -> dict[str, object]:
    return {**asdict(report), "changes": [one._asdict() for one in report.changes]}


def _put(queue: Queue, events: Events, loop: Loop) -> None:
    with atomic(queue.db):
        _insert(queue, events, loop)


def _insert(queue: Queue, events: Events, loop: Loop) -> None:
    for turn, arrivals in events.items():
        past_turns.put(queue.db, turn, arrivals, loop.clock().timestamp())


def _events(past: Sequence[PastSource], loop: Loop) -> Events:
    """Return what may be read of transcripts: nothing of a time in which memory was off or a folder excluded, nothing
    of folders that are excluded now, and nothing that was forgotten."""
    paused = {name for names in of_pauses([one.mark for one in past], loop).values() for name in names}
    config = load_config(loop.home.config, os.environ)
    excludes = cache(partial(is_excluded, config))
    found: Events = {}
    with closing(loop.readers.open()) as db:
        for source in past:
            arrivals = [arrival_of(event, excludes) for event in source.events]
            events = past_turns.events_of_turn([one for one in arrivals if one is not None])
            is_whole = None not in arrivals and source.mark.name not in paused
            if events and is_whole and _is_as_stored(db, source.turn, events, config):
                found[source.turn] = events
    return found


def _is_as_stored(db: sqlite3.Connection, turn: str, arrivals: Sequence[Arrival], config: Config) -> bool:
    """Return whether a transcript says what is stored of a turn. If not, and anything was ever forgotten, it may have
    been taken out of this turn, which the transcript still has."""
    if tombstones.latest(db) is None:
        return True
    # Each with an id of its own: events of one id would take each other's place.
    rows = [Row(at, one.name, one.event, one.session, one.payload, 0.0) for at, one in enumerate(arrivals)]
    events = turn_events.read_events(rows, config)
    asked = next((event.prompt for event in events if event.prompt), "")
    answered = next((event.message for event in reversed(events) if event.message and not event.agent_id), "")
    said = (asked, Hearsay(events).without_orders(answered))
    return [one_line(text) for text in said] == [one_line(text) for text in turns.texts_of(db, turn)[:2]]
