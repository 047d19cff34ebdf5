"""Timeline of memories and turns in order of time, and history of a memory: injections and sessions. Reads only."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import Memory, Passage, Session
from claude_mem_lite.responses.encoding import time_text
from claude_mem_lite.responses.feed import MemoryInjection, MemoryProject, MemorySession, MemorySighting
from claude_mem_lite.scopes import project_name
from claude_mem_lite.store import memories, receipts, sessions
from claude_mem_lite.store.ids import ambiguous
from claude_mem_lite.store.index import passages
from claude_mem_lite.store.sessions import TITLE
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

MAX_AT_ONCE = 1_000
_TURN, _MEMORY = 0, 1


@dataclass(frozen=True, slots=True, order=True)
class _Position:
    """Position in time. A turn comes before the memories of the same time, because they were made from the turn."""

    at: str
    table: int
    seq: int


def find(db: sqlite3.Connection, id_or_prefix: str) -> Memory | Passage | Session:
    """Return the memory, turn or session with an id or a prefix."""
    matches: dict[str, Memory | Passage | Session] = {}
    for get in (memories.get, passages.get, sessions.get):
        with suppress(NotFound):
            match = get(db, id_or_prefix)
            matches[match.id] = match
    id_ = id_or_prefix if id_or_prefix in matches else id_or_prefix.strip().lstrip("#")
    if len(matches) > 1 and id_ not in matches:
        raise ambiguous(id_, sorted(matches))
    if matches:
        return matches.get(id_) or next(iter(matches.values()))
    raise NotFound(
        f"nothing has the id {id_or_prefix}",
        "`claude-mem-lite list` and `search` show ids, `sessions` those of sessions, `lessons` those of lessons; four "
        "characters of one are enough",
    )


def session_named(db: sqlite3.Connection, id_or_prefix: str) -> str:
    """Return the id of a session by id or id prefix; the id of its summary, which search once showed, works too."""
    try:
        return sessions.named(db, id_or_prefix)
    except NotFound:
        with suppress(NotFound):
            passage = passages.get(db, id_or_prefix)
            if passage.kind == "session":
                return passage.session
        raise


def around(db: sqlite3.Connection, center: Memory | Passage, before: int, after: int) -> list[Memory | Passage]:
    """Return the neighbours of a memory or a turn in its project, oldest first, with the turn of a memory."""
    position = _position(db, center)
    earlier = _neighbours(db, center.project, position, "<", before)
    later = _neighbours(db, center.project, position, ">", after)
    own_turn = _turn_of(db, center) if isinstance(center, Memory) else []
    return _read(db, sorted({*earlier, *own_turn, position, *later}))


def of_session(db: sqlite3.Connection, session: str, skip: int = 0, limit: int = MAX_AT_ONCE) -> list[Memory | Passage]:
    """Return the turns and memories of a session in order, after `skip` entries."""
    rows = db.execute(
        f"""select created_at, {_TURN}, seq from passages where session = :session and kind = 'turn'
            union all
            select created_at, {_MEMORY}, seq from memories where session = :session and status = 'active'
            order by 1, 2, 3 limit :limit offset :skip""",
        {"session": session, "limit": limit, "skip": skip},
    )
    return _read(db, [_Position(*row) for row in rows])


def _position(db: sqlite3.Connection, entry: Memory | Passage) -> _Position:
    table, name = (_MEMORY, "memories") if isinstance(entry, Memory) else (_TURN, "passages")
    (seq,) = db.execute(f"select seq from {name} where id = ?", (entry.id,)).fetchone()
    return _Position(time_to_text(entry.created_at), table, seq)


def _neighbours(
    db: sqlite3.Connection, project: str, position: _Position, side: Literal["<", ">"], number: int
) -> list[_Position]:
    """Return the nearest memories and turns on one side. Each table is read along its index."""
    order = "desc" if side == "<" else "asc"
    values = {"project": project, "at": position.at, "table": position.table, "seq": position.seq, "limit": number}
    positions = [
        _Position(*row)
        for name, table, condition in (
            ("memories", _MEMORY, "status = 'active'"),
            ("passages", _TURN, "kind = 'turn'"),
        )
        for row in db.execute(
            f"""select created_at, {table}, seq from {name} where project = :project and {condition}
                  and created_at {side}= :at and (created_at, {table}, seq) {side} (:at, :table, :seq)
                order by created_at {order}, seq {order} limit :limit""",
            values,
        )
    ]
    return sorted(positions, reverse=side == "<")[:number]


def _turn_of(db: sqlite3.Connection, memory: Memory) -> list[_Position]:
    """Return the turn in which a memory was first seen, if the text of the turn is kept."""
    rows = db.execute(
        f"""select created_at, {_TURN}, seq from passages where kind = 'turn' and session = :session
              and source in (select turn from sightings where memory = :id)
            order by created_at limit 1""",
        {"session": memory.session, "id": memory.id},
    )
    return [_Position(*row) for row in rows]


def _read(db: sqlite3.Connection, positions: Sequence[_Position]) -> list[Memory | Passage]:
    known = memories.by_seq(db, [position.seq for position in positions if position.table == _MEMORY])
    turns = passages.by_seq(db, [position.seq for position in positions if position.table == _TURN])
    entries = ((known if position.table == _MEMORY else turns).get(position.seq) for position in positions)
    return [entry for entry in entries if entry is not None]


@frozen
class InjectionCounts:
    """Number of injections of the memory, and of their known outcomes."""

    total: int
    used: int
    ignored: int
    unknown: int


_DELIVERED = "receipt_items join receipts on spool_name = receipt where source = :id and given_at is not null"


def injections(db: sqlite3.Connection, memory: str, limit: int) -> list[MemoryInjection]:
    """Return the last injections of a memory, newest first."""
    rows = db.execute(
        f"""select spool_name, session, moment, given_at, reason, score, outcome from {_DELIVERED}
            order by created_at desc, spool_name desc limit :limit""",
        {"id": memory, "limit": limit},
    )
    return [
        MemoryInjection(
            receipts.id_of_name(row["spool_name"]),
            row["session"],
            row["moment"],
            time_text(text_to_time(row["given_at"])),
            row["reason"],
            row["score"],
            row["outcome"],
        )
        for row in rows
    ]


def injection_counts(db: sqlite3.Connection, memory: str) -> InjectionCounts:
    row = db.execute(
        f"""select count(*) as total, count(*) filter (where outcome = 'used') as used,
              count(*) filter (where outcome = 'ignored') as ignored,
              count(*) filter (where outcome = 'unknown') as unknown from {_DELIVERED}""",
        {"id": memory},
    ).fetchone()
    return InjectionCounts(**dict(row))


def own_project(db: sqlite3.Connection, project: str) -> MemoryProject:
    """Return the project with an id; an unknown project is described by its id alone."""
    row = db.execute("select id, name, root from projects where id = ?", (project,)).fetchone()
    return MemoryProject(**dict(row)) if row else MemoryProject(project, project_name(project), "")


def own_session(db: sqlite3.Connection, session: str) -> MemorySession | None:
    """Return the session with an id; None if unknown, as for memories made by a command of the user."""
    row = db.execute(f"select id, {TITLE} as headline from sessions where id = :id", {"id": session}).fetchone()
    return MemorySession(**dict(row)) if row else None


def seen_in(db: sqlite3.Connection, memory: str, limit: int) -> list[MemorySighting]:
    """Return the sessions that saw a memory, the last first; commands of the user have no session."""
    rows = db.execute(
        f"""select prompts.session as id, max(prompts.created_at) as at,
             coalesce((select {TITLE} from sessions
                       where sessions.id = prompts.session), '') as headline
           from sightings join prompts on prompts.turn = sightings.turn
           where sightings.memory = :id group by prompts.session order by at desc limit :limit""",
        {"id": memory, "limit": limit},
    )
    return [MemorySighting(row["id"], row["headline"], time_text(text_to_time(row["at"]))) for row in rows]
