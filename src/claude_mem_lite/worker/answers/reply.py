"""Reply to a hook with its receipt: every memory once, within budget and deadline.

A receipt is stored with the reply, and counts as given once the hook has printed the reply."""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.agents.adapters import reply
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Event, HookTrigger, Location, Receipt, ReceiptItem
from claude_mem_lite.store import receipts
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.answers.hook_request import HookRequest, LazyCheckoutView
from claude_mem_lite.worker.answers.in_flight import SessionInjections
from claude_mem_lite.worker.answers.session_arms import SessionRequest
from claude_mem_lite.worker.services import Services

MIN_LEFT_TO_ASK_S = 0.06
"""Minimum of time for a question: loading the vectors again takes half of it."""
log = logging.getLogger(__name__)


@frozen
class HookAnswer:
    """Built answer; without text the hook gets no reply."""

    text: str
    items: tuple[ReceiptItem, ...]
    tokens: int
    budget: int
    build_ms: float
    layers_skipped: tuple[str, ...] = ()


class ScoredCandidate(NamedTuple):
    """Candidate of an answer, for the log; `left_out` is the reason why it was not chosen."""

    id: str
    source: str
    score: float | None
    left_out: str = ""


def receipt_of_event(event: Event, project: str, moment: str, made: HookAnswer, now: datetime) -> Receipt:
    """Return the receipt of an answer to an event; its layers are those of the items."""
    return Receipt(
        spool_name=event.name,
        session=event.session,
        project=project,
        moment=moment,
        items=made.items,
        layers=tuple(dict.fromkeys(item.layer for item in made.items)),
        layers_skipped=made.layers_skipped,
        tokens=made.tokens,
        budget=made.budget,
        build_ms=made.build_ms,
        created_at=now,
    )


def record(services: Services, receipt: Receipt, *, later: bool = False) -> Future[None]:
    """Store a receipt; only `mark_printed` makes it count as given.

    `later`: not before the reply. The job thread would compete with the reply for the interpreter."""

    def write(db: sqlite3.Connection) -> None:
        with atomic(db):
            receipts.add(db, receipt)
        log.info(
            "context built",
            extra={
                "session": receipt.session,
                "moment": receipt.moment,
                "tokens": receipt.tokens,
                "ms": receipt.build_ms,
                "cost_usd": 0.0,
            },
        )

    return services.writes.execute_write(write, later=later)


def explain(event: Event, moment: HookTrigger, weighed: Sequence[ScoredCandidate], why_silent: str = "") -> None:
    """Log the candidates of an answer, for debugging: ids and scores, no text of a prompt or a memory."""
    log.info(
        "answer explained",
        extra={
            "session": event.session,
            "event": event.name,
            "moment": moment,
            "weighed": [candidate._asdict() for candidate in weighed],
            "why_silent": why_silent,
        },
    )


def mark_printed(services: Services, name: str) -> Future[None]:
    """Count the answer of a name as given: a hook has printed it, or the MCP server has sent it."""
    services.in_flight.note_printed(name)
    now = services.clock()

    def mark(db: sqlite3.Connection) -> None:
        with atomic(db):
            receipts.mark_injected(db, name, now)

    return services.writes.execute_write(mark)


Make = Callable[[sqlite3.Connection, ContextRequest, SessionInjections], HookAnswer]
Ask = Callable[[sqlite3.Connection, Location], str]
"""Question to the agent at the end of the answer, mostly ''; without a receipt."""


def _nothing(_db: sqlite3.Connection, _place: Location) -> str:
    return ""


def reply_once(
    request: HookRequest, event: Event, moment: HookTrigger, make: Make, ask: Ask = _nothing
) -> bytes | None:
    """Return the reply to an event, and store its receipt; None without an answer, or after the deadline."""
    services = request.services
    now = services.clock()
    with closing(services.readers.open()) as db:
        if services.arms.is_control(db, SessionRequest(event.session, event.at, event.source or "")):
            return services.notices.alone(event, services.arms.take_notice(db, event.session, now))
        place = lookup.locate(db, event.cwd)
        while not request.is_over():
            known = services.in_flight.known(db, event.session)
            # After a compaction earlier work of the session may be given; later work is among the known ids.
            session = "" if known.was_compacted else event.session
            context_request = ContextRequest(
                place, now, session, checkout=LazyCheckoutView(services, db, place), deadline=request.deadline()
            )
            made = make(db, context_request, known)
            if request.is_over():
                return None
            if not made.text:
                question = _question(request, ask, db, place)
                return reply(event, question) if question else None
            ids = [item.source for item in made.items]
            if services.in_flight.claim(event.name, event.session, ids, made.tokens, now, known):
                record(services, receipt_of_event(event, place.project, moment, made, now), later=True)
                return reply(event, "\n".join(filter(None, (made.text, _question(request, ask, db, place)))))
    return None


def _question(request: HookRequest, ask: Ask, db: sqlite3.Connection, place: Location) -> str:
    """Return the question; '' when it fails or comes too late, because the memories of the answer are claimed."""
    if request.left_s() < MIN_LEFT_TO_ASK_S:
        return ""
    try:
        return ask(db, place)
    except Exception:  # whatever the reason, the prompt is answered without a question
        log.exception("a question failed; the prompt is answered without")
        return ""
