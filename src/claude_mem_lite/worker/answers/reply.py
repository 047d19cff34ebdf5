"""From what was found for a moment to what the hook prints: given once, within the budget, and only to who waits.

Receipts of what is given at any moment: made with the answer, given once the agent has it."""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.agents.adapters import reply
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Event, HookMoment, Place, Receipt, ReceiptItem
from claude_mem_lite.store import receipts
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.answers.hook_request import LaterCheckout, Waiting
from claude_mem_lite.worker.answers.in_flight import Known
from claude_mem_lite.worker.loop import Loop


@dataclass(frozen=True, slots=True)
class Made:
    """An answer; without text there is none."""

    text: str
    items: tuple[ReceiptItem, ...]
    tokens: int
    budget: int
    build_ms: float
    layers_skipped: tuple[str, ...] = ()


class Weighing(NamedTuple):
    """What was thought of for a moment; `left_out` says why it is not given."""

    id: str
    source: str
    score: float | None
    left_out: str = ""


def receipt_of_event(event: Event, project: str, moment: str, made: Made, now: datetime) -> Receipt:
    """The receipt of what the hook of an event is given; its layers are what its items came from."""
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


def record(loop: Loop, receipt: Receipt, *, later: bool = False) -> Future[None]:
    """Keep a receipt; it counts as given only once whoever prints it has confirmed it.

    `later`: not before that. The job thread would compete with the answer for the interpreter."""

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

    return loop.call(write, later=later)


def explain(event: Event, moment: HookMoment, weighed: Sequence[Weighing], why_silent: str = "") -> None:
    """One line in the log for whoever looks for mistakes: ids and scores, no word of a prompt or a memory."""
    log.info(
        "answer explained",
        extra={
            "session": event.session,
            "event": event.name,
            "moment": moment,
            "weighed": [one._asdict() for one in weighed],
            "why_silent": why_silent,
        },
    )


def mark_printed(loop: Loop, name: str) -> Future[None]:
    """The answer of this name has reached the agent, printed by a hook or sent: now it counts as given."""
    loop.on_their_way.note_printed(name)
    now = loop.clock()

    def mark(db: sqlite3.Connection) -> None:
        with atomic(db):
            receipts.mark_injected(db, name, now)

    return loop.call(mark)


Make = Callable[[sqlite3.Connection, Occasion, Known], Made]
Ask = Callable[[sqlite3.Connection, Place], str]
"""A question to the agent that is added to the answer, '' mostly; no receipt tells of it."""
MIN_LEFT_TO_ASK_S = 0.06
"""The time that must be left for a question: the vectors may have to be loaded again, which takes half of it."""
log = logging.getLogger(__name__)


def _nothing(_db: sqlite3.Connection, _place: Place) -> str:
    return ""


def give(waiting: Waiting, event: Event, moment: HookMoment, make: Make, ask: Ask = _nothing) -> bytes | None:
    """The reply to an event, with its receipt; None when there is nothing to say, or nobody waits for it any more."""
    loop = waiting.loop
    now = loop.clock()
    with closing(loop.readers.open()) as db:
        place = lookup.locate(db, event.cwd)
        while not waiting.is_over():
            known = loop.on_their_way.known(db, event.session)
            # After a compaction its own work of before may be told; that of since then is among what it knows.
            session = "" if known.was_compacted else event.session
            occasion = Occasion(
                place, now, session, checkout=LaterCheckout(loop, db, place), until=waiting.until_monotonic()
            )
            made = make(db, occasion, known)
            if waiting.is_over():
                return None
            if not made.text:
                question = _question(waiting, ask, db, place)
                return reply(event, question) if question else None
            ids = [item.source for item in made.items]
            if loop.on_their_way.claim(event.name, event.session, ids, made.tokens, now, known):
                record(loop, receipt_of_event(event, place.project, moment, made, now), later=True)
                return reply(event, "\n".join(filter(None, (made.text, _question(waiting, ask, db, place)))))
    return None


def _question(waiting: Waiting, ask: Ask, db: sqlite3.Connection, place: Place) -> str:
    """Return the question, '' when it fails or comes too late: the memories of the answer are claimed already."""
    if waiting.left_s() < MIN_LEFT_TO_ASK_S:
        return ""
    try:
        return ask(db, place)
    except Exception:  # whatever it is, the prompt is answered without a question
        log.exception("a question failed; the prompt is answered without")
        return ""
