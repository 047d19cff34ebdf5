"""Memories that are tied to code, a page at a time, for whoever checks them against it. Reads only.

The decisions that sessions made or came back to, whatever became of them. Reads only.

Memories whose words are not to be taken for an agent's own: those of pages and foreign tools, and those that wait
in quarantine. Reads only.

The memories of a session, and of a turn. Reads only.

Memories by filters alone, newest first: what is known about a file, a branch, a week. Reads only.

Ways through the table are chosen here, because no single one is quick for all filters among 1,000,000 memories."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple, get_args

from claude_mem_lite.models import FOREIGN_ORIGINS, Filters, Kind, Memory, Session, Status
from claude_mem_lite.store import memories
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.index import filter_tokens, fts
from claude_mem_lite.store.memories import from_row
from claude_mem_lite.timestamps import text_to_time, time_to_text

MAX_POSITIONS = 64
"""The number of memories that one turn may make."""
BESIDE = "beside"
"""The part of an id that tells a memory from the one in its place that must be left alone."""
_PAGE = 500
_LOOKED_THROUGH = 200
_IS_TIED = """instr(anchors, '"code:') > 0"""


class Spot(NamedTuple):
    """Where a page ended: the time of its last row, and the number."""

    at: str
    seq: int


class Row(NamedTuple):
    """The little that tells whether a memory must be checked again."""

    seq: int
    branch: str
    created_at: datetime
    anchors: tuple[str, ...]


class Page(NamedTuple):
    """Some of a project's memories."""

    tied: list[Row]
    """Those that are tied to code."""
    branches: set[str]
    """The branches that any of them was made on."""
    end: Spot | None
    """Where the next page begins; None: this was the last."""


def page(db: sqlite3.Connection, project: str, after: Spot | None, limit: int) -> Page:
    """The next so many active memories of a project, newest first.

    So many are looked at, not found: in a large project that has none, one page must not take as long as all."""
    rows = db.execute(
        f"""select seq, created_at, branch, case when {_IS_TIED} then anchors end as anchors from memories
            where project = :project and status = 'active' and (created_at, seq) < (:at, :seq)
            order by created_at desc, seq desc limit :limit""",
        {"project": project, "at": after.at if after else "a", "seq": after.seq if after else 0, "limit": limit},
    ).fetchall()
    tied = [
        Row(row["seq"], row["branch"], text_to_time(row["created_at"]), tuple(json.loads(row["anchors"])))
        for row in rows
        if row["anchors"]
    ]
    last = rows[-1] if len(rows) == limit else None
    end = Spot(last["created_at"], last["seq"]) if last else None
    return Page(tied, {row["branch"] for row in rows} - {""}, end)


def pages(db: sqlite3.Connection, project: str) -> Iterator[Page]:
    """All active memories of a project, newest first; each page is read when it is asked for."""
    spot: Spot | None = None
    while True:
        found = page(db, project, spot, _PAGE)
        yield found
        spot = found.end
        if spot is None:
            return


def newest_of_branch(db: sqlite3.Connection, project: str, branch: str, limit: int) -> list[Memory]:
    """The last memories tied to code that were made on a branch.

    The retired too: they may have been retired because their branch was gone."""
    rows = db.execute(
        f"""select *, {_IS_TIED} as is_tied from memories
            where project = :project and branch = :branch and scope = :scope
            order by created_at desc, seq desc limit :among""",
        {"project": project, "branch": branch, "scope": f"project:{project}", "among": _LOOKED_THROUGH},
    )
    tied = (memories.from_row(row) for row in rows if row["is_tied"] and row["status"] in ("active", "retired"))
    return list(islice(tied, limit))  # the others are not even read


def of_sessions(db: sqlite3.Connection, sessions: Sequence[Session]) -> dict[str, list[Memory]]:
    """Decisions by the sessions of a project that made them or saw them again."""
    found: dict[str, dict[str, Memory]] = {one.id: {} for one in sessions}
    if not sessions:
        return {}
    made = db.execute(
        "select * from memories where session in (select value from json_each(:ids)) and +kind = 'decision'",
        {"ids": json.dumps([one.id for one in sessions])},
    )
    for row in made.fetchall():
        found[row["session"]][row["id"]] = from_row(row)
    # What was decided once more is one memory, of the session that decided it first.
    seen = db.execute(
        # From the prompts on: few are of these sessions, while a project may have thousands of decisions.
        """select memories.*, seen.session as seen_in from (
               select distinct sightings.memory, prompts.session from prompts
                 cross join sightings on sightings.turn = prompts.turn
               where prompts.session in (select value from json_each(:ids))
             ) as seen cross join memories on memories.id = seen.memory
           where memories.kind = 'decision' and memories.scope = :scope order by memories.seq""",
        {"ids": json.dumps([one.id for one in sessions]), "scope": f"project:{sessions[0].project}"},
    )
    for row in seen.fetchall():
        found[row["seen_in"]][row["id"]] = from_row(row)
    return {id_: list(by_id.values()) for id_, by_id in found.items()}


def of_project(db: sqlite3.Connection, project: str, limit: int) -> list[Memory]:
    """The newest of them that belong to a project or to none."""
    rows = db.execute(
        """select * from memories
           where (origin in (select value from json_each(:foreign)) or status = 'quarantined')
             and (project = :project or scope not like 'project:%')
           order by seq desc limit :limit""",
        {"foreign": json.dumps(FOREIGN_ORIGINS), "project": project, "limit": limit},
    )
    return [from_row(row) for row in rows]


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
    where, values = filter_tokens.of_memories(filters)
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


def _ways(filters: Filters) -> list[filter_tokens.Condition]:
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


def of_session(db: sqlite3.Connection, session: str, limit: int, before: datetime | None = None) -> list[Memory]:
    """Return the newest active memories of a session, or those of before a moment, oldest first."""
    rows = db.execute(
        """select * from memories where session = :session and status = 'active'
             and (:before is null or created_at < :before)
           order by created_at desc, seq desc limit :limit""",
        {"session": session, "before": time_to_text(before) if before else None, "limit": limit},
    ).fetchall()
    return [from_row(row) for row in reversed(rows)]


def of_turn(db: sqlite3.Connection, turn: str) -> list[Memory]:
    """Return the memories that a turn made, by their ids."""
    ids = [short_id(turn, str(at), *more) for at in range(MAX_POSITIONS) for more in ((), (BESIDE,))]
    rows = db.execute(
        "select * from memories where id in (select value from json_each(:ids)) order by seq", {"ids": json.dumps(ids)}
    )
    return [from_row(row) for row in rows]
