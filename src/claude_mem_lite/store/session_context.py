"""What a session knows already: what it was given and what it did itself, since it last forgot its conversation."""

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.store.memories import handoff_id
from claude_mem_lite.timestamps import text_to_time, time_to_text

IDS = "ids"
"""The layer of an answer that only names what there is: a session was not told of that yet."""
_LEFT_OPEN = ("handoff", "block+next")
"""The layers that tell what a session left open, under the id of that session."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One injection that reached a session."""

    spool_name: str
    moment: str
    tokens: int
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a session remembers of what it was given."""

    ids: frozenset[str] = frozenset()
    """Memories and sessions that it was told of, and the memories that were made of its own work."""
    answers: tuple[Answered, ...] = ()
    compacted_at: datetime | None = None

    def tokens(self, *moments: str) -> int:
        """How much it was given at moments of these names."""
        return sum(one.tokens for one in self.answers if one.moment in moments)


def of_session(db: sqlite3.Connection, session: str) -> Remembered:
    """All that a session was given, as far as it arrived, and its own work: after its last compaction only."""
    forgot_at = compacted_at(db, session)
    since = time_to_text(forgot_at) if forgot_at else ""
    values = {"session": session, "since": since}
    answers = db.execute(
        "select spool_name, moment, tokens, layers from receipts where session = :session and given_at > :since", values
    ).fetchall()
    told = db.execute(
        """select distinct source, layer from receipt_items join receipts on spool_name = receipt
           where session = :session and given_at > :since and layer <> :ids""",
        {**values, "ids": IDS},
    ).fetchall()
    own = db.execute("select id from memories where session = :session and created_at > :since", values)
    ids = {row["source"] for row in told} | {row["id"] for row in own}
    ids |= {handoff_id(row["source"]) for row in told if row["layer"] in _LEFT_OPEN}
    return Remembered(
        frozenset(ids),
        tuple(
            Answered(row["spool_name"], row["moment"], row["tokens"], tuple(json.loads(row["layers"])))
            for row in answers
        ),
        forgot_at,
    )


def compacted_at(db: sqlite3.Connection, session: str) -> datetime | None:
    """When a session last forgot its conversation."""
    found = db.execute("select compacted_at from sessions where id = ?", (session,)).fetchone()
    return text_to_time(found["compacted_at"]) if found and found["compacted_at"] else None
