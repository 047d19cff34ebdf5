"""API of `rebuild --memories`: list turns of an older composer, and rebuild their memories.

A request has a few turns of one session, with their events where only a transcript still has them. The response has
the changes. A dry run makes the same changes and rolls them back."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache, partial

from pydantic import Field

from claude_mem_lite.compress.toolcalls.provenance import ForeignText
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox import event_history, usable_events
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.knowledge import memory_rebuild
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.imports import (
    DryRunReport,
    RebuildReport,
    StaleSessions,
    StaleTurn,
    StaleTurns,
    SummaryRow,
)
from claude_mem_lite.store import rebuilds, tombstones, turns
from claude_mem_lite.text import one_line
from claude_mem_lite.worker.api.import_turns import PastEvent, TurnMark, of_pauses
from claude_mem_lite.worker.api.request_project import RequestProject
from claude_mem_lite.worker.api.routing import Body, Router, Running, require_settings, wait
from claude_mem_lite.worker.services import Services

MAX_TURNS = 20
_PASS_TIMEOUT_S = 10.0
router = Router(prefix="/api/rebuild/memories")
Events = dict[str, list[Arrival]]
"""Events of turns from transcripts, by turn."""


class PastSource(Body):
    """Stored turn with its events from a transcript."""

    turn: str
    mark: TurnMark
    events: list[PastEvent]


class RebuildTurns(Body):
    session: str
    turns: list[str] = Field(max_length=MAX_TURNS)
    past: list[PastSource] = Field(default_factory=list)
    dry_run: bool = False
    so_far: SummaryRow | None = None
    """In a dry run, `so_far` of the response for the preceding turns."""


class _TakenBack(Exception):
    """Ends the transactions of a dry run."""


@router.get("")
def stale_sessions(services: Running, project: RequestProject) -> StaleSessions:
    """Return the sessions of a project, or of all, with turns of an older composer, oldest first."""
    with closing(services.readers.open()) as db:
        return StaleSessions(tuple(rebuilds.stale_sessions(db, project.id)))


@router.get("/turns")
def stale_turns(services: Running, session: str) -> StaleTurns:
    """Return the turns of an older composer in a session, with the sizes of their events in the inbox."""
    with closing(services.readers.open()) as db:
        found = rebuilds.stale_turns(db, session)
    with closing(services.inbox_readers.open()) as db:
        sizes = event_history.sizes(db, session)
    return StaleTurns(
        tuple(
            StaleTurn(turn.turn, turn.prompt_id, turn.began_at.isoformat(), turn.is_left, sizes.get(turn.turn, 0))
            for turn in found
        )
    )


@router.post("")
def rebuild_turns(asked: RebuildTurns, services: Running) -> RebuildReport:
    """Rebuild the memories of turns, or find out the effect of a rebuild."""
    require_settings(services, "nothing is rebuilt")
    events = _events(asked.past, services)
    if asked.dry_run:
        return wait(services.writes.execute_write_to_both(partial(_try, services, asked, events)))
    wait(services.writes.execute_queue_write(lambda queue: _put(queue, events, services)))
    with closing(services.readers.open()) as db:
        before = rebuilds.snapshot(db, asked.session, asked.turns)
    wait(services.commands.put({"command": memory_rebuild.COMMAND, "turns": asked.turns}))
    services.passes.wait_until_idle(
        _PASS_TIMEOUT_S
    )  # else the next command would prolong the pass that a session's start waits for
    with closing(services.readers.open()) as db:
        return rebuilds.compared(before, rebuilds.snapshot(db, asked.session, asked.turns))


def _try(services: Services, asked: RebuildTurns, events: Events, db: sqlite3.Connection, queue: Queue) -> DryRunReport:
    """Return the effect of a rebuild, found by a rebuild in transactions that are rolled back."""
    report = DryRunReport()
    with suppress(_TakenBack), atomic(queue.db), atomic(db):
        _insert(queue, events, services)
        if asked.so_far is not None:
            rebuilds.put_summary_row(db, asked.so_far)
        before = rebuilds.snapshot(db, asked.session, asked.turns)
        for key in asked.turns:
            memory_rebuild.rebuild_turn(db, queue, key, services.settings.config, services.likeness, services.clock())
        changed = rebuilds.compared(before, rebuilds.snapshot(db, asked.session, asked.turns))
        report = response_from(DryRunReport, changed, so_far=rebuilds.summary_row(db, asked.session))
        raise _TakenBack
    return report


def _put(queue: Queue, events: Events, services: Services) -> None:
    with atomic(queue.db):
        _insert(queue, events, services)


def _insert(queue: Queue, events: Events, services: Services) -> None:
    for turn, arrivals in events.items():
        event_history.put_past_turn(queue.db, turn, arrivals, services.clock().timestamp())


def _events(past: Sequence[PastSource], services: Services) -> Events:
    """Return the permitted events of transcripts: no event of a pause, of an excluded folder, or forgotten."""
    paused = {name for names in of_pauses([source.mark for source in past], services) for name in names}
    config = load_config(services.home.config, os.environ)
    excludes = cache(partial(is_excluded, config))
    found: Events = {}
    with closing(services.readers.open()) as db:
        for source in past:
            arrivals = [event.arrival(excludes) for event in source.events]
            events = event_history.events_of_turn([one for one in arrivals if one is not None])
            is_whole = None not in arrivals and source.mark.name not in paused
            if events and is_whole and _is_as_stored(db, source.turn, events, config):
                found[source.turn] = events
    return found


def _is_as_stored(db: sqlite3.Connection, turn: str, arrivals: Sequence[Arrival], config: Config) -> bool:
    """Return True if a transcript repeats the stored texts of a turn, or nothing was ever forgotten.

    A difference may be forgotten text that the transcript still has."""
    if tombstones.latest(db) is None:
        return True
    # Each with an id of its own: events of one id would take each other's place.
    rows = [Row(at, one.name, one.event, one.session, one.payload, 0.0) for at, one in enumerate(arrivals)]
    events = usable_events.read_events(rows, config)
    answered = ForeignText(events).without_orders(usable_events.reply_of(events))
    said = (usable_events.prompt_of(events), answered)
    return [one_line(text) for text in said] == [one_line(text) for text in turns.texts_of(db, turn)[:2]]
