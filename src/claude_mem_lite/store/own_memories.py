"""Queries on the memories of this device alone, without those of teammates. The index `memories_of_own` makes them as
quick among 100,000 memories of a team as without a team."""

import json
import sqlite3
from collections.abc import Sequence

from claude_mem_lite.models import Kind, Memory
from claude_mem_lite.store.memories import from_row
from claude_mem_lite.store.memory_queries import IS_HELD


def has_any(db: sqlite3.Connection, scope: str, kinds: Sequence[Kind]) -> bool:
    """Return whether this device has memories of its own of a scope and any of these kinds, in any status."""
    row = db.execute(
        """select 1 from memories indexed by memories_of_own where scope = :scope and origin <> 'team'
             and kind in (select value from json_each(:kinds)) limit 1""",
        {"scope": scope, "kinds": json.dumps(list(kinds))},
    ).fetchone()
    return row is not None


def beginning_with(db: sqlite3.Connection, scope: str, kind: Kind, word: str, limit: int) -> list[Memory]:
    """Return the own memories of a scope and kind whose title begins with a word, oldest first; `word` is ASCII text in
    lower case.

    Memories that the user retired, or that were contradicted too often, are included."""
    rows = db.execute(
        f"""select * from memories indexed by memories_of_own
            where scope = :scope and kind = :kind and origin <> 'team' and {IS_HELD}
              and lower(title) >= :word and lower(title) < :word || '!'  -- the first character after the blank
            order by seq limit :limit""",
        {"scope": scope, "kind": kind, "word": word, "limit": limit},
    )
    return [from_row(row) for row in rows]
