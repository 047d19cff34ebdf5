"""What replaces what: a newer memory about the same thing takes the place of the older, which stays readable.

The order is that of when things were last said, never that of their arrival: an old session that is imported late
replaces nothing that is newer. Where the order does not decide, the two are noted as a conflict."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.knowledge.claims import exchanged_values
from claude_mem_lite.knowledge.claims.claim import contradict, found_by
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import FOREIGN_ORIGINS, Kind, Memory, is_users_wording
from claude_mem_lite.store import memories, memory_links
from claude_mem_lite.store.index import fts
from claude_mem_lite.timestamps import text_to_time

REPLACEABLE_KINDS: tuple[Kind, ...] = (
    "decision",
    "architecture",
    "preference",
    "rule",
    "convention",
    "correction",
    "anti_pattern",
    "gotcha",
    "note",
)
"""What lays something down that something newer may replace. What work was done stays true, whatever comes later."""
_EXCHANGEABLE_KINDS: tuple[Kind, ...] = ("preference", "rule", "convention", "correction")
_QUOTED = lazy(r'said(?: on \S+)?: "([^"\n]*)"')
_MAX_CANDIDATES = 60
_MAX_SUCCESSORS = 100


def settle(db: sqlite3.Connection, memory: Memory, now: datetime) -> None:
    """Have a memory that was just stored, seen again or edited replace what it replaces, or be replaced by what is
    newer; where neither may be, note that the two contradict each other."""
    opposed = contradicting(db, memory)
    said_at = {one.id: _said_at(db, one, now) for one in (memory, *opposed)}
    older = [one for one in opposed if said_at[memory.id] > said_at[one.id] and _may_replace(memory, one)]
    for other in older:
        replace_by(db, other.id, memory.id)
    later = [one for one in opposed if said_at[one.id] > said_at[memory.id] and _may_replace(one, memory)]
    if later:
        replace_by(db, memory.id, max(later, key=lambda one: (said_at[one.id], one.id)).id)
        return
    for other in opposed:
        if other not in older:
            memory_links.note_conflict(db, memory.id, other.id, now)
    _settle_exchanged(db, memory, [one.id for one in opposed], now)


def _settle_exchanged(db: sqlite3.Connection, memory: Memory, opposed: Sequence[str], now: datetime) -> None:
    """Settle a rule of the user against those that are the same but for one word."""
    if memory.kind not in _EXCHANGEABLE_KINDS or memory.origin != "user":
        return
    others = [memories.from_row(row) for row in _rows_about(db, memory, _EXCHANGEABLE_KINDS) if row["origin"] == "user"]
    for other in others:
        older, newer = sorted((other, memory), key=lambda one: _said_at(db, one, now))
        outcome = exchanged_values.outcome(newer.title, older.title, _said(newer))
        if other.id in opposed or outcome == "neither":
            continue
        is_newer = _said_at(db, newer, now) > _said_at(db, older, now)
        if outcome == "replaces" and is_newer and _may_replace(newer, older) and replace_by(db, older.id, newer.id):
            if older.id == memory.id:
                return
        else:
            memory_links.note_conflict(db, memory.id, other.id, now)


def _said(memory: Memory) -> str:
    """Return a rule as the user said it: its title may leave out "from now on"."""
    return "\n".join((memory.title, memory.summary, *_QUOTED.findall(memory.detail)))


def contradicting(db: sqlite3.Connection, memory: Memory) -> list[Memory]:
    """The active memories of the same scope that cannot hold together with this one."""
    return [memories.from_row(row) for row in _rows_contradicting(db, memory)]


def ids_contradicting(db: sqlite3.Connection, memory: Memory) -> list[str]:
    """Their ids: where a hundred of them are noted, the rest of each would be read in vain."""
    return [row["id"] for row in _rows_contradicting(db, memory)]


def _rows_contradicting(db: sqlite3.Connection, memory: Memory) -> list[sqlite3.Row]:
    if memory.kind not in REPLACEABLE_KINDS or memory.status != "active" or memory.origin in FOREIGN_ORIGINS:
        return []
    rows = _rows_about(db, memory, REPLACEABLE_KINDS)
    told = (memory.kind, memory.title)
    return [
        row for row in rows if row["origin"] not in FOREIGN_ORIGINS and _are_opposed(told, (row["kind"], row["title"]))
    ]


def _rows_about(db: sqlite3.Connection, memory: Memory, kinds: Sequence[Kind]) -> list[sqlite3.Row]:
    """Return the active memories of the same scope that may be about the same."""
    return db.execute(
        """select * from memories where seq in (select value from json_each(:seqs)) and +status = 'active'
             and +scope = :scope and id <> :id
             and kind in (select value from json_each(:kinds)) order by seq""",
        {
            "seqs": json.dumps(_candidates(db, memory)),
            "scope": memory.scope,
            "id": memory.id,
            "kinds": json.dumps(list(kinds)),
        },
    ).fetchall()


def replace_by(db: sqlite3.Connection, id_: str, successor: str | None) -> bool:
    """Mark an active memory as replaced, by None when that is forgotten; False when it is not active, or that would
    close a circle."""
    if successor is not None and id_ in _chain(db, successor):
        return False
    row = db.execute(
        """update memories set status = 'superseded', superseded_by = :successor
           where id = :id and status = 'active' returning *""",
        {"id": id_, "successor": successor},
    ).fetchone()
    if row is None:
        return False
    fts.update_filter_tokens(db, row["seq"], memories.from_row(row))
    memory_links.drop_conflicts(db, id_)
    return True


def leave_replaced(db: sqlite3.Connection, id_: str, successor: str) -> None:
    """Have a memory be replaced by this one, or by what nobody can name any more when there is none by that id."""
    found = memories.find(db, successor)
    if not replace_by(db, id_, found.id if found else None) and found is not None and id_ not in _chain(db, successor):
        db.execute(
            """update memories set superseded_by = :successor
               where id = :id and status = 'superseded' and superseded_by is null""",
            {"id": id_, "successor": successor},
        )


def bring_back(db: sqlite3.Connection, id_: str) -> Memory | None:
    """Make a replaced memory active again; returns what stands at the end of what replaced it, if that is active."""
    chain = _chain(db, id_)
    row = db.execute(
        """update memories set status = 'active', superseded_by = null
           where id = ? and status = 'superseded' returning *""",
        (id_,),
    ).fetchone()
    if row is None:
        return None
    fts.update_filter_tokens(db, row["seq"], memories.from_row(row))
    last = memories.find(db, chain[-1]) if len(chain) > 1 else None
    return last if last is not None and last.status == "active" else None


def replaced_by(db: sqlite3.Connection, ids: Sequence[str]) -> list[Memory]:
    """What any of these memories replaced, the newest first."""
    rows = db.execute(
        """select * from memories where superseded_by in (select value from json_each(:ids))
           order by last_seen_at desc, seq desc""",
        {"ids": json.dumps(list(ids))},
    )
    return [memories.from_row(row) for row in rows]


def _are_opposed(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether what two memories lay down contradicts each other, each by its kind and its title."""
    against = (one[0] == "anti_pattern", other[0] == "anti_pattern")
    return contradict(one[1], other[1], against=against)


def _said_at(db: sqlite3.Connection, memory: Memory, now: datetime) -> datetime:
    """When a memory was last said; what has a date yet to come was said when it was stored, whatever clock dated it."""
    if memory.last_seen_at <= now:
        return memory.last_seen_at
    row = db.execute("select stored_at from memories where id = ?", (memory.id,)).fetchone()
    return min(text_to_time(row["stored_at"]), now) if row else now


def _may_replace(newer: Memory, older: Memory) -> bool:
    """Return whether being newer is enough: never for what is pinned, for the user's word only when it is the user's,
    and for what the user wrote only when the user worded it."""
    if older.pinned or older.origin != "user":
        return not older.pinned
    return newer.origin == "user" and (older.made_by != "user" or is_users_wording(newer.made_by))


def _candidates(db: sqlite3.Connection, memory: Memory) -> list[int]:
    words = found_by(memory.title, is_against=memory.kind == "anti_pattern")
    return [
        *fts.alike(db, memory, _MAX_CANDIDATES),
        *fts.naming(db, words, memory.scope, _MAX_CANDIDATES),
    ]


def _chain(db: sqlite3.Connection, id_: str) -> list[str]:
    """A memory and what replaced it, one after the other."""
    found = [id_]
    while len(found) < _MAX_SUCCESSORS:
        row = db.execute("select superseded_by from memories where id = ?", (found[-1],)).fetchone()
        if row is None or not row["superseded_by"] or row["superseded_by"] in found:
            break
        found.append(row["superseded_by"])
    return found
