"""What becomes of one unit of the inbox: events -> compression -> store. Runs in the worker's job thread."""

import logging
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial

from claude_mem_lite.agents.adapters import takes_claude_form
from claude_mem_lite.agents.claude_code import TURN_ENDS, event_from_payload, why_skipped
from claude_mem_lite.compress.rules.handoff import handoff
from claude_mem_lite.compress.rules.summary import headline_worth, summarize
from claude_mem_lite.compress.rules.taught import is_taught
from claude_mem_lite.compress.rules.turns import fold
from claude_mem_lite.compress.tools.hearsay import Hearsay
from claude_mem_lite.config import Config, in_folder
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox import past_calls
from claude_mem_lite.inbox.erasing import erase
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.models import (
    COMPOSER_VERSION,
    TRANSCRIPT_TRUST,
    TRUST,
    Draft,
    Event,
    Memory,
    Place,
    SessionStatus,
    Turn,
    TurnDigest,
)
from claude_mem_lite.places import find_place
from claude_mem_lite.spool_names import time_of
from claude_mem_lite.store import memories, receipts, sessions, symbols, tombstones, turns
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.worker import left_open, located, outcomes, passing, rendered, said_after, settling, undone
from claude_mem_lite.worker.lessons import collection
from claude_mem_lite.worker.lessons.likeness import Likeness
from claude_mem_lite.worker.tying import Tie

_CLOCK_SLACK_S = 300.0
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
    kept, skipped = _sort_out(unit, config)
    events = list(kept.values())
    stored = None
    if events and _is_forgotten(events[0], unit[0].name, db):
        queue.finish([], now.timestamp(), skipped=dict.fromkeys((row.id for row in unit), _FORGOTTEN))
        erase(queue, turns=[unit[0].name], sessions=[])
        return None
    where = located.locate(unit[0].name, events[0].cwd, queue, db, now) if events else None
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
        place = located.recall(event.name, event.cwd, queue, db)
        receipt = rendered.receipt_of(told, event, place, time_of(row.name))
        with atomic(db):
            receipts.add(db, receipt)
    queue.finish([row.id], now.timestamp())


def read_events(unit: Sequence[Row], config: Config) -> list[Event]:
    """The events of a unit that are worth working on."""
    return list(_sort_out(unit, config)[0].values())


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


def _sort_out(unit: Sequence[Row], config: Config) -> tuple[dict[int, Event], dict[int, str]]:
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


def _in_time(event: Event, row: Row) -> Event:
    """The event not much later than it was taken in: a clock that was ahead must not make it the newest for years."""
    latest = datetime.fromtimestamp(row.received_at + _CLOCK_SLACK_S, UTC)
    return replace(event, at=min(event.at, latest))


def _inside(cwd: str) -> str:
    """Where a folder stands in its checkout: what is done there is told as seen from the root of that."""
    root = find_place(cwd).root
    folder = os.path.realpath(cwd) if root else ""
    return folder[len(root) + 1 :] if folder.startswith(f"{root}/") else ""


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
    earlier = left_open.earlier(
        events, partial(past_calls.calls_before, queue.db, key, left_open.TOOLS), partial(read_events, config=config)
    )
    prompt = asked or turns.last_prompt(db, first.session)
    previous = turns.previous_message(db, first.session, first.at)
    turn = Turn(key, first.session, project, prompt, tuple(events), earlier, previous)
    digest = undone.with_undone(db, queue, turn, said_after.with_occasion(db, turn, fold(turn)))
    digest = collection.without_dismissed(db, project, digest, likeness)
    unsure = collection.of_turn(turn, digest)
    # What is imported after later turns were seen adds memories, but how things stand is for those to say.
    is_old_news = first.imported and turns.has_later_turn(db, first.session, first.at)
    others = Hearsay((*earlier, *events))
    reply = next((event.message for event in reversed(events) if event.message and not event.agent_id), "")
    reply = others.without_orders(reply)
    made = [
        _tied(draft, memory_of(draft, turn, place, position, last.at, others), last, place, tie)
        for position, draft in enumerate(digest.drafts)
    ]
    with atomic(db):
        for event in (first, last):
            sessions.touch(db, event, place)
        log_kept = others.without_orders(digest.log)
        is_new = turns.add_turn(db, key, first, asked, reply, others.own(digest.tasks), log_kept)
        if is_new:
            symbols.add(db, key, turn, place.branch, digest.code, last.at)
            stored = [memories.add(db, memory, key, now) for memory in made]
            stored += collection.keep(db, unsure, likeness, key, now)
            if not is_old_news and any(event.kind != "SessionEnd" for event in events):
                told = others.cleared_digest(digest)
                known, worth = (before.summary, before.headline_worth) if before else (None, 0.0)
                listed = turns.tasks_before(db, first.session, first.at)
                summary = others.cleared(summarize(known, turn, told, worth, listed))
                sessions.set_summary(db, first.session, summary, now, max(worth, headline_worth(told)))
                keep_handoff(db, handoff(summary, told, place.branch), turn, place, others, now)
                passing.retire_failures(db, turn, digest, place.branch)
            settling.settle_turn(db, stored, turn, place.branch, digest, now)
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


def keep_handoff(
    db: sqlite3.Connection, left: Draft | None, turn: Turn, place: Place, others: Hearsay, now: datetime
) -> None:
    """One handoff a session, as it stands now; what was open and is not any more holds no longer."""
    id_ = memories.handoff_id(turn.session)
    known = memories.find(db, id_)
    if left is None:
        if known is not None and known.made_by != "user":
            memories.retire(db, id_)
    else:
        made = memory_of(left, turn, place, 0, turn.events[-1].at, others)
        memories.put(db, replace(made, id=id_), turn.key, now)


def memory_of(draft: Draft, turn: Turn, place: Place, position: int, at: datetime, others: Hearsay) -> Memory:
    """The memory a draft becomes. Its id is its place in the turn: told anew by a model, it stays the same memory.

    What the user taught is known by what it says: its place is behind all that a model may tell. `others` is what
    the turn heard: to read that takes long, so it is read once for all drafts."""
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
