"""What a session that starts is answered: the start context, or nothing."""

import sqlite3
from contextlib import closing, suppress
from datetime import datetime

from claude_mem_lite.agents.adapters import reply
from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.config import in_folder, is_excluded
from claude_mem_lite.context.builder import Context
from claude_mem_lite.context.finding import OVERTIME
from claude_mem_lite.context.occasion import Occasion
from claude_mem_lite.context.presets import chosen
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.models import Event, Place, Receipt
from claude_mem_lite.places import find_place
from claude_mem_lite.spool_names import time_of
from claude_mem_lite.store import receipts
from claude_mem_lite.worker.answering.recording import record
from claude_mem_lite.worker.answering.telling import with_news, with_trouble
from claude_mem_lite.worker.answering.waiting import Found, is_to_be_told
from claude_mem_lite.worker.building import build_start
from claude_mem_lite.worker.loop import Loop

# From the time in the spool name; what is left after 1.1 s is for building and the way back.
_HOOK_WAITS_S = ANSWER_WITHIN_S["SessionStart"]
_ANSWER_BY_S = 1.1
_LEAST_WAIT_S = 0.05
# Of that, a slow layer may take so much before it is left out.
_LEAST_PATIENCE_S, _MOST_PATIENCE_S = 0.1, 0.5
_WAY_BACK_S = 0.15


def start_context(loop: Loop, name: str, body: bytes) -> bytes | None:
    """The reply to a SessionStart, or None when there is nothing worth saying."""
    # The session before this one may have ended a moment ago: its last turn belongs into the context.
    if loop.is_behind(name):
        loop.settle(min(max(_ANSWER_BY_S - _age_s(loop, name), _LEAST_WAIT_S), _ANSWER_BY_S))
    if _age_s(loop, name) > _HOOK_WAITS_S:
        return None  # nobody is there to print it, and what was printed instead has its own receipt
    try:
        event = _find_event(loop, name, body)
    except PayloadError:
        return None
    if event is None or loop.problem or is_excluded(loop.config, event.cwd):
        return with_trouble(loop, event) if event is not None and loop.problem else None
    place, now = find_place(event.cwd), loop.clock()  # before reading: what is stored after this was not told
    with closing(loop.readers.open()) as db:
        occasion = occasion_of(db, event, place, now)
    patience_s = min(max(_HOOK_WAITS_S - _WAY_BACK_S - _age_s(loop, name), _LEAST_PATIENCE_S), _MOST_PATIENCE_S)
    config = in_folder(loop.config, event.cwd)
    context = build_start(loop, occasion, config.budget_tokens, chosen(config), patience_s)
    loop.looking.want(place)  # only now: what changed outside of sessions is looked for when the answer is made
    loop.wake()
    if not context.text:
        if any(one.reason == OVERTIME for one in context.layers_skipped):
            # Without an answer the hook prints what was written ahead.
            loop.stopping.wait(max(_HOOK_WAITS_S - _age_s(loop, name), 0))
            return None
        return with_news(loop, event, None)
    receipt = _receipt(event, place, context, now)
    # A prompt may come before the job thread has stored this.
    loop.on_their_way.send(name, event.session, [item.source for item in context.items], now)
    record(loop, receipt, in_time=True)
    return with_news(loop, event, reply(event, context.text))


def _age_s(loop: Loop, name: str) -> float:
    return (loop.clock() - time_of(name)).total_seconds()


def _find_event(loop: Loop, name: str, body: bytes) -> Event | None:
    """The event by its spool name: in the inbox, else sent along, else still in the spool of a busy worker."""
    with closing(open_for_reading(loop.home.inbox_db)) as db:
        row = inbox.find(db, name)
    found = Found(row.payload.encode(), is_adapted=True) if row else Found(body)
    if not found.raw:
        with suppress(FileNotFoundError):
            found = Found((loop.home.spool_new / name).read_bytes())
    if not found.raw:
        return None
    payload = found.payload(name)
    event = event_from_payload(name, payload)
    return event if is_to_be_told(loop, event, payload) else None


def occasion_of(db: sqlite3.Connection, event: Event, place: Place, now: datetime) -> Occasion:
    """Resume gets only news; after compaction the session's own work is worth telling as well."""
    if event.source == "compact":
        return Occasion(place, now)
    since = receipts.known_until(db, event.session) if event.source == "resume" else None
    return Occasion(place, now, session=event.session, since=since)


def _receipt(event: Event, place: Place, context: Context, now: datetime) -> Receipt:
    return Receipt(
        spool_name=event.name,
        session=event.session,
        project=place.project,
        moment=event.source or "startup",
        items=context.items,
        layers=context.layers,
        layers_skipped=tuple(f"{one.layer}: {one.reason}" for one in context.layers_skipped),
        tokens=context.tokens,
        budget=context.budget,
        build_ms=context.build_ms,
        created_at=now,
    )
