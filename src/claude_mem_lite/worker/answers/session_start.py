"""What a session that starts is answered: the start context, or nothing.

Start contexts with all that the worker knows: a look at the checkout, search, and the patience of who waits."""

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.agents.adapters import reply
from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.code.freshness.scanner import time_for_context
from claude_mem_lite.config import in_folder, is_excluded
from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.layer_runner import OVERTIME
from claude_mem_lite.context.presets import Preset, chosen
from claude_mem_lite.context.prompt.lesson_question import may_save_in
from claude_mem_lite.context.request import Occasion, Search
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S
from claude_mem_lite.models import Event, Place
from claude_mem_lite.search.search_timeout import with_timeout
from claude_mem_lite.store import receipts
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.answers.hook_request import Waiting, find_raw, is_to_be_told
from claude_mem_lite.worker.answers.reply import Made, receipt_of_event, record
from claude_mem_lite.worker.loop import Loop

_SHARE_OF_SEARCH = 0.6


def build_start(
    loop: Loop, occasion: Occasion, budget_tokens: int, preset: Preset, patience_s: float | None = None
) -> Context:
    """The start context for an occasion, within the time somebody waits for it; None: as long as it takes."""
    connect = loop.readers.open
    began = time.monotonic()
    until: float | None = None
    search: Search = loop.search.search_without_reasons
    if patience_s is not None:
        until, search = began + patience_s, with_timeout(search, connect, began + _SHARE_OF_SEARCH * patience_s)
    # Not one that another has after us: a layer that took too long may be asking it still.
    db = loop.readers.open_apart()
    try:
        checkout = loop.looking.checkout(db, occasion.place, time_for_context(patience_s))
    except BaseException:
        db.close()
        raise
    try:
        return build(connect, replace(occasion, checkout=checkout, search=search, until=until), budget_tokens, preset)
    finally:
        with checkout.lock:
            db.close()


# From the time in the spool name; what is left after 1.1 s is for building and the way back.
_ANSWER_BY_S = 1.1
_MIN_WAIT_S = 0.05
# Of that, a slow layer may take so much before it is left out.
_MIN_PATIENCE_S, _MAX_PATIENCE_S = 0.1, 0.5
# More than other answers have: this hook waits longest, so there is room for a machine that is busy.
_WAY_BACK_S = 0.15


def start_context(loop: Loop, name: str, body: bytes) -> bytes | None:
    """The reply to a SessionStart, or None when there is nothing worth saying."""
    waiting = Waiting(loop, name, ANSWER_WITHIN_S["SessionStart"], _WAY_BACK_S)
    # The session before this one may have ended a moment ago: its last turn belongs into the context.
    if loop.is_behind(name):
        loop.settle(min(max(_ANSWER_BY_S - waiting.age_s(), _MIN_WAIT_S), _ANSWER_BY_S))
    if waiting.age_s() > waiting.waits_s:
        return None  # nobody is there to print it, and what was printed instead has its own receipt
    try:
        event = _find_event(loop, name, body)
    except PayloadError:
        return None
    if event is None or loop.problem or is_excluded(loop.config, event.cwd):
        return loop.telling.with_trouble(event, loop.problem) if event is not None and loop.problem else None
    now = loop.clock()  # before reading: what is stored after this was not told
    with closing(loop.readers.open()) as db:
        place = lookup.locate(db, event.cwd)
        occasion = occasion_of(db, event, place, now)
    patience_s = min(max(waiting.left_s(), _MIN_PATIENCE_S), _MAX_PATIENCE_S)
    config = in_folder(loop.config, event.cwd)
    occasion = replace(occasion, may_save=may_save_in(config, event))
    context = build_start(loop, occasion, config.budget_tokens, chosen(config), patience_s)
    loop.looking.request_scan(place)  # only now: what changed outside of sessions is looked for when the answer is made
    loop.wake()
    if not context.text:
        if any(one.reason == OVERTIME for one in context.layers_skipped):
            # Without an answer the hook prints what was written ahead.
            loop.stopping.wait(max(waiting.waits_s - waiting.age_s(), 0))
            return None
        return loop.telling.with_news(event, None)
    # A prompt may come before the job thread has stored this.
    loop.on_their_way.send(name, event.session, [item.source for item in context.items], now)
    record(loop, receipt_of_event(event, place.project, event.source or "startup", _made(context), now), later=True)
    return loop.telling.with_news(event, reply(event, context.text))


def _find_event(loop: Loop, name: str, body: bytes) -> Event | None:
    """The event by its spool name, if it is one that is answered."""
    found = find_raw(loop, name, body)
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


def _made(context: Context) -> Made:
    skipped = tuple(one.written() for one in context.layers_skipped)
    return Made(context.text, context.items, context.tokens, context.budget, context.build_ms, skipped)
