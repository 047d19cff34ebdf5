"""Processing of a turn from the inbox: events -> compression -> store. For the job thread."""

import logging
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from claude_mem_lite.compress.rules.known_digests import key_of
from claude_mem_lite.compress.rules.session_handoff import handoff
from claude_mem_lite.compress.rules.session_summary import headline_worth, summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.compress.rules.turn_lessons import is_taught
from claude_mem_lite.compress.toolcalls.provenance import ForeignText
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.experiment import session_outcomes
from claude_mem_lite.inbox import event_history, usable_events
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.knowledge import correction_context, handoffs, outcomes, remember, turn_events, user_reverts
from claude_mem_lite.knowledge.code_links import Tie
from claude_mem_lite.knowledge.lessons import collection
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.models import Draft, Event, Location, Memory, SessionStatus, Turn
from claude_mem_lite.store import sessions, symbol_changes, turns
from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.values import frozen
from claude_mem_lite.worker import session_job
from claude_mem_lite.worker.known_turns import KnownTurns

_NOTHING_KEPT = "held nothing worth keeping"
log = logging.getLogger(__name__)


@frozen
class StoredTurn:
    """Turn whose memories by rules are stored."""

    turn: Turn
    digest: TurnDigest
    is_new: bool
    """False when the same turn was stored before."""


def process(
    unit: Sequence[Row],
    queue: Queue,
    db: sqlite3.Connection,
    config: Config,
    link: Tie,
    likeness: Likeness,
    known_turns: KnownTurns,
    now: datetime,
) -> StoredTurn | None:
    """Process a turn completely; return it, if any event was usable. A repetition changes nothing."""
    kept, skipped = usable_events.sort_events(unit, config)
    events = list(kept.values())
    stored = None
    if events and session_job.is_forgotten(events[0], unit[0].name, db):
        session_job.skip_forgotten(unit, queue, now)
        return None
    where = session_job.locate_event(unit[0].name, events[0].cwd, queue, db, now) if events else None
    if where:
        stored = _store_turn(unit[0].name, events, where.location, db, queue, config, link, likeness, known_turns, now)
        if events[-1].kind in ("SessionEnd", "StopFailure"):
            outcomes.judge(db, queue, events[-1].session)
        if events[-1].kind == "SessionEnd":  # after an error the session mostly goes on
            session_outcomes.judge(db, queue, events[-1].session)
        worthless = {row for row, event in kept.items() if event.name in stored.digest.skipped}
        skipped |= dict.fromkeys(worthless, _NOTHING_KEPT)
    found = where.found if where else None
    queue.finish([row for row in kept if row not in skipped], now.timestamp(), skipped=skipped, findings=found)
    return stored


def _store_turn(
    key: str,
    events: list[Event],
    location: Location,
    db: sqlite3.Connection,
    queue: Queue,
    config: Config,
    link: Tie,
    likeness: Likeness,
    known_turns: KnownTurns,
    now: datetime,
) -> StoredTurn:
    """Compress and store one turn."""
    first, last = events[0], events[-1]
    before = sessions.find(db, first.session)
    location = session_job.location_at(location, first)
    project = before.project if before else location.project
    asked = next((event.prompt for event in events if event.prompt), "")
    earlier = handoffs.events_left_failing(
        events,
        partial(_calls_to_fix, queue, key, known_turns),
        partial(usable_events.read_events, config=config),
    )
    prompt = asked or turns.last_prompt(db, first.session)
    previous = turns.previous_message(db, first.session, first.at)
    turn = Turn(key, first.session, project, prompt, tuple(events), earlier, previous)
    digest = known_turns.digest(key_of(turn)) if known_turns.has_digests else None
    digest = fold(turn) if digest is None else digest
    if not digest.has_failure:
        known_turns.note_without_failure(key)
    digest = correction_context.with_preceding_work(db, turn, digest)
    digest = user_reverts.with_undone(db, queue, turn, digest)
    digest = collection.without_dismissed(db, project, digest, likeness)
    unsure = collection.of_turn(turn, digest)
    # An imported turn before known turns adds memories, but must not change the summary of the session.
    is_old_news = first.imported and turns.has_later_turn(db, first.session, first.at)
    others = ForeignText((*earlier, *events))
    reply = next((event.message for event in reversed(events) if event.message and not event.agent_id), "")
    reply = others.without_orders(reply)
    made = [
        _linked(draft, turn_events.memory_of(draft, turn, location, position, last.at, others), last, location, link)
        for position, draft in enumerate(digest.drafts)
    ]
    with atomic(db):
        for event in (first, last):
            sessions.touch(db, event, location)
        log_kept = others.without_orders(digest.log)
        is_new = turns.add_turn(db, key, first, asked, reply, others.own(digest.tasks), log_kept)
        if is_new:
            symbol_changes.add(db, key, turn, location.branch, digest.code, last.at)
            stored = [remember.add(db, memory, key, now) for memory in made]
            stored += collection.keep(db, unsure, likeness, key, now)
            if not is_old_news and any(event.kind != "SessionEnd" for event in events):
                cleared = others.cleared_digest(digest)
                known, worth = (before.summary, before.headline_worth) if before else (None, 0.0)
                listed = turns.tasks_before(db, first.session, first.at)
                summary = others.cleared(summarize(known, turn, cleared, worth, listed))
                sessions.set_summary(db, first.session, summary, now, max(worth, headline_worth(cleared)))
                turn_events.keep_handoff(db, handoff(summary, cleared, location.branch), turn, location, others, now)
                handoffs.retire_failures(db, turn, digest, location.branch)
            remember.reconcile_turn(db, stored, turn, location.branch, digest, now)
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


def _calls_to_fix(queue: Queue, key: str, known_turns: KnownTurns) -> Sequence[Row]:
    """Return the calls of the turns before a turn, unless no command failed in any of them."""
    before = event_history.turns_before(queue.db, key)
    if known_turns.are_without_failure(before.turns):
        return ()
    return event_history.calls_in(queue.db, before, handoffs.TOOLS)


def _linked(draft: Draft, memory: Memory, last: Event, location: Location, link: Tie) -> Memory:
    """Return a memory of the user's own words with links to the code it names, except for imported turns, whose code is
    unknown."""
    is_of_words = is_taught(draft) and not draft.anchors and not last.imported
    return link(memory, location, last.cwd) if is_of_words else memory


def _close(db: sqlite3.Connection, status_before: str, events: list[Event]) -> None:
    """Set the status of a session by the end of its turn; a failed last turn leaves a failed session."""
    last = events[-1]
    if last.kind == "StopFailure":
        sessions.close(db, last.session, "failed", last.at)
    elif last.kind == "SessionEnd":
        failed = len(events) == 1 and status_before == "failed"
        ended: SessionStatus = "interrupted" if last.reason == "interrupted" else "completed"
        sessions.close(db, last.session, "failed" if failed else ended, last.at)
