"""The table `memories`: reading, storing and removing memories.

The table is canonical; the word index and the vectors are derived from its rows."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import Kind, Memory, SymbolChange
from claude_mem_lite.store import memory_links, symbol_changes, tombstones
from claude_mem_lite.store.branches import Hidden, not_hidden
from claude_mem_lite.store.ids import row_by_prefix, short_id
from claude_mem_lite.store.index import fts, index_queue, vectors
from claude_mem_lite.timestamps import text_to_time, time_to_text

COLUMNS = tuple(field.name for field in fields(Memory))
MAX_LEFT_OPEN = 100
"""Limit of open handoffs of a project. A context has room for far fewer, and each handoff is compared with every
statement of a session about its work."""
_SHARE_OF_TEAM = 3
"""Divisor of a limit, for memories of teammates."""
_decode = json.JSONDecoder().raw_decode
_LISTS = ("facts", "files", "anchors", "tags")


def from_row(row: sqlite3.Row) -> Memory:
    """Return the memory of a row."""
    stored = dict(zip(row.keys(), row, strict=True))  # a lookup by name in a Row is a linear search
    stored["commit"] = stored["commit_id"]
    values = {name: stored[name] for name in COLUMNS}
    for name in _LISTS:
        values[name] = tuple(_list(values[name]))
    values["symbols"] = tuple(SymbolChange(**symbol) for symbol in _list(values["symbols"]))
    values["created_at"] = text_to_time(values["created_at"])
    values["last_seen_at"] = text_to_time(values["last_seen_at"])
    values["pinned"] = bool(values["pinned"])
    return Memory(**values)


def values_of(memory: Memory) -> dict[str, str | float | None]:
    """Return the stored values of a memory by field name."""
    values = {name: getattr(memory, name) for name in COLUMNS}
    for name in _LISTS:
        values[name] = json.dumps(values[name])
    values["symbols"] = json.dumps([asdict(symbol) for symbol in memory.symbols])
    values["created_at"] = time_to_text(memory.created_at)
    values["last_seen_at"] = time_to_text(memory.last_seen_at)
    return values


def _list(text: str) -> list[Any]:
    # Most lists are empty, and a context reads hundreds of rows. `json.loads` also skips surrounding spaces, and
    # `values_of` never writes any.
    return [] if text == "[]" else _decode(text)[0]


def handoff_id(session: str) -> str:
    """Return the id of the handoff of a session."""
    return short_id("handoff", session)


def put(db: sqlite3.Connection, memory: Memory, turn: str, now: datetime) -> None:
    """Store a memory under its id, replacing an earlier version, as for a handoff that changes with the work.

    Memories written by the user are not replaced."""
    if tombstones.is_buried(db, memory.id):
        return
    row = db.execute("select * from memories where id = ?", (memory.id,)).fetchone()
    if row is None:
        insert(db, memory, now)
    elif row["made_by"] != "user":
        before = from_row(row)
        overwrite(db, replace(memory, created_at=before.created_at, pinned=before.pinned), stored_at=now)
        if memory.status == "active":
            db.execute("delete from retirements where memory = ?", (memory.id,))
    memory_links.note_sighting(db, memory.id, turn)


def retire(db: sqlite3.Connection, id_: str) -> bool:
    """Retire a memory: it stays readable and is not injected any more. Return False if the memory is not active."""
    # From now on the retirement is final, whatever happens to the code.
    db.execute("delete from retirements where memory = ?", (id_,))
    row = db.execute(
        "update memories set status = 'retired' where id = ? and status = 'active' returning *", (id_,)
    ).fetchone()
    if row is not None:
        fts.update_filter_tokens(db, row["seq"], from_row(row))
    return row is not None


def get(db: sqlite3.Connection, id_or_prefix: str) -> Memory:
    """Return a memory by id or id prefix."""
    nobody = NotFound(f"there is no memory {id_or_prefix}", "`claude-mem-lite list` shows the ids")
    return from_row(row_by_prefix(db, "select * from memories", "memories", id_or_prefix, nobody))


def pinned_among(db: sqlite3.Connection, ids: Sequence[str]) -> frozenset[str]:
    """Return those of these memories that the user pinned."""
    rows = db.execute(
        "select id from memories where pinned and id in (select value from json_each(?))", (json.dumps(list(ids)),)
    )
    return frozenset(row["id"] for row in rows)


def find(db: sqlite3.Connection, id_: str) -> Memory | None:
    """Return the memory with exactly this id."""
    row = db.execute("select * from memories where id = ?", (id_,)).fetchone()
    return from_row(row) if row else None


def ids_made_by(db: sqlite3.Connection, session: str, made_by: str) -> set[str]:
    """Return the ids of the memories of a session with a given maker."""
    rows = db.execute("select id from memories where session = ? and made_by = ?", (session, made_by))
    return {row["id"] for row in rows}


def handoff_of(db: sqlite3.Connection, session: str) -> Memory | None:
    """Return the open handoff of a session."""
    row = db.execute("select * from memories where id = ? and status = 'active'", (handoff_id(session),)).fetchone()
    return from_row(row) if row else None


def newest(
    db: sqlite3.Connection,
    *,
    project: str,
    kinds: Sequence[Kind],
    since: datetime | None = None,
    without_session: str | None = None,
    hidden: Hidden = (),
    limit: int,
) -> list[Memory]:
    """Return a project's own active memories of these kinds, newest first, without the work of hidden branches.

    `since` refers to the time of storing: work may be compressed long after it was done."""
    visible, branches = not_hidden(hidden, "created_at")
    rows = db.execute(
        f"""select * from memories where project = :project and status = 'active'
             and kind in (select value from json_each(:kinds)) and (origin = 'user' or pinned or {visible})
             and stored_at > :since and (:session is null or session <> :session)
           order by created_at desc, seq desc limit :limit""",
        {
            **branches,
            "project": project,
            "kinds": json.dumps(kinds),
            "since": time_to_text(since) if since else "",
            "session": without_session,
            "limit": limit,
        },
    )
    return [from_row(row) for row in rows]


def left_open(
    db: sqlite3.Connection,
    project: str,
    *,
    since: datetime | None = None,
    without_session: str | None = None,
    hidden: Hidden = (),
) -> list[Memory]:
    """Return the open handoffs of a project, the latest first, at most `MAX_LEFT_OPEN`."""
    visible, branches = not_hidden(hidden, "created_at")
    rows = db.execute(
        f"""select * from memories where project = :project and scope = :scope and status = 'active'
             and kind = 'handoff' and (origin = 'user' or pinned or {visible})
             and stored_at > :since and (:session is null or session <> :session)
           order by last_seen_at desc, seq desc limit :limit""",
        {
            **branches,
            "project": project,
            "scope": f"project:{project}",
            "since": time_to_text(since) if since else "",
            "session": without_session,
            "limit": MAX_LEFT_OPEN,
        },
    )
    return [from_row(row) for row in rows]


def in_scope(
    db: sqlite3.Connection,
    scope: str,
    kinds: Sequence[Kind],
    *,
    since: datetime | None,
    hidden: Hidden = (),
    limit: int,
) -> list[Memory]:
    """Return active memories of a scope that have these kinds or were stated or pinned by the user.

    The order is: pinned, stated by the user, most certain, newest. Memories of hidden branches are included only if
    the user stated or pinned them. Memories of teammates have a limit of their own: a busy team must not crowd out
    one's own."""
    visible, branches = not_hidden(hidden, "created_at")
    order = "order by pinned desc, origin = 'user' desc, confidence desc, last_seen_at desc, seq"
    chosen = f"""select seq from memories where scope = :scope and status = 'active' and stored_at > :since
                and ((kind in (select value from json_each(:kinds)) and {visible}) or origin = 'user' or pinned)"""
    team_order = "order by pinned desc, confidence desc, last_seen_at desc, seq"
    of_team = chosen.replace("from memories", "from memories indexed by memories_of_team")
    rows = db.execute(
        # Row numbers are chosen first: sorting ten thousand whole rows takes twice as long.
        f"""select * from memories where seq in (select seq from ({chosen} and origin <> 'team' {order} limit :limit))
              or seq in (select seq from ({of_team} and origin = 'team' {team_order} limit :team))
            {order}""",
        {
            **branches,
            "scope": scope,
            "since": time_to_text(since) if since else "",
            "kinds": json.dumps(kinds),
            "limit": limit,
            "team": limit // _SHARE_OF_TEAM,
        },
    )
    return [from_row(row) for row in rows]


def anchored_to_code(db: sqlite3.Connection, sessions: Sequence[str], limit: int) -> list[Memory]:
    """Return the newest memories of these sessions with code anchors, including retired ones."""
    rows = db.execute(
        """select * from memories where session in (select value from json_each(:sessions))
             and status in ('active', 'retired') and anchors like '%"code:%' order by created_at desc limit :limit""",
        {"sessions": json.dumps(list(sessions)), "limit": limit},
    )
    return [from_row(row) for row in rows]


def by_seq(db: sqlite3.Connection, seqs: Sequence[int]) -> dict[int, Memory]:
    """Return memories by row number, as used in the index."""
    rows = db.execute(
        "select * from memories where seq in (select value from json_each(:seqs))", {"seqs": json.dumps(list(seqs))}
    )
    return {row["seq"]: from_row(row) for row in rows}


def by_ids(db: sqlite3.Connection, ids: Sequence[str]) -> list[Memory]:
    """Return the memories with these whole ids, in no order; unknown ids are left out."""
    rows = db.execute(
        "select * from memories where id in (select value from json_each(:ids))", {"ids": json.dumps(list(ids))}
    )
    return [from_row(row) for row in rows]


def ids_of(db: sqlite3.Connection, *, session: str | None = None, project: str | None = None) -> list[str]:
    """Return the ids of all memories of a session, or of a project's scope, in any status."""
    rows = db.execute(
        "select id from memories where session = :session or scope = :scope",
        {"session": session, "scope": f"project:{project}" if project is not None else None},
    )
    return [row["id"] for row in rows]


def remove(db: sqlite3.Connection, ids: Sequence[str], now: datetime) -> list[str]:
    """Remove memories and their index entries, add tombstones, and return the ids of the replaced memories."""
    replaced: list[str] = []
    for id_ in ids:
        # A replaced memory gets the successor of its replacement, or none that can be named.
        rows = db.execute(
            """update memories set superseded_by = (select superseded_by from memories as gone where gone.id = :id)
               where superseded_by = :id returning id""",
            {"id": id_},
        )
        replaced += [row["id"] for row in rows.fetchall()]
        row = db.execute("delete from memories where id = ? returning seq", (id_,)).fetchone()
        if row is not None:
            remove_derived(db, row["seq"])
        memory_links.remove_sightings(db, id_)
        db.execute("delete from retirements where memory = ?", (id_,))
        symbol_changes.forget_renames(db, id_)
        memory_links.drop_conflicts(db, id_)
    tombstones.add_names(db, ids, now)
    return replaced


def remove_derived(db: sqlite3.Connection, seq: int) -> None:
    """Remove the words and the vector of a removed memory."""
    fts.remove(db, seq)
    index_queue.drop(db, vectors.of_memory(seq))


def rewrite(db: sqlite3.Connection, memory: Memory) -> None:
    """Replace the memory with the same id, if stored."""
    if db.execute("select 1 from memories where id = ?", (memory.id,)).fetchone():
        overwrite(db, memory)


def count(db: sqlite3.Connection, since: datetime | None = None) -> int:
    """Return the number of memories, or of memories made since a time."""
    after = time_to_text(since) if since else ""
    (number,) = db.execute("select count(*) from memories where created_at >= ?", (after,)).fetchone()
    return int(number)


def count_in_sessions(db: sqlite3.Connection, sessions: Sequence[str]) -> int:
    """Return the number of memories that these sessions have made."""
    (number,) = db.execute(
        "select count(*) from memories where session in (select value from json_each(:sessions))",
        {"sessions": json.dumps(sessions)},
    ).fetchone()
    return int(number)


def count_ended(db: sqlite3.Connection) -> int:
    """Return how many memories are retired or replaced."""
    (number,) = db.execute("select count(*) from memories where status in ('retired', 'superseded')").fetchone()
    return int(number)


def insert(db: sqlite3.Connection, memory: Memory, now: datetime) -> None:
    """Store a new memory with its words; the id must be new."""
    columns = ", ".join("commit_id" if name == "commit" else name for name in COLUMNS)
    marks = ", ".join(f":{name}" for name in COLUMNS)
    row = db.execute(
        f"insert into memories ({columns}, stored_at) values ({marks}, :stored_at) returning seq",
        {**values_of(memory), "stored_at": time_to_text(now)},
    ).fetchone()
    _index(db, row["seq"], memory)


def overwrite(db: sqlite3.Connection, memory: Memory, stored_at: datetime | None = None) -> None:
    """Overwrite a stored memory and its words."""
    assignments = ", ".join(f"{'commit_id' if name == 'commit' else name} = :{name}" for name in COLUMNS)
    row = db.execute(
        f"""update memories set {assignments}, stored_at = coalesce(:stored_at, stored_at)
            where id = :id returning seq""",
        {**values_of(memory), "stored_at": time_to_text(stored_at) if stored_at else None},
    ).fetchone()
    fts.remove(db, row["seq"])
    _index(db, row["seq"], memory)


def _index(db: sqlite3.Connection, seq: int, memory: Memory) -> None:
    fts.add(db, seq, memory)
    index_queue.note(db, vectors.of_memory(seq))
