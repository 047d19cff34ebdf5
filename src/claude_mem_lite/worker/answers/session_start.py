"""Answer to the start of a session: the start context, built with checkout view and search within the deadline."""

import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.agents.adapters import reply
from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.agents.save_permission import may_save_in
from claude_mem_lite.code.freshness.scanner import context_budget
from claude_mem_lite.config import in_folder, is_excluded
from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.layers.layer import OVERTIME
from claude_mem_lite.context.presets import Preset, find_preset
from claude_mem_lite.context.request import ContextRequest, Search
from claude_mem_lite.deadline import NEVER, Deadline
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S
from claude_mem_lite.models import Event, Location
from claude_mem_lite.search import plain_index
from claude_mem_lite.search.hybrid import Search as HybridSearch
from claude_mem_lite.search.search_timeout import with_timeout
from claude_mem_lite.store import guards, receipts
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.answers import prerendered
from claude_mem_lite.worker.answers.hook_request import HookRequest, find_raw, takes_answer
from claude_mem_lite.worker.answers.reply import HookAnswer, receipt_of_event, record
from claude_mem_lite.worker.answers.session_arms import WITHHELD, SessionRequest
from claude_mem_lite.worker.services import Services

_SHARE_OF_SEARCH = 0.6
# From the time in the spool name; the time after 1.1 s is for building and the way back.
_ANSWER_BY_S = 1.1
_MIN_WAIT_S = 0.05
# Minimum of the time after which a slow layer is left out.
_MIN_PATIENCE_S = 0.1
NOT_IN_TIME = b""
"""Reply that makes the hook print the context that was rendered ahead; that context has its own receipt."""
# Longer than for other answers: this hook waits longest, which leaves time for a busy machine.
_WAY_BACK_S = 0.15


def build_start(
    services: Services, context_request: ContextRequest, budget_tokens: int, preset: Preset, deadline: Deadline = NEVER
) -> Context:
    """Build the start context within the deadline of the caller."""
    connect = services.readers.open
    search: Search = _search_of(services).search_without_reasons
    if deadline != NEVER:
        search = with_timeout(search, connect, deadline.share(_SHARE_OF_SEARCH))
    # Not from the pool: a layer that took too long may still use the connection.
    db = services.readers.open_apart()
    try:
        checkout = services.scanner.checkout(db, context_request.location, context_budget(services.limits, deadline))
    except BaseException:
        db.close()
        raise
    try:
        context_request = replace(
            context_request, checkout=checkout, search=search, deadline=deadline, limits=services.limits
        )
        return build(connect, context_request, budget_tokens, preset)
    finally:
        with checkout.lock:
            db.close()


def _search_of(services: Services) -> HybridSearch:
    """Return the search of the worker; while numpy is not loaded, as before the first answer, one without numpy."""
    if "numpy" in sys.modules or not plain_index.suffices(services.readers.open):
        return services.search
    return plain_index.plain_search()


def start_context(services: Services, name: str, body: bytes) -> bytes | None:
    """Return the reply to a SessionStart; None without a context, `NOT_IN_TIME` if the context took too long."""
    with services.activity.answering():
        return _start_context(services, name, body)


def _start_context(services: Services, name: str, body: bytes) -> bytes | None:
    request = HookRequest(services, name, ANSWER_WITHIN_S["SessionStart"], _WAY_BACK_S)
    # The session before may have ended a moment ago: its last turn belongs into the context.
    if services.passes.is_behind(name):
        services.passes.wait_until_stored(min(max(_ANSWER_BY_S - request.age_s(), _MIN_WAIT_S), _ANSWER_BY_S))
    try:
        event = _find_event(services, name, body)
    except PayloadError:
        return None
    if event is None:
        return None
    if services.settings.problem:
        return services.notices.with_trouble(event, services.settings.problem)
    if is_excluded(services.settings.config, event.cwd):
        return None
    if request.age_s() > request.waits_s + services.limits.hook_grace_s:
        return _not_in_time(services, event)
    now = services.clock()  # before reading: memories stored later were not given
    with closing(services.readers.open()) as db:
        place = lookup.locate(db, event.cwd)
        context_request = context_request_for(db, event, place, now)
        paused = guards.unannounced(db, place.project)
        is_control = services.arms.is_control(db, SessionRequest(event.session, event.at, event.source or ""))
        news = [services.arms.take_notice(db, event.session, now)] if is_control else []
    patience_s = min(max(request.left_s(), _MIN_PATIENCE_S), services.limits.start_patience_s)
    config = in_folder(services.settings.config, event.cwd)
    may_save = may_save_in(config, event) and not is_control
    context_request = replace(context_request, may_save=may_save, pinned_only=is_control)
    context = build_start(
        services, context_request, config.budget_tokens, find_preset(config), Deadline.after(patience_s)
    )
    services.scanner.request_scan(place)  # after the answer: changes outside of sessions
    services.writes.wake()
    if not context.text:
        if is_control:
            _note_withheld(services, event, place.project, context, now)
        elif any(layer.reason == OVERTIME for layer in context.layers_skipped):
            return _not_in_time(services, event)
        return services.notices.with_news(event, None, paused, news)
    # A prompt may come before the job thread has stored the receipt.
    services.in_flight.send(name, event.session, [item.source for item in context.items], now)
    made = _made(context, is_control=is_control)
    record(services, receipt_of_event(event, place.project, event.source or "startup", made, now), later=True)
    return services.notices.with_news(event, reply(event, context.text), paused, news)


def _note_withheld(services: Services, event: Event, project: str, context: Context, now: datetime) -> None:
    """Store a receipt that says why a session start was given nothing."""
    nothing = HookAnswer("", (), 0, context.budget, context.build_ms, (WITHHELD,))
    record(services, receipt_of_event(event, project, event.source or "startup", nothing, now), later=True)


def _not_in_time(services: Services, event: Event) -> bytes:
    """Note the rendered context as in flight, because the hook prints it and a prompt may come before the hook's note
    is taken in; return `NOT_IN_TIME`."""
    if event.source != "resume":
        sources = prerendered.sources_for(services.home, event.cwd)
        services.in_flight.send(event.name, event.session, sources, services.clock())
    return NOT_IN_TIME


def _find_event(services: Services, name: str, body: bytes) -> Event | None:
    """Return the event of a spool name, if it gets an answer."""
    found = find_raw(services, name, body)
    if not found.raw:
        return None
    payload = found.payload(name)
    event = event_from_payload(name, payload)
    return event if takes_answer(services, event, payload) else None


def context_request_for(db: sqlite3.Connection, event: Event, place: Location, now: datetime) -> ContextRequest:
    """Return the request for a context: after a resume only news, after a compaction also the session's own work."""
    if event.source == "compact":
        return ContextRequest(place, now)
    since = receipts.known_until(db, event.session) if event.source == "resume" else None
    return ContextRequest(place, now, session=event.session, since=since)


def _made(context: Context, *, is_control: bool) -> HookAnswer:
    skipped = (WITHHELD,) if is_control else tuple(layer.to_text() for layer in context.layers_skipped)
    return HookAnswer(context.text, context.items, context.tokens, context.budget, context.build_ms, skipped)
