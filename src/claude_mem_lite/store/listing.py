"""Memories by filters alone, newest first: what is known about a file, a branch, a week. Reads only.

Ways through the table are chosen here, because no single one is quick for all filters among 1,000,000 memories."""

import json
import sqlite3
from collections.abc import Sequence
from typing import get_args

from claude_mem_lite.models import Filters, Kind, Memory, Status
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import conditions, fts
from claude_mem_lite.timestamps import time_to_text

# Whatever does not begin with `project:`, as ranges that an index serves. By their seqs, or SQLite walks back through
# all of time instead: 2 s among 400,000.
_BEYOND_PROJECTS = """memories.seq in (select seq from memories where scope < 'project:'
    union all select seq from memories where scope >= 'project;')"""

# The index has the words of each path; which of those paths is meant, the other conditions say. After an upgrade the
# index is made bit by bit: what is not in it yet may be meant too.
_NAMED = """memories.seq in (select rowid from memories_fts where memories_fts match :named
    union all select document / 2 from unindexed where words and document % 2 = 0)"""


def listed(db: sqlite3.Connection, filters: Filters, limit: int) -> list[Memory]:
    """The newest memories that are all that is asked."""
    where, values = conditions.of_memories(filters)
    found: dict[int, str] = {}
    for way, more in _ways(filters):
        rows = db.execute(
            f"""select seq, created_at from memories where {way} and {where}
                order by created_at desc, seq desc limit :limit""",
            {**values, **more, "limit": limit},
        )
        found |= {row["seq"]: row["created_at"] for row in rows}
    newest = sorted(found, key=lambda seq: (found[seq], seq), reverse=True)[:limit]
    read = memories.by_seq(db, newest)
    return [read[seq] for seq in newest if seq in read]


def stated(db: sqlite3.Connection, project: str | None, kinds: Sequence[Kind], limit: int) -> list[Memory]:
    """Return the newest active memories of these kinds that are the user's word: of all projects, or those that hold in
    one."""
    here = "and (+scope = 'project:' || :project or +scope not like 'project:%')" if project is not None else ""
    rows = db.execute(
        f"""select * from memories where status = 'active' and origin = 'user' {here}
              and kind in (select value from json_each(:kinds)) order by created_at desc, seq desc limit :limit""",
        {"project": project, "kinds": json.dumps(kinds), "limit": limit},
    )
    return [memories.from_row(row) for row in rows]


def count_stated(db: sqlite3.Connection, project: str | None, kinds: Sequence[Kind]) -> int:
    """Return how many memories `stated` would list without a limit."""
    here = "and (+scope = 'project:' || :project or +scope not like 'project:%')" if project is not None else ""
    (number,) = db.execute(
        f"""select count(*) from memories where status = 'active' and origin = 'user' {here}
              and kind in (select value from json_each(:kinds))""",
        {"project": project, "kinds": json.dumps(kinds)},
    ).fetchone()
    return int(number)


def _ways(filters: Filters) -> list[conditions.Condition]:
    """Conditions that an index serves; what fits the filters fits at least one of them."""
    named = fts.naming_file(filters.file) if filters.file else ""
    if named:
        return [(_NAMED, {"named": named})]
    if filters.scope and not filters.scope.startswith("project:"):
        return [("memories.scope = :way_scope", {"way_scope": filters.scope})]
    when, values = _when(filters)
    project = filters.scope.removeprefix("project:") if filters.scope else filters.project
    if not project:
        return [(when, values)]
    own = [
        (
            f"memories.project = :way_project and memories.status = :way_status and {when}",
            {**values, "way_project": project, "way_status": status},
        )
        for status in filters.statuses or get_args(Status)
    ]
    return own if filters.scope else [*own, (_BEYOND_PROJECTS, {})]


def _when(filters: Filters) -> tuple[str, dict[str, object]]:
    since, until = filters.since, filters.until
    return "memories.created_at between :way_since and :way_until", {
        "way_since": time_to_text(since) if since else "",
        "way_until": time_to_text(until) if until else "a",
    }
