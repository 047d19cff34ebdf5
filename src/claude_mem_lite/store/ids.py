"""Ids as people see and give them: short ones are made here, and found by their beginning. Called by the tables."""

import base64
import hashlib
import sqlite3

from claude_mem_lite.errors import Ambiguous, NotFound

LENGTH = 10
SHORTEST_PREFIX = 4


def short_id(*parts: str) -> str:
    """A short id that is the same whenever the same thing is stored: fifty bits, no look-alike letters."""
    digest = hashlib.sha256("\x00".join(parts).encode()).digest()
    return base64.b32encode(digest).decode().lower()[:LENGTH]


def one_by_prefix(
    db: sqlite3.Connection, select: str, table: str, given: str, nobody: NotFound, *, any_case: bool = True
) -> sqlite3.Row:
    """The one row of a table whose id begins as given, or is it; `nobody` is raised when there is none.

    Short ids may be given in any case; agents make theirs as they like."""
    wanted = given.strip().lstrip("#")
    wanted = wanted.lower() if any_case else wanted
    if len(wanted) < SHORTEST_PREFIX:
        raise NotFound(f"{given!r} is too short for an id", f"give {SHORTEST_PREFIX} characters or more of it")
    rows = db.execute(
        # As a range: with substr() all ids would be looked at.
        f"""{select} where {table}.id >= :id and {table}.id < :id || char(0x10ffff)
            order by {table}.id limit 2""",
        {"id": wanted},
    ).fetchall()
    if not rows:
        raise nobody
    if len(rows) > 1 and rows[0]["id"] != wanted:
        raise Ambiguous(f"{given} is the beginning of several ids", "give more of it")
    row: sqlite3.Row = rows[0]
    return row
