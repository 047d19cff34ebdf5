"""What came before and after: the memories and turns of a project or a session, in order of time. Reads only."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import Memory, Passage, Session
from claude_mem_lite.store import memories, sessions
from claude_mem_lite.store.ids import ambiguous
from claude_mem_lite.store.index import passages
from claude_mem_lite.timestamps import time_to_text

MAX_AT_ONCE = 1_000
_TURN, _MEMORY = 0, 1


@dataclass(frozen=True, slots=True, order=True)
class _Spot:
    """A place in time. A turn begins before the memories of that moment: it is what they were made from."""

    at: str
    table: int
    seq: int


def find(db: sqlite3.Connection, given: str) -> Memory | Passage | Session:
    """What an id or the beginning of one names: a memory, a turn or a session."""
    found: dict[str, Memory | Passage | Session] = {}
    for look in (memories.get, passages.get, sessions.get):
        with suppress(NotFound):
            one = look(db, given)
            found[one.id] = one
    wanted = given if given in found else given.strip().lstrip("#")
    if len(found) > 1 and wanted not in found:
        raise ambiguous(wanted, sorted(found))
    if found:
        return found.get(wanted) or next(iter(found.values()))
    raise NotFound(
        f"nothing has the id {given}",
        "`claude-mem-lite list` and `search` show ids, `sessions` those of sessions, `lessons` those of lessons; four "
        "characters of one are enough",
    )


def session_named(db: sqlite3.Connection, given: str) -> str:
    """The id of a session, by its id or the beginning of it; by that of its summary too, which search showed before."""
    try:
        return sessions.named(db, given)
    except NotFound:
        with suppress(NotFound):
            found = passages.get(db, given)
            if found.kind == "session":
                return found.session
        raise


def around(db: sqlite3.Connection, center: Memory | Passage, before: int, after: int) -> list[Memory | Passage]:
    """What surrounds a memory or a turn in its project, oldest first, with the turn that a memory was made in."""
    spot = _spot(db, center)
    earlier = _neighbours(db, center.project, spot, "<", before)
    later = _neighbours(db, center.project, spot, ">", after)
    own_turn = _turn_of(db, center) if isinstance(center, Memory) else []
    return _read(db, sorted({*earlier, *own_turn, spot, *later}))


def of_session(db: sqlite3.Connection, session: str, skip: int = 0, limit: int = MAX_AT_ONCE) -> list[Memory | Passage]:
    """What was asked and remembered in a session, in order: so many, after those that are skipped."""
    found = db.execute(
        f"""select created_at, {_TURN}, seq from passages where session = :session and kind = 'turn'
            union all
            select created_at, {_MEMORY}, seq from memories where session = :session and status = 'active'
            order by 1, 2, 3 limit :limit offset :skip""",
        {"session": session, "limit": limit, "skip": skip},
    )
    return _read(db, [_Spot(*row) for row in found])


def _spot(db: sqlite3.Connection, one: Memory | Passage) -> _Spot:
    table, name = (_MEMORY, "memories") if isinstance(one, Memory) else (_TURN, "passages")
    (seq,) = db.execute(f"select seq from {name} where id = ?", (one.id,)).fetchone()
    return _Spot(time_to_text(one.created_at), table, seq)


def _neighbours(db: sqlite3.Connection, project: str, spot: _Spot, side: Literal["<", ">"], number: int) -> list[_Spot]:
    """The nearest memories and turns on one side. Each table by itself, along its index."""
    order = "desc" if side == "<" else "asc"
    values = {"project": project, "at": spot.at, "table": spot.table, "seq": spot.seq, "limit": number}
    found = [
        _Spot(*row)
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
    return sorted(found, reverse=side == "<")[:number]


def _turn_of(db: sqlite3.Connection, memory: Memory) -> list[_Spot]:
    """The turn in which a memory was first seen, if its text is kept."""
    found = db.execute(
        f"""select created_at, {_TURN}, seq from passages where kind = 'turn' and session = :session
              and source in (select turn from sightings where memory = :id)
            order by created_at limit 1""",
        {"session": memory.session, "id": memory.id},
    )
    return [_Spot(*row) for row in found]


def _read(db: sqlite3.Connection, spots: Sequence[_Spot]) -> list[Memory | Passage]:
    known = memories.by_seq(db, [one.seq for one in spots if one.table == _MEMORY])
    turns = passages.by_seq(db, [one.seq for one in spots if one.table == _TURN])
    found = ((known if one.table == _MEMORY else turns).get(one.seq) for one in spots)
    return [one for one in found if one is not None]
