"""The table `memories` and what is derived from it. Memories are canonical; the words in the index follow.

Rows of the table `memories` <-> values. Called by the modules that read and write that table."""

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
from claude_mem_lite.store.ids import one_by_prefix, short_id
from claude_mem_lite.store.index import fts, index_queue, vectors
from claude_mem_lite.timestamps import text_to_time, time_to_text

COLUMNS = tuple(field.name for field in fields(Memory))
_decode = json.JSONDecoder().raw_decode
_LISTS = ("facts", "files", "anchors", "tags")


def from_row(row: sqlite3.Row) -> Memory:
    """The memory that stands in a row."""
    stored = dict(zip(row.keys(), row, strict=True))  # a row looks a name up by going through all of them
    stored["commit"] = stored["commit_id"]
    values = {name: stored[name] for name in COLUMNS}
    for name in _LISTS:
        values[name] = tuple(_list(values[name]))
    values["symbols"] = tuple(SymbolChange(**symbol) for symbol in _list(values["symbols"]))
    values["created_at"] = text_to_time(values["created_at"])
    values["last_seen_at"] = text_to_time(values["last_seen_at"])
    values["pinned"] = bool(values["pinned"])
    return Memory(**values)


def values_of(memory: Memory) -> dict[str, object]:
    """What a memory is stored as, by the names of its fields."""
    values = {name: getattr(memory, name) for name in COLUMNS}
    for name in _LISTS:
        values[name] = json.dumps(values[name])
    values["symbols"] = json.dumps([asdict(symbol) for symbol in memory.symbols])
    values["created_at"] = time_to_text(memory.created_at)
    values["last_seen_at"] = time_to_text(memory.last_seen_at)
    return values


def _list(text: str) -> list[Any]:
    # Most are empty, and a context reads hundreds of rows: `json.loads` looks for spaces around it as well, which
    # `values_of` never writes.
    return [] if text == "[]" else _decode(text)[0]


MAX_LEFT_OPEN = 100
"""How many handoffs of a project are told and can be taken up. Far more than a context has room for; each is compared
with all that a session says it did."""


def handoff_id(session: str) -> str:
    """The id of the one memory that tells what a session left open."""
    return short_id("handoff", session)


def put(db: sqlite3.Connection, memory: Memory, turn: str, now: datetime) -> None:
    """Store a memory under its id, in the place of what it was before: one that is told anew as work goes on.

    What the user wrote stays as it is."""
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
    """A memory no longer holds: it stays readable and is given to nobody. False when it is not active."""
    # Retired for good from now on, whatever becomes of its code.
    db.execute("delete from retirements where memory = ?", (id_,))
    row = db.execute(
        "update memories set status = 'retired' where id = ? and status = 'active' returning *", (id_,)
    ).fetchone()
    if row is not None:
        fts.mark_again(db, row["seq"], from_row(row))
    return row is not None


def get(db: sqlite3.Connection, id_or_prefix: str) -> Memory:
    """One memory by its id or the beginning of it."""
    nobody = NotFound(f"there is no memory {id_or_prefix}", "`claude-mem-lite list` shows the ids")
    return from_row(one_by_prefix(db, "select * from memories", "memories", id_or_prefix, nobody))


def find(db: sqlite3.Connection, id_: str) -> Memory | None:
    """The memory with exactly this id."""
    row = db.execute("select * from memories where id = ?", (id_,)).fetchone()
    return from_row(row) if row else None


def ids_made(db: sqlite3.Connection, session: str, made_by: str) -> set[str]:
    """The ids of what somebody made in a session."""
    rows = db.execute("select id from memories where session = ? and made_by = ?", (session, made_by))
    return {row["id"] for row in rows}


def handoff_of(db: sqlite3.Connection, session: str) -> Memory | None:
    """What a session left open, while it is."""
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
    """A project's own active memories of these kinds, newest first, without the work of hidden branches.

    `since` is about when they were stored: work may be compressed long after it was done."""
    here, branches = not_hidden(hidden, "created_at")
    rows = db.execute(
        f"""select * from memories where project = :project and status = 'active'
             and kind in (select value from json_each(:kinds)) and (origin = 'user' or pinned or {here})
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
    """The handoffs that hold in a project and nobody has taken up, those left last first, at most `MAX_LEFT_OPEN`."""
    here, branches = not_hidden(hidden, "created_at")
    rows = db.execute(
        f"""select * from memories where project = :project and scope = :scope and status = 'active'
             and kind = 'handoff' and (origin = 'user' or pinned or {here})
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
    """Active memories of these kinds, or stated or pinned by the user, that hold in a scope.

    Pinned first, then what the user stated, the surest, the newest; what was made on hidden branches only when the
    user stated it."""
    here, branches = not_hidden(hidden, "created_at")
    order = "order by pinned desc, origin = 'user' desc, confidence desc, last_seen_at desc, seq"
    rows = db.execute(
        # Chosen by their numbers first: to sort ten thousand whole rows takes twice as long.
        f"""select * from memories where seq in (
              select seq from memories where scope = :scope and status = 'active' and stored_at > :since
                and ((kind in (select value from json_each(:kinds)) and {here}) or origin = 'user' or pinned)
              {order} limit :limit)
            {order}""",
        {
            **branches,
            "scope": scope,
            "since": time_to_text(since) if since else "",
            "kinds": json.dumps(kinds),
            "limit": limit,
        },
    )
    return [from_row(row) for row in rows]


def tied_to_code(db: sqlite3.Connection, sessions: Sequence[str], limit: int) -> list[Memory]:
    """The newest memories of these sessions that are tied to code, those included that were retired."""
    rows = db.execute(
        """select * from memories where session in (select value from json_each(:sessions))
             and status in ('active', 'retired') and anchors like '%"code:%' order by created_at desc limit :limit""",
        {"sessions": json.dumps(list(sessions)), "limit": limit},
    )
    return [from_row(row) for row in rows]


def by_seq(db: sqlite3.Connection, seqs: Sequence[int]) -> dict[int, Memory]:
    """Memories by their row number, as the index names them."""
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
    """The ids of everything remembered of a session, or that holds in a project only, whatever its status."""
    rows = db.execute(
        "select id from memories where session = :session or scope = :scope",
        {"session": session, "scope": f"project:{project}" if project is not None else None},
    )
    return [row["id"] for row in rows]


def remove(db: sqlite3.Connection, ids: Sequence[str], now: datetime) -> list[str]:
    """Remove memories and their words, and leave tombstones so that nothing brings them back; returns the ids of what
    they had replaced."""
    left: list[str] = []
    for id_ in ids:
        # What it had replaced is replaced by its own successor, or by something that nobody can name any more.
        rows = db.execute(
            """update memories set superseded_by = (select superseded_by from memories as gone where gone.id = :id)
               where superseded_by = :id returning id""",
            {"id": id_},
        )
        left += [row["id"] for row in rows.fetchall()]
        row = db.execute("delete from memories where id = ? returning seq", (id_,)).fetchone()
        if row is not None:
            remove_derived(db, row["seq"])
        memory_links.remove_sightings(db, id_)
        db.execute("delete from retirements where memory = ?", (id_,))
        symbol_changes.forget_renames(db, id_)
        memory_links.drop_conflicts(db, id_)
    tombstones.bury(db, ids, now)
    return left


def remove_derived(db: sqlite3.Connection, seq: int) -> None:
    """Remove what was made of a memory that is gone: its words and its vector."""
    fts.remove(db, seq)
    index_queue.drop(db, vectors.of_memory(seq))


def rewrite(db: sqlite3.Connection, memory: Memory) -> None:
    """Put a changed memory in the place of the one with its id."""
    if db.execute("select 1 from memories where id = ?", (memory.id,)).fetchone():
        overwrite(db, memory)


def count(db: sqlite3.Connection, since: datetime | None = None) -> int:
    """How many memories there are, or were made since then."""
    after = time_to_text(since) if since else ""
    (number,) = db.execute("select count(*) from memories where created_at >= ?", (after,)).fetchone()
    return int(number)


def count_in_sessions(db: sqlite3.Connection, sessions: Sequence[str]) -> int:
    """How many memories these sessions have made so far."""
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
    """Store a memory as it is, with its words; its id must be new."""
    columns = ", ".join("commit_id" if name == "commit" else name for name in COLUMNS)
    marks = ", ".join(f":{name}" for name in COLUMNS)
    row = db.execute(
        f"insert into memories ({columns}, stored_at) values ({marks}, :stored_at) returning seq",
        {**values_of(memory), "stored_at": time_to_text(now)},
    ).fetchone()
    _index(db, row["seq"], memory)


def overwrite(db: sqlite3.Connection, memory: Memory, stored_at: datetime | None = None) -> None:
    """Change a memory where it stands; its words follow."""
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
