"""How what was just stored stands to what was known: what it replaces, what it contradicts, how sure it is by now.

Called by the worker inside the transaction that stores a turn, a model's retelling of it, or a command of the user."""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

from claude_mem_lite.knowledge import confidence, handoffs
from claude_mem_lite.knowledge.claims import supersession
from claude_mem_lite.models import Memory, Turn, TurnDigest
from claude_mem_lite.store import memories, memory_links

log = logging.getLogger(__name__)


def settle(db: sqlite3.Connection, memory: Memory, turn_key: str, now: datetime) -> None:
    """Settle one memory that was added or seen again. A failure is logged and leaves everything as it was stored."""
    _safely(db, lambda: _settle(db, memory.id, now), turn_key)


def settle_turn(
    db: sqlite3.Connection, stored: Sequence[Memory], turn: Turn, branch: str, digest: TurnDigest, now: datetime
) -> None:
    """Settle all that a turn added or saw again, then the handoffs that its session takes up or that passed in it."""
    for memory in stored:
        settle(db, memory, turn.key, now)
    began, ended = turn.events[0].at, turn.events[-1].at
    _safely(db, lambda: handoffs.take_up(db, turn.session, branch, began, ended, digest), turn.key)


def _safely(db: sqlite3.Connection, work: Callable[[], None], turn_key: str) -> None:
    """Do what goes beyond storing; what fails there must not lose the turn."""
    db.execute("savepoint settling")
    try:
        work()
    except Exception:  # logged, with the turn by its name; what was stored of it stays
        if not db.in_transaction:  # a full disk took back everything: the whole turn is tried again
            raise
        db.execute("rollback to settling")
        log.exception("settling failed", extra={"turn": turn_key})
    db.execute("release settling")


def _settle(db: sqlite3.Connection, id_: str, now: datetime) -> None:
    memory = memories.find(db, id_)  # as it is now: an earlier one of the turn may have replaced it
    if memory is None or memory.status != "active":
        return
    supersession.settle(db, memory, now)
    learned = confidence.learn(db, memory, now)
    concerned = [id_, *memory_links.of(db, [id_]).get(id_, ()), *([learned.id] if learned else ())]
    for each in concerned:
        if (one := memories.find(db, each)) is not None:
            confidence.weigh(db, one, now)
