"""Processing of a turn from the inbox: events -> compression -> store. For the job thread."""

import logging
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from claude_mem_lite.compress.rules.digest_key import key_of
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
from claude_mem_lite.knowledge.code_links import Link
from claude_mem_lite.knowledge.lessons import collection
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.models import Draft, Event, Location, Memory, Session, SessionStatus, Turn
from claude_mem_lite.store import sessions, symbol_changes, turns
from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.values import frozen
from claude_mem_lite.worker import session_job
from claude_mem_lite.worker.turn_notes import TurnNotes

_NOTHING_KEPT = "held nothing worth keeping"
log = logging.getLogger(__name__)


@frozen
class StoredTurn:
    """Turn whose memories by rules are stored."""

    turn: Turn
    digest: TurnDigest
    is_new: bool
    """False when the same turn was stored before."""


@frozen
class TurnJob:
    """Processing of turns, with the databases and helpers of the job thread."""

    queue: Queue
    db: sqlite3.Connection
    config: Config
    link: Link
    likeness: Likeness
    turn_notes: TurnNotes

    def process(self, unit: Sequence[Row], now: datetime) -> StoredTurn | None:
        """Process a turn completely; return it, if any event was usable. A repetition changes nothing."""
        kept, skipped = usable_events.sort_events(unit, self.config)
        key, events = unit[0].name, list(kept.values())
        stored = None
        if events and session_job.is_forgotten(events[0], key, self.db):
            session_job.skip_forgotten(unit, self.queue, now)
            return None
        where = session_job.locate_event(key, events[0].cwd, self.queue, self.db, now) if events else None
        if where:
            stored = self._store(key, events, where.location, now)
            if events[-1].kind in ("SessionEnd", "StopFailure"):
                outcomes.judge(self.db, self.queue, events[-1].session)
            if events[-1].kind == "SessionEnd":  # after an error the session mostly goes on
                session_outcomes.judge(self.db, self.queue, events[-1].session)
            worthless = {row for row, event in kept.items() if event.name in stored.digest.skipped}
            skipped |= dict.fromkeys(worthless, _NOTHING_KEPT)
        found = where.found if where else None
        self.queue.finish([row for row in kept if row not in skipped], now.timestamp(), skipped=skipped, findings=found)
        return stored

    def _store(self, key: str, events: list[Event], location: Location, now: datetime) -> StoredTurn:
        """Compress and store one turn."""
        db, first, last = self.db, events[0], events[-1]
        before = sessions.find(db, first.session)
        location = session_job.location_at(location, first)
        turn = self._read(key, events, before.project if before else location.project)
        digest = self._digest(turn)
        unsure = collection.of_turn(turn, digest)
        # An imported turn before known turns adds memories, but must not change the summary of the session.
        is_old_news = first.imported and turns.has_later_turn(db, first.session, first.at)
        others = ForeignText((*turn.earlier, *events))
        asked, reply = usable_events.prompt_of(events), others.without_orders(usable_events.reply_of(events))
        made = [
            self._linked(draft, turn_events.memory_of(draft, turn, location, position, last.at, others), last, location)
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
                stored += collection.keep(db, unsure, self.likeness, key, now)
                if not is_old_news and any(event.kind != "SessionEnd" for event in events):
                    self._keep_summary(turn, digest, before, location, others, now)
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

    def _read(self, key: str, events: Sequence[Event], project: str) -> Turn:
        """Return the events as a turn, with what the session said and left failing before."""
        first = events[0]
        earlier = handoffs.events_left_failing(
            events,
            partial(self._calls_to_fix, key),
            partial(usable_events.read_events, config=self.config),
        )
        prompt = usable_events.prompt_of(events) or turns.last_prompt(self.db, first.session)
        previous = turns.previous_message(self.db, first.session, first.at)
        return Turn(key, first.session, project, prompt, tuple(events), earlier, previous)

    def _calls_to_fix(self, key: str) -> Sequence[Row]:
        """Return the calls of the turns before a turn, unless no command failed in any of them."""
        before = event_history.turns_before(self.queue.db, key)
        if self.turn_notes.are_without_failure(before.turns):
            return ()
        return event_history.calls_in(self.queue.db, before, handoffs.TOOLS)

    def _digest(self, turn: Turn) -> TurnDigest:
        """Compress a turn, unless its digest came with an import, and add what the database knows."""
        digest = self.turn_notes.digest(key_of(turn)) if self.turn_notes.has_digests else None
        digest = fold(turn) if digest is None else digest
        if not digest.has_failure:
            self.turn_notes.note_without_failure(turn.key)
        digest = correction_context.with_preceding_work(self.db, turn, digest)
        digest = user_reverts.with_undone(self.db, self.queue, turn, digest)
        return collection.without_dismissed(self.db, turn.project, digest, self.likeness)

    def _linked(self, draft: Draft, memory: Memory, last: Event, location: Location) -> Memory:
        """Return a memory of the user's own words with links to the code it names, except for imported turns, whose
        code is unknown."""
        is_of_words = is_taught(draft) and not draft.anchors and not last.imported
        return self.link(memory, location, last.cwd) if is_of_words else memory

    def _keep_summary(
        self,
        turn: Turn,
        digest: TurnDigest,
        before: Session | None,
        location: Location,
        others: ForeignText,
        now: datetime,
    ) -> None:
        """Store the summary of the session after a turn, its handoff, and the failures that the turn resolved."""
        db, first = self.db, turn.events[0]
        cleared = others.cleared_digest(digest)
        known, worth = (before.summary, before.headline_worth) if before else (None, 0.0)
        listed = turns.tasks_before(db, first.session, first.at)
        summary = others.cleared(summarize(known, turn, cleared, worth, listed))
        sessions.set_summary(db, first.session, summary, now, max(worth, headline_worth(cleared)))
        turn_events.keep_handoff(db, handoff(summary, cleared, location.branch), turn, location, others, now)
        handoffs.retire_failures(db, turn, digest, location.branch)


def _close(db: sqlite3.Connection, status_before: str, events: list[Event]) -> None:
    """Set the status of a session by the end of its turn; a failed last turn leaves a failed session."""
    last = events[-1]
    if last.kind == "StopFailure":
        sessions.close(db, last.session, "failed", last.at)
    elif last.kind == "SessionEnd":
        failed = len(events) == 1 and status_before == "failed"
        ended: SessionStatus = "interrupted" if last.reason == "interrupted" else "completed"
        sessions.close(db, last.session, "failed" if failed else ended, last.at)
