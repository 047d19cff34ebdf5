"""Memories of teammates in the table `memories`, by their files and by when they came.

Their index is empty in a home without a team."""

import json
import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime

from claude_mem_lite.models import Kind, Memory
from claude_mem_lite.store.branches import Hidden, not_hidden
from claude_mem_lite.store.memories import from_row
from claude_mem_lite.timestamps import time_to_text

_MAX_READ = 500
"""Received memories that a query looks at: the surest, then the latest."""
_ACTIVE = """from memories indexed by memories_of_team
    where scope = :scope and status = 'active' and origin = 'team' and kind in (select value from json_each(:kinds))"""
_ORDER = "order by pinned desc, confidence desc, last_seen_at desc, seq"


def about_files(
    db: sqlite3.Connection,
    scope: str,
    kinds: Sequence[Kind],
    files: Collection[str],
    *,
    since: datetime | None = None,
    hidden: Hidden = (),
    limit: int,
) -> list[Memory]:
    """Return received memories of a scope about one of these files, surest first.

    Memories of hidden branches are left out unless pinned."""
    visible, branches = not_hidden(hidden, "created_at")
    rows = db.execute(
        f"""select * from memories
            where seq in (select seq {_ACTIVE} and stored_at > :since and (pinned or {visible}) {_ORDER} limit :read)
              and exists (select 1 from json_each(memories.files) where value in (select value from json_each(:files)))
            {_ORDER} limit :limit""",
        {
            **branches,
            "scope": scope,
            "kinds": json.dumps(kinds),
            "files": json.dumps(sorted(files)),
            "since": time_to_text(since) if since else "",
            "read": _MAX_READ,
            "limit": limit,
        },
    )
    return [from_row(row) for row in rows]


def came_since(db: sqlite3.Connection, ids: Sequence[str], since: datetime) -> frozenset[str]:
    """Return those of the memories that came after a time."""
    rows = db.execute(
        "select id from memories where id in (select value from json_each(:ids)) and stored_at > :since",
        {"ids": json.dumps(ids), "since": time_to_text(since)},
    )
    return frozenset(row["id"] for row in rows)
