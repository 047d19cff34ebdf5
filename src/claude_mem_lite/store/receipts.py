"""The table `receipts`: what was given to which session, and whether it arrived."""

import json
import sqlite3
from datetime import datetime

from claude_mem_lite.db.connection import text_to_time, time_to_text
from claude_mem_lite.models import Receipt


def add(db: sqlite3.Connection, receipt: Receipt) -> None:
    """Record an answer that was made; it counts as given only once the hook has printed it.

    What was given already stays recorded as it was."""
    db.execute("delete from receipts where spool_name = ? and given_at is null", (receipt.spool_name,))
    db.execute(
        """insert or ignore into receipts (spool_name, session, project, moment, items, layers,
               layers_skipped, tokens, budget, build_ms, created_at, given_at)
           values (:spool_name, :session, :project, :moment, :items, :layers,
               :layers_skipped, :tokens, :budget, :build_ms, :created_at, :given_at)""",
        {
            "spool_name": receipt.spool_name,
            "session": receipt.session,
            "project": receipt.project,
            "moment": receipt.moment,
            "items": json.dumps(receipt.items),
            "layers": json.dumps(receipt.layers),
            "layers_skipped": json.dumps(receipt.layers_skipped),
            "tokens": receipt.tokens,
            "budget": receipt.budget,
            "build_ms": receipt.build_ms,
            "created_at": time_to_text(receipt.created_at),
            "given_at": time_to_text(receipt.given_at) if receipt.given_at else None,
        },
    )


def mark_given(db: sqlite3.Connection, spool_name: str, now: datetime) -> None:
    """The hook printed the answer to this event."""
    db.execute(
        "update receipts set given_at = :now where spool_name = :name",
        {"now": time_to_text(now), "name": spool_name},
    )


def last_given(db: sqlite3.Connection) -> datetime | None:
    """When context last reached any session."""
    (given,) = db.execute("select max(given_at) from receipts").fetchone()
    return text_to_time(given) if given else None


def known_until(db: sqlite3.Connection, session: str) -> datetime | None:
    """The moment whose state a session was last told and still remembers; None when it remembers nothing."""
    (built,) = db.execute(
        """select max(created_at) from receipts where session = :session and given_at >
             coalesce((select compacted_at from sessions where id = :session), '')""",
        {"session": session},
    ).fetchone()
    return text_to_time(built) if built else None
