"""What becomes of one unit of the inbox: events -> compression -> store. Runs in the worker's job thread."""

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from claude_mem_lite.agents.adapters import takes_claude_form
from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.compress.rules.corrections import is_taught
from claude_mem_lite.compress.rules.session_handoff import handoff
from claude_mem_lite.compress.rules.session_summary import headline_worth, summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.compress.toolcalls.provenance import Hearsay
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.erase import erase
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.knowledge import (
    correction_context,
    outcomes,
    reconcile,
    remember,
    resolved_failures,
    turn_events,
    turn_memories,
    user_reverts,
)
from claude_mem_lite.knowledge.code_links import Tie
from claude_mem_lite.knowledge.lessons import collection
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.models import (
    Draft,
    Event,
    Memory,
    Place,
    SessionStatus,
    Turn,
    TurnDigest,
)
from claude_mem_lite.store import receipts, sessions, symbol_changes, tombstones, turns
from claude_mem_lite.worker import event_location
from claude_mem_lite.worker.answers import prerendered

_NOTHING_KEPT = "held nothing worth keeping"
_FORGOTTEN = "it was forgotten"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn whose memories by rules are stored."""

    turn: Turn
    digest: TurnDigest
    is_new: bool
    """False when the same turn was stored before."""


def process(
    unit: Sequence[Row],
    queue: Queue,
    db: sqlite3.Connection,
    config: Config,
    tie: Tie,
    likeness: Likeness,
    now: datetime,
) -> StoredTurn | None:
    """Work on one unit to the end; returns the turn when it was one. Twice is as good as once."""
    kept, skipped = turn_events.sort_events(unit, config)
    events = list(kept.values())
    stored = None
    if events and _is_forgotten(events[0], unit[0].name, db):
        queue.finish([], now.timestamp(), skipped=dict.fromkeys((row.id for row in unit), _FORGOTTEN))
        erase(queue, turns=[unit[0].name], sessions=[])
        return None
    where = event_location.locate(unit[0].name, events[0].cwd, queue, db, now) if events else None
    if where and events[0].kind in ("SessionStart", "PreCompact"):
        with atomic(db):
            sessions.touch(db, events[0], _of_then(where.place, events[0]))
            if events[0].kind == "PreCompact":
                sessions.mark_compacted(db, events[0].session, events[0].at)
    elif where:
        stored = _store_turn(unit[0].name, events, where.place, db, queue, config, tie, likeness, now)
        if events[-1].kind in ("SessionEnd", "StopFailure"):
            outcomes.judge(db, queue, events[-1].session)
        worthless = {row for row, event in kept.items() if event.name in stored.digest.skipped}
        skipped |= dict.fromkeys(worthless, _NOTHING_KEPT)
    found = where.found if where else None
    queue.finish([row for row in kept if row not in skipped], now.timestamp(), skipped=skipped, found=found)
    return stored


def record_rendered(row: Row, queue: Queue, db: sqlite3.Connection, start: Row | None, now: datetime) -> None:
    """A hook printed the rendered context because nobody answered in time: that context was given, as it was built."""
    event = _start_event(start) if start is not None else None
    told = row.told().get("context")
    if event is not None and takes_claude_form(event) and isinstance(told, dict):
        place = event_location.recall(event.name, event.cwd, queue, db)
        receipt = prerendered.receipt_of(told, event, place, time_of(row.name))
        with atomic(db):
            receipts.add(db, receipt)
    queue.finish([row.id], now.timestamp())


def _is_forgotten(first: Event, key: str, db: sqlite3.Connection) -> bool:
    """Whether a turn was forgotten, and its events are seen once more; or is read from the transcript of a session
    that was forgotten, perhaps a moment ago."""
    names = (first.session, key, first.prompt_id or "") if first.imported else (key,)
    return tombstones.is_buried(db, *names)


def _start_event(start: Row) -> Event | None:
    try:
        return event_from_payload(start.name, start.told())
    except PayloadError:
        return None


def _of_then(place: Place, event: Event) -> Place:
    """Return the place as it was at the time. Of an old event only the branch is known, not the commit of that day."""
    return replace(place, branch=event.branch, commit="") if event.imported else place


def _store_turn(
    key: str,
    events: list[Event],
    place: Place,
    db: sqlite3.Connection,
    queue: Queue,
    config: Config,
    tie: Tie,
    likeness: Likeness,
    now: datetime,
) -> StoredTurn:
    """Compress and store one turn."""
    first, last = events[0], events[-1]
    before = sessions.find(db, first.session)
    place = _of_then(place, first)
    project = before.project if before else place.project
    asked = next((event.prompt for event in events if event.prompt), "")
    earlier = resolved_failures.earlier(
        events,
        partial(event_history.calls_before, queue.db, key, resolved_failures.TOOLS),
        partial(turn_events.read_events, config=config),
    )
    prompt = asked or turns.last_prompt(db, first.session)
    previous = turns.previous_message(db, first.session, first.at)
    turn = Turn(key, first.session, project, prompt, tuple(events), earlier, previous)
    digest = user_reverts.with_undone(db, queue, turn, correction_context.with_occasion(db, turn, fold(turn)))
    digest = collection.without_dismissed(db, project, digest, likeness)
    unsure = collection.of_turn(turn, digest)
    # What is imported after later turns were seen adds memories, but how things stand is for those to say.
    is_old_news = first.imported and turns.has_later_turn(db, first.session, first.at)
    others = Hearsay((*earlier, *events))
    reply = next((event.message for event in reversed(events) if event.message and not event.agent_id), "")
    reply = others.without_orders(reply)
    made = [
        _tied(draft, turn_memories.memory_of(draft, turn, place, position, last.at, others), last, place, tie)
        for position, draft in enumerate(digest.drafts)
    ]
    with atomic(db):
        for event in (first, last):
            sessions.touch(db, event, place)
        log_kept = others.without_orders(digest.log)
        is_new = turns.add_turn(db, key, first, asked, reply, others.own(digest.tasks), log_kept)
        if is_new:
            symbol_changes.add(db, key, turn, place.branch, digest.code, last.at)
            stored = [remember.add(db, memory, key, now) for memory in made]
            stored += collection.keep(db, unsure, likeness, key, now)
            if not is_old_news and any(event.kind != "SessionEnd" for event in events):
                told = others.cleared_digest(digest)
                known, worth = (before.summary, before.headline_worth) if before else (None, 0.0)
                listed = turns.tasks_before(db, first.session, first.at)
                summary = others.cleared(summarize(known, turn, told, worth, listed))
                sessions.set_summary(db, first.session, summary, now, max(worth, headline_worth(told)))
                turn_memories.keep_handoff(db, handoff(summary, told, place.branch), turn, place, others, now)
                resolved_failures.retire_failures(db, turn, digest, place.branch)
            reconcile.settle_turn(db, stored, turn, place.branch, digest, now)
        if not is_old_news:
            _close(db, before.status if before else "active", events)
    log.info(
        "turn stored",
        extra={
            "session": first.session,
            "events": len(events),
            "memories": len(digest.drafts),
            "skipped": len(digest.skipped),
        },
    )
    return StoredTurn(turn, digest, is_new)


def _tied(draft: Draft, memory: Memory, last: Event, place: Place, tie: Tie) -> Memory:
    """What the user taught, tied to what it names. Of an old turn nobody knows what the code was like then."""
    is_of_words = is_taught(draft) and not draft.anchors and not last.imported
    return tie(memory, place, last.cwd) if is_of_words else memory


def _close(db: sqlite3.Connection, status_before: str, events: list[Event]) -> None:
    """Set the session's status by how the turn ended; a failed last turn leaves a failed session."""
    last = events[-1]
    if last.kind == "StopFailure":
        sessions.close(db, last.session, "failed", last.at)
    elif last.kind == "SessionEnd":
        failed = len(events) == 1 and status_before == "failed"
        ended: SessionStatus = "interrupted" if last.reason == "interrupted" else "completed"
        sessions.close(db, last.session, "failed" if failed else ended, last.at)
