"""Short ids for people: creation, and lookup by prefix. Used by the modules of the tables."""

import base64
import hashlib
import sqlite3
from collections.abc import Sequence

from claude_mem_lite.errors import Ambiguous, NotFound

LENGTH = 10
MIN_PREFIX_LENGTH = 4
MAX_CANDIDATES = 8
"""Number of ids that an error lists when a prefix is ambiguous."""


def short_id(*parts: str) -> str:
    """Return a short id that depends on the parts alone: fifty bits, no look-alike letters."""
    digest = hashlib.sha256("\x00".join(parts).encode()).digest()
    return base64.b32encode(digest).decode().lower()[:LENGTH]


def row_by_prefix(
    db: sqlite3.Connection,
    select: str,
    table: str,
    id_or_prefix: str,
    nobody: NotFound,
    *,
    any_case: bool = True,
    condition: str = "true",
) -> sqlite3.Row:
    """Return the row of a table whose id is, or begins with, the given text. Raise `nobody` if no row matches.

    Short ids match in any case; ids made by agents match exactly. `condition` may use `:id`."""
    prefix = id_or_prefix.strip().lstrip("#")
    prefix = prefix.lower() if any_case else prefix
    if len(prefix) < MIN_PREFIX_LENGTH:
        raise NotFound(f"{id_or_prefix!r} is too short for an id", f"give {MIN_PREFIX_LENGTH} characters or more of it")
    rows = db.execute(
        # A range condition uses the index; substr() would scan all ids.
        f"""{select} where {table}.id >= :id and {table}.id < :id || char(0x10ffff) and {condition}
            order by {table}.id limit {MAX_CANDIDATES + 1}""",
        {"id": prefix},
    ).fetchall()
    if not rows:
        raise nobody
    if len(rows) > 1 and rows[0]["id"] != prefix:
        raise ambiguous(id_or_prefix, [row["id"] for row in rows])
    row: sqlite3.Row = rows[0]
    return row


def beginning_with(db: sqlite3.Connection, table: str, column: str, prefix: str) -> list[str]:
    """Return the ids of a column with a prefix, at most one more than an error lists."""
    rows = db.execute(
        f"""select distinct {column} as id from {table} where {column} >= :id and {column} < :id || char(0x10ffff)
            order by 1 limit {MAX_CANDIDATES + 1}""",
        {"id": prefix},
    )
    return [str(row["id"]) for row in rows]


def ambiguous(prefix: str, ids: Sequence[str]) -> Ambiguous:
    """Return the error for an ambiguous prefix, with a list of the first matching ids."""
    listed = ", ".join(ids[:MAX_CANDIDATES])
    more = ", and more" if len(ids) > MAX_CANDIDATES else ""
    return Ambiguous(f"{prefix} is the beginning of several ids: {listed}{more}", "give more of the one you mean")
