"""Receipts of what is given at any moment: made with the answer, given once the agent has it."""

import logging
import sqlite3
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Event, HookMoment, Receipt, ReceiptItem
from claude_mem_lite.store import receipts
from claude_mem_lite.worker.loop import Loop

log = logging.getLogger(__name__)


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
            receipts.mark_given(db, name, now)

    return loop.call(mark)
