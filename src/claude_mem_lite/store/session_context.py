"""Context of a session since the last compaction: delivered injections, and memories of the session itself."""

import json
import sqlite3
from datetime import datetime

from claude_mem_lite.store.memories import handoff_id
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

IDS = "ids"
"""Layer of an answer that only lists ids: the listed memories do not count as injected."""
_LEFT_OPEN = ("handoff", "block+next")
"""Layers with the open work of a session, recorded under the id of that session."""


@frozen
class DeliveredAnswer:
    """Injection that reached a session."""

    spool_name: str
    moment: str
    tokens: int
    layers: tuple[str, ...] = ()


@frozen
class SessionContext:
    """Injections that a session still has in its context."""

    ids: frozenset[str] = frozenset()
    """Memories and sessions that were injected, and memories of the session's own work."""
    answers: tuple[DeliveredAnswer, ...] = ()
    compacted_at: datetime | None = None

    def tokens(self, *triggers: str) -> int:
        """Return the number of tokens that were injected for these triggers."""
        return sum(answer.tokens for answer in self.answers if answer.moment in triggers)


def of_session(db: sqlite3.Connection, session: str) -> SessionContext:
    """Return the delivered injections and the own memories of a session since the last compaction."""
    compaction = compacted_at(db, session)
    since = time_to_text(compaction) if compaction else ""
    values = {"session": session, "since": since}
    answers = db.execute(
        "select spool_name, moment, tokens, layers from receipts where session = :session and given_at > :since", values
    ).fetchall()
    items = db.execute(
        """select distinct source, layer from receipt_items join receipts on spool_name = receipt
           where session = :session and given_at > :since and layer <> :ids""",
        {**values, "ids": IDS},
    ).fetchall()
    own = db.execute("select id from memories where session = :session and created_at > :since", values)
    ids = {row["source"] for row in items} | {row["id"] for row in own}
    ids |= {handoff_id(row["source"]) for row in items if row["layer"] in _LEFT_OPEN}
    return SessionContext(
        frozenset(ids),
        tuple(
            DeliveredAnswer(row["spool_name"], row["moment"], row["tokens"], tuple(json.loads(row["layers"])))
            for row in answers
        ),
        compaction,
    )


def compacted_at(db: sqlite3.Connection, session: str) -> datetime | None:
    """Return the time of the last compaction of a session."""
    row = db.execute("select compacted_at from sessions where id = ?", (session,)).fetchone()
    return text_to_time(row["compacted_at"]) if row and row["compacted_at"] else None
