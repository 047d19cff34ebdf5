"""Replay of events whose result a lost memory.db had: selection and order. Part of the inbox.

Every finished event has the counter of memory.db at its end. Events above the counter of the restored memory.db return
to the queue, in the order of the counters, since a command may refer to a memory of another session's turn."""

import sqlite3

from claude_mem_lite.db.change_counter import MAX_BELIEVED
from claude_mem_lite.db.connection import atomic


def max_counter(db: sqlite3.Connection) -> int:
    """Return the highest counter of memory.db among finished events; 0 without any."""
    # By status, because the index answers each status at once.
    row = db.execute(
        """select max(
               coalesce((select max(work) from inbox where status = 'done' and work > 0 and work <= :most), 0),
               coalesce((select max(work) from inbox where status = 'skipped' and work > 0 and work <= :most), 0),
               coalesce((select max(work) from inbox where status = 'raw' and work > 0 and work <= :most), 0),
               coalesce((select max(work) from inbox where status = 'processing' and work > 0
                         and work <= :most), 0))""",
        {"most": MAX_BELIEVED},
    ).fetchone()
    return int(row[0])


def requeue_after(db: sqlite3.Connection, after: int) -> int:
    """Return all events finished above a counter to the queue; return their number.

    Turns with a model's memories are requested again: only memory.db had the memories."""
    with atomic(db):
        db.execute(
            """delete from model_turns where state = 'done' and turn in (
                   select turn from inbox where status in ('done', 'skipped') and work > 0 and work > :after)""",
            {"after": after},
        )
        db.execute(
            """update inbox set status = 'raw', reason = '', attempts = 0, lease_until = 0, available_at = 0,
                   finished_at = null
               where status in ('done', 'skipped') and work > 0 and work > :after""",
            {"after": after},
        )
        (waiting,) = db.execute("select count(*) from inbox where status = 'raw' and work > 0").fetchone()
    return int(waiting)


def next_unit(db: sqlite3.Connection) -> list[int]:
    """Return the rows of the next unit to replay, unchanged; none if nothing is left."""
    first = db.execute(
        "select work, turn from inbox where status = 'raw' and work > 0 order by work, id limit 1"
    ).fetchone()
    if first is None:
        return []
    rows = db.execute(
        "select id from inbox where status = 'raw' and work > 0 and work = :work and turn = :turn order by id",
        dict(first),
    )
    return [row["id"] for row in rows]
