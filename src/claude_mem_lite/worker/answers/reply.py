"""From what was found for a moment to what the hook prints: given once, within the budget, and only to who waits."""

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing

from claude_mem_lite.agents.adapters import reply
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.models import Event, HookMoment, Place
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.answers.hook_request import LaterCheckout, Waiting
from claude_mem_lite.worker.answers.in_flight import Known
from claude_mem_lite.worker.answers.recording import Made, receipt_of_event, record

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
