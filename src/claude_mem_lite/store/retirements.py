"""The table `retirements`, with time and cause, and memories replaced by newer ones (`superseded_by`).

The worker retires memories: by its scan of code and branches, for finished handoffs, after too many contradictions,
on the user's request, and after a rebuild. Memories retired by code or branches become active again when the code or
branch is back; any retired memory does when the user confirms it."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from claude_mem_lite.models import Memory
from claude_mem_lite.providers import Usage
from claude_mem_lite.store import memories, memory_links
from claude_mem_lite.store.index import fts
from claude_mem_lite.timestamps import text_to_time, time_to_text

Cause = Literal["code", "branch", "taken up", "contradicted", "user", "rebuilt"]
_PAGE = 500
_MAX_SUCCESSORS = 100


class Retirement(NamedTuple):
    """Cause and time of the retirement of a memory."""

    cause: Cause
    reason: str
    at: datetime


class Retired(NamedTuple):
    """Retired memory by number and id, with the cause."""

    seq: int
    id: str
    cause: Cause
    reason: str


def retire(db: sqlite3.Connection, id_: str, cause: Cause, reason: str, now: datetime, branch: str = "") -> bool:
    """Retire an active memory and record the cause; return False if the memory is not active."""
    if not memories.retire(db, id_):
        return False
    note(db, id_, cause, reason, now, branch)
    memory_links.drop_conflicts(db, id_)
    return True


def note(db: sqlite3.Connection, id_: str, cause: Cause, reason: str, now: datetime, branch: str = "") -> None:
    """Record the cause of a retirement, replacing an earlier record."""
    db.execute(
        """insert or replace into retirements (memory, cause, branch, reason, at)
           values (:memory, :cause, :branch, :reason, :at)""",
        {"memory": id_, "cause": cause, "branch": branch, "reason": reason, "at": time_to_text(now)},
    )


def revive(db: sqlite3.Connection, id_: str) -> bool:
    """Make a retired memory active again; return False if the retirement is not recorded in the table."""
    noted = db.execute("delete from retirements where memory = ?", (id_,)).rowcount
    row = (
        db.execute(
            "update memories set status = 'active' where id = ? and status = 'retired' returning *", (id_,)
        ).fetchone()
        if noted
        else None
    )
    if row is None:
        return False
    fts.update_filter_tokens(db, row["seq"], memories.from_row(row))
    return True


def of(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Retirement]:
    """Return cause and time of the retirement of each of these memories that is retired."""
    rows = db.execute(
        """select memory, cause, reason, at from retirements join memories on memories.id = retirements.memory
           where memory in (select value from json_each(:ids)) and memories.status = 'retired'""",
        {"ids": json.dumps(list(ids))},
    )
    return {row["memory"]: Retirement(row["cause"], row["reason"], text_to_time(row["at"])) for row in rows}


def retirable(db: sqlite3.Connection, project: str, branch: str, since: datetime | None) -> list[str]:
    """Return the ids of active memories of a project's scope that were made on a branch after a time.

    Memories that the user stated or pinned are excluded."""
    rows = db.execute(
        """select id from memories where project = :project and status = 'active' and created_at > :since
             and branch = :branch and scope = :scope and origin <> 'user' and not pinned""",
        {
            "project": project,
            "since": time_to_text(since) if since else "",
            "branch": branch,
            "scope": f"project:{project}",
        },
    )
    return [row["id"] for row in rows]


def of_branch(db: sqlite3.Connection, project: str, branch: str) -> list[str]:
    """Return the ids of a project's memories that were retired because this branch was gone."""
    rows = db.execute(
        """select memory from retirements join memories on memories.id = retirements.memory
           where memories.project = :project and memories.status = 'retired'
             and cause = 'branch' and retirements.branch = :branch""",
        {"project": project, "branch": branch},
    )
    return [row["memory"] for row in rows]


def by_code(db: sqlite3.Connection, project: str, page_size: int = _PAGE) -> Iterator[list[int]]:
    """Yield the numbers of all memories of a project that code retired, a page at a time, the last retired first.

    Each page is read on demand; revived memories do not move the others."""
    at, memory = "a", ""  # after all times
    while True:
        rows = db.execute(
            """select seq, memory, at from retirements join memories on memories.id = retirements.memory
               where cause = 'code' and memories.project = :project and memories.status = 'retired'
                 and (at, memory) < (:at, :memory)
               order by at desc, memory desc limit :limit""",
            {"project": project, "at": at, "memory": memory, "limit": page_size},
        ).fetchall()
        if rows:
            yield [row["seq"] for row in rows]
        if len(rows) < page_size:
            return
        at, memory = rows[-1]["at"], rows[-1]["memory"]


def newest_by_code(db: sqlite3.Connection, project: str, limit: int) -> list[Memory]:
    """Return the memories of a project that code retired last."""
    rows = db.execute(
        """select memories.* from retirements join memories on memories.id = retirements.memory
           where cause = 'code' and memories.project = :project and memories.status = 'retired'
           order by retirements.at desc, memory desc limit :limit""",
        {"project": project, "limit": limit},
    )
    return [memories.from_row(row) for row in rows]


def of_project(db: sqlite3.Connection, project: str, limit: int) -> list[Retired]:
    """Return the memories of a project that code or branches retired, the last retired first."""
    rows = db.execute(
        """select seq, memory, cause, reason from retirements join memories on memories.id = retirements.memory
           where memories.project = :project and memories.status = 'retired' and cause in ('code', 'branch')
           order by retirements.at desc, memory limit :limit""",
        {"project": project, "limit": limit},
    )
    return [Retired(row["seq"], row["memory"], row["cause"], row["reason"]) for row in rows]


def replace_by(db: sqlite3.Connection, id_: str, successor: str | None) -> bool:
    """Mark an active memory as replaced; the successor is None if it was forgotten. Return False if the memory is not
    active, or the replacement would close a circle."""
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
    """Mark a memory as replaced by a successor, or by an unknown one if no memory has the successor's id."""
    found = memories.find(db, successor)
    if not replace_by(db, id_, found.id if found else None) and found is not None and id_ not in _chain(db, successor):
        db.execute(
            """update memories set superseded_by = :successor
               where id = :id and status = 'superseded' and superseded_by is null""",
            {"id": id_, "successor": successor},
        )


def bring_back(db: sqlite3.Connection, id_: str) -> Memory | None:
    """Make a replaced memory active again. Return the last memory of the chain of successors if active."""
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
    """Return the memories that any of these memories replaced, newest first."""
    rows = db.execute(
        """select * from memories where superseded_by in (select value from json_each(:ids))
           order by last_seen_at desc, seq desc""",
        {"ids": json.dumps(list(ids))},
    )
    return [memories.from_row(row) for row in rows]


def stored_at(db: sqlite3.Connection, id_: str) -> datetime | None:
    """Return the time at which a memory was stored; None without the memory."""
    row = db.execute("select stored_at from memories where id = ?", (id_,)).fetchone()
    return text_to_time(row["stored_at"]) if row else None


def discard(db: sqlite3.Connection, id_: str) -> datetime:
    """Remove a memory without a tombstone, so that a new version can be stored; return the time of storing."""
    row = db.execute("delete from memories where id = ? returning seq, stored_at", (id_,)).fetchone()
    memories.remove_derived(db, row["seq"])
    memory_links.remove_sightings(db, id_)
    memory_links.drop_conflicts(db, id_)
    return text_to_time(row["stored_at"])


def add_usage(db: sqlite3.Connection, id_: str, usage: Usage) -> bool:
    """Add tokens and cost of a model call to a memory; return False without the memory."""
    changed = db.execute(
        """update memories set tokens_in = tokens_in + :tokens_in, tokens_out = tokens_out + :tokens_out,
               cost_usd = cost_usd + :cost_usd where id = :id""",
        {"id": id_, "tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, "cost_usd": usage.cost_usd},
    )
    return changed.rowcount == 1


def _chain(db: sqlite3.Connection, id_: str) -> list[str]:
    """Return the ids of a memory and of the successors, in order."""
    chain = [id_]
    while len(chain) < _MAX_SUCCESSORS:
        row = db.execute("select superseded_by from memories where id = ?", (chain[-1],)).fetchone()
        if row is None or not row["superseded_by"] or row["superseded_by"] in chain:
            break
        chain.append(row["superseded_by"])
    return chain
