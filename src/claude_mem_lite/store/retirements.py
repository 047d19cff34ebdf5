"""The table `retirements`: which memories were retired, when and why.

Written by the worker: by its look at code and branches, for handoffs that were taken up, for what was contradicted too
often, on the user's word, and for what a rebuild no longer makes. Only what code or branches retired is made active
again when these are back; all of it when the user confirms it."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, memory_links
from claude_mem_lite.store.index import fts
from claude_mem_lite.timestamps import text_to_time, time_to_text

Cause = Literal["code", "branch", "taken up", "contradicted", "user", "rebuilt"]
_PAGE = 500


class Retirement(NamedTuple):
    """Why and when a memory was retired."""

    cause: Cause
    reason: str
    at: datetime


class Retired(NamedTuple):
    """A memory by its number and id, and why it was retired."""

    seq: int
    id: str
    cause: Cause
    reason: str


def retire(db: sqlite3.Connection, id_: str, cause: Cause, reason: str, now: datetime, branch: str = "") -> bool:
    """Retire an active memory and note why; False when it is not active."""
    if not memories.retire(db, id_):
        return False
    note(db, id_, cause, reason, now, branch)
    memory_links.drop_conflicts(db, id_)
    return True


def note(db: sqlite3.Connection, id_: str, cause: Cause, reason: str, now: datetime, branch: str = "") -> None:
    """Note why a memory is retired, in the place of what was noted before."""
    db.execute(
        """insert or replace into retirements (memory, cause, branch, reason, at)
           values (:memory, :cause, :branch, :reason, :at)""",
        {"memory": id_, "cause": cause, "branch": branch, "reason": reason, "at": time_to_text(now)},
    )


def revive(db: sqlite3.Connection, id_: str) -> bool:
    """Make a memory active again that was retired here; False when it was not."""
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
    fts.mark_again(db, row["seq"], memories.from_row(row))
    return True


def of(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Retirement]:
    """Why and when each of these memories was retired, of those that are."""
    rows = db.execute(
        """select memory, cause, reason, at from retirements join memories on memories.id = retirements.memory
           where memory in (select value from json_each(:ids)) and memories.status = 'retired'""",
        {"ids": json.dumps(list(ids))},
    )
    return {row["memory"]: Retirement(row["cause"], row["reason"], text_to_time(row["at"])) for row in rows}


def retirable(db: sqlite3.Connection, project: str, branch: str, since: datetime | None) -> list[str]:
    """The ids of active memories that hold in a project and were made on a branch after a moment.

    Without what the user said or pinned."""
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
    """The ids of a project's memories that were retired because this branch was gone."""
    rows = db.execute(
        """select memory from retirements join memories on memories.id = retirements.memory
           where memories.project = :project and memories.status = 'retired'
             and cause = 'branch' and retirements.branch = :branch""",
        {"project": project, "branch": branch},
    )
    return [row["memory"] for row in rows]


def by_code(db: sqlite3.Connection, project: str, at_once: int = _PAGE) -> Iterator[list[int]]:
    """The numbers of all memories of a project that code retired, some at a time, the last retired first.

    Each page is read when it is asked for; what is revived meanwhile moves none of the others."""
    at, memory = "a", ""  # after all times
    while True:
        rows = db.execute(
            """select seq, memory, at from retirements join memories on memories.id = retirements.memory
               where cause = 'code' and memories.project = :project and memories.status = 'retired'
                 and (at, memory) < (:at, :memory)
               order by at desc, memory desc limit :limit""",
            {"project": project, "at": at, "memory": memory, "limit": at_once},
        ).fetchall()
        if rows:
            yield [row["seq"] for row in rows]
        if len(rows) < at_once:
            return
        at, memory = rows[-1]["at"], rows[-1]["memory"]


def newest_by_code(db: sqlite3.Connection, project: str, limit: int) -> list[Memory]:
    """The memories of a project that code retired last."""
    rows = db.execute(
        """select memories.* from retirements join memories on memories.id = retirements.memory
           where cause = 'code' and memories.project = :project and memories.status = 'retired'
           order by retirements.at desc, memory desc limit :limit""",
        {"project": project, "limit": limit},
    )
    return [memories.from_row(row) for row in rows]


def of_project(db: sqlite3.Connection, project: str, limit: int) -> list[Retired]:
    """The memories of a project that code or branches retired, the last retired first."""
    rows = db.execute(
        """select seq, memory, cause, reason from retirements join memories on memories.id = retirements.memory
           where memories.project = :project and memories.status = 'retired' and cause in ('code', 'branch')
           order by retirements.at desc, memory limit :limit""",
        {"project": project, "limit": limit},
    )
    return [Retired(row["seq"], row["memory"], row["cause"], row["reason"]) for row in rows]
