"""Receipts of what is given at any moment: made with the answer, given once the agent has it."""

import logging
import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Event, HookMoment, Receipt
from claude_mem_lite.store import receipts
from claude_mem_lite.worker.loop import Loop

log = logging.getLogger(__name__)


class Weighing(NamedTuple):
    """What was thought of for a moment; `left_out` says why it is not given."""

    id: str
    source: str
    score: float | None
    left_out: str = ""


def record(loop: Loop, receipt: Receipt, *, in_time: bool = False) -> Future[None]:
    """Keep a receipt; it counts as given only once whoever prints it has confirmed it.

    `in_time`: not before that. The job thread would compete with the answer for the interpreter."""

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

    return loop.call(write, in_time=in_time)


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
            receipts.mark_given(db, name, now)

    return loop.call(mark)
