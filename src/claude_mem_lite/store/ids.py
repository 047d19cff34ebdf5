"""Ids as people see and give them: short ones are made here, and found by their beginning. Called by the tables."""

import base64
import hashlib
import sqlite3
from collections.abc import Sequence

from claude_mem_lite.errors import Ambiguous, NotFound

LENGTH = 10
MIN_PREFIX_LENGTH = 4
MAX_CANDIDATES = 8
"""How many ids an error lists when a beginning fits several."""


def short_id(*parts: str) -> str:
    """A short id that is the same whenever the same thing is stored: fifty bits, no look-alike letters."""
    digest = hashlib.sha256("\x00".join(parts).encode()).digest()
    return base64.b32encode(digest).decode().lower()[:LENGTH]


def one_by_prefix(
    db: sqlite3.Connection,
    select: str,
    table: str,
    given: str,
    nobody: NotFound,
    *,
    any_case: bool = True,
    condition: str = "true",
) -> sqlite3.Row:
    """The one row of a table whose id begins as given, or is it; `nobody` is raised when there is none.

    Short ids may be given in any case; agents make theirs as they like. A condition may speak of `:id`."""
    wanted = given.strip().lstrip("#")
    wanted = wanted.lower() if any_case else wanted
    if len(wanted) < MIN_PREFIX_LENGTH:
        raise NotFound(f"{given!r} is too short for an id", f"give {MIN_PREFIX_LENGTH} characters or more of it")
    rows = db.execute(
        # As a range: with substr() all ids would be looked at.
        f"""{select} where {table}.id >= :id and {table}.id < :id || char(0x10ffff) and {condition}
            order by {table}.id limit {MAX_CANDIDATES + 1}""",
        {"id": wanted},
    ).fetchall()
    if not rows:
        raise nobody
    if len(rows) > 1 and rows[0]["id"] != wanted:
        raise ambiguous(given, [row["id"] for row in rows])
    row: sqlite3.Row = rows[0]
    return row


def beginning_with(db: sqlite3.Connection, table: str, column: str, given: str) -> list[str]:
    """Return the ids in a column that begin as given, one more than an error lists."""
    rows = db.execute(
        f"""select distinct {column} as id from {table} where {column} >= :id and {column} < :id || char(0x10ffff)
            order by 1 limit {MAX_CANDIDATES + 1}""",
        {"id": given},
    )
    return [str(row["id"]) for row in rows]


def ambiguous(given: str, found: Sequence[str]) -> Ambiguous:
    """Return the error for the beginning of several ids; it lists them, the first few at least."""
    listed = ", ".join(found[:MAX_CANDIDATES])
    more = ", and more" if len(found) > MAX_CANDIDATES else ""
    return Ambiguous(f"{given} is the beginning of several ids: {listed}{more}", "give more of the one you mean")
