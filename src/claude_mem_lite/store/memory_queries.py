"""Memories that are tied to code, a page at a time, for whoever checks them against it. Reads only."""

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories
from claude_mem_lite.timestamps import text_to_time

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
