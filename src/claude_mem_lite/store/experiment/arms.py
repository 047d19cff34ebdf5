"""The tables `experiment_runs` and `experiment_arms`: when an experiment ran, and the arm of each session in it."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

Arm = Literal["control", "treated"]


@frozen
class StoredArm:
    """Arm of a session, as decided once."""

    session: str
    arm: Arm
    share: float
    decided_at: datetime
    is_closed: bool = False
    """True if the experiment ended before the session did."""
    is_announced: bool = False
    """True if the user was shown that the session is a control session."""


def run_began_at(db: sqlite3.Connection) -> datetime | None:
    """Return when the present run of the experiment began; None while no experiment runs."""
    row = db.execute("select began_at from experiment_runs where ended_at is null").fetchone()
    return text_to_time(row["began_at"]) if row else None


def begin_run(db: sqlite3.Connection, now: datetime) -> None:
    """Record that an experiment runs, unless one runs already."""
    db.execute(
        """insert into experiment_runs (began_at) select :now
           where not exists (select 1 from experiment_runs where ended_at is null)""",
        {"now": time_to_text(now)},
    )


def end_run(db: sqlite3.Connection, now: datetime) -> None:
    """Record that the experiment ended: its sessions keep their outcomes and get no others."""
    ended = {"now": time_to_text(now)}
    if db.execute("update experiment_runs set ended_at = :now where ended_at is null", ended).rowcount:
        db.execute("update experiment_arms set closed_at = :now where closed_at is null", ended)


def put_arm(db: sqlite3.Connection, arm: StoredArm) -> None:
    """Store the arm of a session; an arm that is stored stays as it is."""
    db.execute(
        """insert or ignore into experiment_arms (session, arm, share, decided_at)
           values (:session, :arm, :share, :at)""",
        {"session": arm.session, "arm": arm.arm, "share": arm.share, "at": time_to_text(arm.decided_at)},
    )


def find_arm(db: sqlite3.Connection, session: str) -> StoredArm | None:
    row = db.execute("select * from experiment_arms where session = ?", (session,)).fetchone()
    return _arm(row) if row else None


def mark_announced(db: sqlite3.Connection, session: str, now: datetime) -> None:
    """Record that the user was shown the arm of a session."""
    db.execute(
        "update experiment_arms set announced_at = :now where session = :session and announced_at is null",
        {"now": time_to_text(now), "session": session},
    )


def is_control(db: sqlite3.Connection, session: str) -> bool:
    """Return whether a session was a control session, even if the experiment is over."""
    arm = find_arm(db, session)
    return arm is not None and arm.arm == "control"


def arms_of(db: sqlite3.Connection, sessions: Sequence[str]) -> dict[str, Arm]:
    """Return the arms of those of these sessions that have one."""
    rows = db.execute(
        "select session, arm from experiment_arms where session in (select value from json_each(?))",
        (json.dumps(list(sessions)),),
    )
    return {row["session"]: row["arm"] for row in rows}


def is_control_at_work(db: sqlite3.Connection) -> bool:
    """Return whether a control session may be at work, in any project."""
    row = db.execute(
        """select 1 from experiment_arms left join sessions on id = session
           where arm = 'control' and closed_at is null and coalesce(status, 'active') = 'active' limit 1"""
    ).fetchone()
    return row is not None


def forget(db: sqlite3.Connection, sessions: Sequence[str]) -> None:
    """Remove the arms of sessions."""
    db.execute(
        "delete from experiment_arms where session in (select value from json_each(?))", (json.dumps(list(sessions)),)
    )


def _arm(row: sqlite3.Row) -> StoredArm:
    decided_at = text_to_time(row["decided_at"])
    is_closed, is_announced = row["closed_at"] is not None, row["announced_at"] is not None
    return StoredArm(row["session"], row["arm"], row["share"], decided_at, is_closed, is_announced)
