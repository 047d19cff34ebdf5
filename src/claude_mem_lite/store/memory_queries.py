"""Read-only queries on memories.

Pages of memories with code anchors, for the staleness scan; decisions of sessions; memories from pages and foreign
tools or in quarantine; memories by filters alone, newest first; and the memories that a new, changed or forgotten
memory is compared with.

Filtered queries choose their index explicitly, because no single index is quick for all filters among 1,000,000
memories."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import count, islice
from typing import NamedTuple, get_args

from claude_mem_lite.models import FOREIGN_ORIGINS, Kind, Memory, Session, Status
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories, tombstones
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.index import filter_tokens, fts
from claude_mem_lite.store.memories import from_row
from claude_mem_lite.timestamps import text_to_time, time_to_text

MAX_POSITIONS = 64
"""The number of memories that one turn may make."""
BESIDE = "beside"
"""The part of an id that tells a memory from the one in its place that must be left alone."""
_PAGE = 500
_MAX_SCANNED = 200
_IS_ANCHORED = """instr(anchors, '"code:') > 0"""
# Scopes without the prefix `project:`, as ranges that an index serves. The subquery on seq keeps SQLite from a walk
# through all of time: 2 s among 400,000.
_BEYOND_PROJECTS = """memories.seq in (select seq from memories where scope < 'project:'
    union all select seq from memories where scope >= 'project;')"""

# The index has the words of each path; the other conditions select the exact path. After an upgrade the index is built
# step by step, so rows that are not indexed yet are included.
_NAMED = """memories.seq in (select rowid from memories_fts where memories_fts match :named
    union all select document / 2 from unindexed where words and document % 2 = 0)"""


class PageCursor(NamedTuple):
    """End of a page: time and number of its last row."""

    at: str
    seq: int


class AnchoredRow(NamedTuple):
    """The few columns that decide if a memory must be checked again."""

    seq: int
    branch: str
    created_at: datetime
    anchors: tuple[str, ...]


class AnchoredPage(NamedTuple):
    """Part of a project's memories."""

    anchored: list[AnchoredRow]
    """Memories with code anchors."""
    branches: set[str]
    """Branches on which memories of the page were made."""
    end: PageCursor | None
    """Start of the next page; None for the last page."""


def page(db: sqlite3.Connection, project: str, after: PageCursor | None, limit: int) -> AnchoredPage:
    """Return the next active memories of a project, newest first.

    `limit` bounds the rows that are read, not the rows that are returned: in a large project without anchors, one
    page must not take as long as all."""
    rows = db.execute(
        f"""select seq, created_at, branch, case when {_IS_ANCHORED} then anchors end as anchors from memories
            where project = :project and status = 'active' and (created_at, seq) < (:at, :seq)
            order by created_at desc, seq desc limit :limit""",
        {"project": project, "at": after.at if after else "a", "seq": after.seq if after else 0, "limit": limit},
    ).fetchall()
    anchored = [
        AnchoredRow(row["seq"], row["branch"], text_to_time(row["created_at"]), tuple(json.loads(row["anchors"])))
        for row in rows
        if row["anchors"]
    ]
    last = rows[-1] if len(rows) == limit else None
    end = PageCursor(last["created_at"], last["seq"]) if last else None
    return AnchoredPage(anchored, {row["branch"] for row in rows} - {""}, end)


def pages(db: sqlite3.Connection, project: str) -> Iterator[AnchoredPage]:
    """Yield all active memories of a project, newest first; each page is read on demand."""
    cursor: PageCursor | None = None
    while True:
        next_page = page(db, project, cursor, _PAGE)
        yield next_page
        cursor = next_page.end
        if cursor is None:
            return


def newest_of_branch(db: sqlite3.Connection, project: str, branch: str, limit: int) -> list[Memory]:
    """Return the last memories with code anchors that were made on a branch.

    Retired memories are included: the end of the branch may have retired them."""
    rows = db.execute(
        f"""select *, {_IS_ANCHORED} as is_tied from memories
            where project = :project and branch = :branch and scope = :scope
            order by created_at desc, seq desc limit :among""",
        {"project": project, "branch": branch, "scope": f"project:{project}", "among": _MAX_SCANNED},
    )
    anchored = (memories.from_row(row) for row in rows if row["is_tied"] and row["status"] in ("active", "retired"))
    return list(islice(anchored, limit))  # the other rows are not even read


def of_sessions(db: sqlite3.Connection, sessions: Sequence[Session]) -> dict[str, list[Memory]]:
    """Return the decisions that each session of a project made or saw again."""
    by_session: dict[str, dict[str, Memory]] = {session.id: {} for session in sessions}
    if not sessions:
        return {}
    rows = db.execute(
        "select * from memories where session in (select value from json_each(:ids)) and +kind = 'decision'",
        {"ids": json.dumps([session.id for session in sessions])},
    )
    for row in rows.fetchall():
        by_session[row["session"]][row["id"]] = from_row(row)
    # A repeated decision is a single memory, of the session that decided first.
    seen = db.execute(
        # The query starts from the prompts: these sessions have few, while a project may have thousands of decisions.
        """select memories.*, seen.session as seen_in from (
               select distinct sightings.memory, prompts.session from prompts
                 cross join sightings on sightings.turn = prompts.turn
               where prompts.session in (select value from json_each(:ids))
             ) as seen cross join memories on memories.id = seen.memory
           where memories.kind = 'decision' and memories.scope = :scope order by memories.seq""",
        {"ids": json.dumps([session.id for session in sessions]), "scope": f"project:{sessions[0].project}"},
    )
    for row in seen.fetchall():
        by_session[row["seen_in"]][row["id"]] = from_row(row)
    return {id_: list(by_id.values()) for id_, by_id in by_session.items()}


def of_project(db: sqlite3.Connection, project: str, limit: int) -> list[Memory]:
    """Return the newest foreign or quarantined memories that belong to a project or to none."""
    rows = db.execute(
        """select * from memories
           where (origin in (select value from json_each(:foreign)) or status = 'quarantined')
             and (project = :project or scope not like 'project:%')
           order by seq desc limit :limit""",
        {"foreign": json.dumps(FOREIGN_ORIGINS), "project": project, "limit": limit},
    )
    return [from_row(row) for row in rows]


def listed(db: sqlite3.Connection, filters: Filters, limit: int) -> list[Memory]:
    """Return the newest memories that match all filters."""
    where, values = filter_tokens.of_memories(filters)
    times: dict[int, str] = {}
    for path, more in _index_paths(filters):
        rows = db.execute(
            f"""select seq, created_at from memories where {path} and {where}
                order by created_at desc, seq desc limit :limit""",
            {**values, **more, "limit": limit},
        )
        times |= {row["seq"]: row["created_at"] for row in rows}
    newest = sorted(times, key=lambda seq: (times[seq], seq), reverse=True)[:limit]
    read = memories.by_seq(db, newest)
    return [read[seq] for seq in newest if seq in read]


def stated(db: sqlite3.Connection, project: str | None, kinds: Sequence[Kind], limit: int) -> list[Memory]:
    """Return the newest active memories of these kinds that the user stated: of all projects, or valid in a project."""
    in_project = "and (+scope = 'project:' || :project or +scope not like 'project:%')" if project is not None else ""
    rows = db.execute(
        f"""select * from memories where status = 'active' and origin = 'user' {in_project}
              and kind in (select value from json_each(:kinds)) order by created_at desc, seq desc limit :limit""",
        {"project": project, "kinds": json.dumps(kinds), "limit": limit},
    )
    return [memories.from_row(row) for row in rows]


def count_stated(db: sqlite3.Connection, project: str | None, kinds: Sequence[Kind]) -> int:
    """Return how many memories `stated` would list without a limit."""
    in_project = "and (+scope = 'project:' || :project or +scope not like 'project:%')" if project is not None else ""
    (number,) = db.execute(
        f"""select count(*) from memories where status = 'active' and origin = 'user' {in_project}
              and kind in (select value from json_each(:kinds))""",
        {"project": project, "kinds": json.dumps(kinds)},
    ).fetchone()
    return int(number)


def _index_paths(filters: Filters) -> list[filter_tokens.Condition]:
    """Return conditions that an index serves; each matching memory meets at least one condition."""
    named = fts.naming_file(filters.file) if filters.file else ""
    if named:
        return [(_NAMED, {"named": named})]
    if filters.scope and not filters.scope.startswith("project:"):
        return [("memories.scope = :way_scope", {"way_scope": filters.scope})]
    when, values = _time_range(filters)
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


def _time_range(filters: Filters) -> tuple[str, dict[str, object]]:
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


def made_at(db: sqlite3.Connection, at: datetime) -> list[Memory]:
    """Return the memories that were made at exactly this time."""
    rows = db.execute("select * from memories where created_at = ? order by seq", (time_to_text(at),))
    return [from_row(row) for row in rows]


def all_after(db: sqlite3.Connection, seq: int, project: str | None) -> Iterator[tuple[int, Memory]]:
    """Return every memory behind a row number, in any status and in order of storing; or those of one project."""
    of_project = "and (+project = :project or +scope = 'project:' || :project)" if project is not None else ""
    rows = db.execute(
        f"select * from memories where seq > :seq {of_project} order by seq", {"seq": seq, "project": project}
    )
    return ((row["seq"], from_row(row)) for row in rows)


def count_all(db: sqlite3.Connection, project: str | None) -> int:
    """Return the number of memories that `all_after` returns from the beginning."""
    of_project = "where project = :project or scope = 'project:' || :project" if project is not None else ""
    (number,) = db.execute(f"select count(*) from memories {of_project}", {"project": project}).fetchone()
    return int(number)


def count_of_project(db: sqlite3.Connection, project: str) -> int:
    """Return the number of memories that were made in a project."""
    (number,) = db.execute("select count(*) from memories where project = ?", (project,)).fetchone()
    return int(number)


def free_ids(db: sqlite3.Connection, turn: str) -> Iterator[str]:
    """Yield ids of a turn that no memory has or had."""
    ids = (short_id(turn, str(position)) for position in count())
    return (id_ for id_ in ids if memories.find(db, id_) is None and not tombstones.is_buried(db, id_))


_MAX_DUPLICATES = 30
IS_HELD = """(memories.status = 'active' or (memories.status = 'retired' and exists (select 1 from retirements
    where retirements.memory = memories.id and cause in ('user', 'contradicted'))))"""
"""Condition of memories that a new memory may repeat."""


def duplicate_candidates(
    db: sqlite3.Connection, memory: Memory, seqs: Sequence[int], kinds: Sequence[Kind]
) -> list[Memory]:
    """Return the memories of a scope among the rows `seqs`, and those with the same kind and title, oldest first.

    Memories that the user retired, or that were contradicted too often, are included."""
    rows = db.execute(
        # The signs keep SQLite from a walk through the scope and kind (6 ms at 20,000) where the rows are known.
        f"""select * from memories where seq in (select value from json_each(:seqs))
             and +kind in (select value from json_each(:kinds)) and {IS_HELD} and +scope = :scope
           union
           select * from memories where kind = :kind and {IS_HELD} and scope = :scope
             and lower(title) = lower(:title)
           order by seq limit :limit""",
        {
            "scope": memory.scope,
            "kind": memory.kind,
            "kinds": json.dumps(kinds),
            "title": memory.title,
            "seqs": json.dumps(seqs),
            "limit": _MAX_DUPLICATES,
        },
    )
    return [from_row(row) for row in rows]


def same_in_quarantine(db: sqlite3.Connection, memory: Memory) -> Memory | None:
    """Return the quarantined memory with exactly the same words. Joined with another memory, the words would leave the
    quarantine with that memory."""
    row = db.execute(
        """select * from memories where status = 'quarantined' and scope = :scope and kind = :kind and title = :title
             and summary = :summary and origin = :origin order by seq limit 1""",
        {name: getattr(memory, name) for name in ("scope", "kind", "title", "summary", "origin")},
    ).fetchone()
    return from_row(row) if row is not None else None


def active_rows(
    db: sqlite3.Connection, memory: Memory, seqs: Sequence[int], kinds: Sequence[Kind]
) -> list[sqlite3.Row]:
    """Return the rows among `seqs` of other active memories of the same scope. A caller that compares hundreds of
    titles makes memories of few rows."""
    return db.execute(
        """select * from memories where seq in (select value from json_each(:seqs)) and +status = 'active'
             and +scope = :scope and id <> :id
             and kind in (select value from json_each(:kinds)) order by seq""",
        {
            "seqs": json.dumps(seqs),
            "scope": memory.scope,
            "id": memory.id,
            "kinds": json.dumps(list(kinds)),
        },
    ).fetchall()


def with_detail(
    db: sqlite3.Connection, text: str, projects: Collection[str], sessions: Collection[str]
) -> list[Memory]:
    """Return the memories of projects or sessions with a text in the detail."""
    rows = db.execute(
        """select * from memories where detail like '%' || :text || '%'
             and (project in (select value from json_each(:projects))
               or session in (select value from json_each(:sessions)))""",
        {"text": text, "projects": json.dumps(sorted(projects)), "sessions": json.dumps(sorted(sessions))},
    )
    return [from_row(row) for row in rows.fetchall()]


def titles_in(db: sqlite3.Connection, sessions: Collection[str]) -> list[str]:
    """Return the titles of all memories of sessions."""
    rows = db.execute(
        "select title from memories where session in (select value from json_each(:sessions))",
        {"sessions": json.dumps(sorted(sessions))},
    )
    return [row["title"] for row in rows]
