"""The table `branches`: last known state of the branches on which memories were made.

The module also builds the condition for visible work: work on branches that are not merged into the checkout is
hidden."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen


@frozen
class Branch:
    """A branch of a project. After a merge its memories hold everywhere. Later memories hold nowhere once the branch
    is gone."""

    name: str
    tip: str
    """Commit at which the branch was last seen."""
    ahead: bool
    """True if, since its last merge, the branch was seen with commits that the default branch does not have."""
    seen_at: datetime
    """Time when the branch was first seen in its present state."""
    merged_at: datetime | None = None
    """Time when the branch was last seen merged: earlier memories of the branch hold everywhere."""
    gone_at: datetime | None = None
    """Time when the branch was found to be gone without a merge."""


def of_project(db: sqlite3.Connection, project: str) -> list[Branch]:
    """Return the known branches of a project by name."""
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
    """Store branches, replacing earlier states of the same branches."""
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
    """Remove branches without memories and sessions, because a branch name may reveal the subject of the work."""
    db.execute(
        """delete from branches where
             not exists (select 1 from memories where project = branches.project and branch = branches.name)
             and not exists (select 1 from sessions where project = branches.project and branch = branches.name)"""
    )


Hidden = Sequence[tuple[str, datetime | None]]
"""Branches whose work is hidden, each with the time of its merge: work up to that time is visible."""


def is_hidden(branch: str, at: datetime, hidden: Hidden) -> bool:
    """Return True if work of this branch and time is hidden."""
    return any(branch == name and (since is None or at > since) for name, since in hidden)


def not_hidden(hidden: Hidden, column: str) -> tuple[str, dict[str, str]]:
    """Return an SQL condition on the column `branch` and a time column, with its values."""
    if not hidden:
        return "true", {}
    # SQLite looks names up in an automatic index, and compares times only for rows of these branches. The alternative,
    # a condition for each branch, is limited by SQLite to 1,000.
    merged = {branch: time_to_text(since) for branch, since in hidden if since}
    condition = f"""(branch not in (select value from json_each(:hidden_branches))
        or (branch in (select key from json_each(:merged_branches)) and {column} <=
            (with merged_branches(name, until) as materialized (select key, value from json_each(:merged_branches))
             select until from merged_branches where name = branch)))"""
    return condition, {
        "hidden_branches": json.dumps([branch for branch, _ in hidden]),
        "merged_branches": json.dumps(merged),
    }
