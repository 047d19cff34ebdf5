"""The table `branches`: where the branches that memories were made on stood when they were last looked at.

Which rows are of work that is in this checkout: work on branches that are not merged here is not."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.timestamps import text_to_time, time_to_text


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a project. Its memories hold everywhere once merged, and those made later nowhere once it is gone."""

    name: str
    tip: str
    """The commit it was last seen at."""
    ahead: bool
    """Whether it was seen, since it was last merged, with commits that the default branch does not have."""
    seen_at: datetime
    """When it was first seen as it stands here."""
    merged_at: datetime | None = None
    """When it was last seen merged: what was made on it up to then holds everywhere."""
    gone_at: datetime | None = None
    """When it was found to be gone without having been merged."""


def of_project(db: sqlite3.Connection, project: str) -> list[Branch]:
    """The branches of a project that are known, by name."""
    rows = db.execute("select * from branches where project = ? order by name", (project,))
    return [
        Branch(
            name=row["name"],
            tip=row["tip"],
            ahead=bool(row["ahead"]),
            seen_at=text_to_time(row["seen_at"]),
            merged_at=text_to_time(row["merged_at"]) if row["merged_at"] else None,
            gone_at=text_to_time(row["gone_at"]) if row["gone_at"] else None,
        )
        for row in rows
    ]


def put(db: sqlite3.Connection, project: str, branches: Iterable[Branch]) -> None:
    """Store branches as they stand now, in the place of what was known of them."""
    db.executemany(
        """insert or replace into branches (project, name, tip, ahead, seen_at, merged_at, gone_at)
           values (:project, :name, :tip, :ahead, :seen_at, :merged_at, :gone_at)""",
        [
            {
                "project": project,
                "name": branch.name,
                "tip": branch.tip,
                "ahead": branch.ahead,
                "seen_at": time_to_text(branch.seen_at),
                "merged_at": time_to_text(branch.merged_at) if branch.merged_at else None,
                "gone_at": time_to_text(branch.gone_at) if branch.gone_at else None,
            }
            for branch in branches
        ],
    )


def drop_unused(db: sqlite3.Connection) -> None:
    """Remove branches that nothing tells of any more; their names may tell what was worked on."""
    db.execute(
        """delete from branches where
             not exists (select 1 from memories where project = branches.project and branch = branches.name)
             and not exists (select 1 from sessions where project = branches.project and branch = branches.name)"""
    )


Hidden = Sequence[tuple[str, datetime | None]]
"""Branches whose work is not here, each with the moment up to which it is nevertheless: it was merged then."""


def is_hidden(branch: str, at: datetime, hidden: Hidden) -> bool:
    """Whether work of this branch and moment is not here."""
    return any(branch == name and (since is None or at > since) for name, since in hidden)


def not_hidden(hidden: Hidden, moment: str) -> tuple[str, dict[str, str]]:
    """A condition on the columns `branch` and `moment`, with its values."""
    if not hidden:
        return "true", {}
    # Names are looked up in an index that SQLite makes of them once; the moments, for rows of these branches alone.
    # The alternative, a condition for each branch, is limited by SQLite to 1,000.
    merged = {branch: time_to_text(since) for branch, since in hidden if since}
    condition = f"""(branch not in (select value from json_each(:hidden_branches))
        or (branch in (select key from json_each(:merged_branches)) and {moment} <=
            (with merged_branches(name, until) as materialized (select key, value from json_each(:merged_branches))
             select until from merged_branches where name = branch)))"""
    return condition, {
        "hidden_branches": json.dumps([branch for branch, _ in hidden]),
        "merged_branches": json.dumps(merged),
    }
