"""Doing again what a memory.db that was lost had: which events, and in which order. Part of the inbox.

Every finished event has the count of memory.db at its end. What is behind the count of the one that took its place is
put back to work, in the order of these counts, since a command may speak of what a turn of another session made."""

import sqlite3

from claude_mem_lite.db.change_counter import MAX_BELIEVED
from claude_mem_lite.db.connection import atomic


def furthest(db: sqlite3.Connection) -> int:
    """How far memory.db was, by what is finished; 0 when nothing is."""
    # By status, each of which the index answers at once.
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


def put_back(db: sqlite3.Connection, after: int) -> int:
    """Have everything done again that was finished when memory.db was further than this; returns how many events.

    A model is asked again about turns that it told: its words were in memory.db alone."""
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
    """The rows of the unit to be done again next, as it was; none when nothing is to be."""
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
