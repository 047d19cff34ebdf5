"""The table `experiment_outcomes`: how the sessions of an experiment went."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import datetime

from claude_mem_lite.store.experiment.arms import Arm
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen


@frozen
class SessionOutcome:
    """Outcome of an ended session; None is unknown."""

    session: str
    ended_at: datetime
    calls_before_edit: int | None
    files_before_edit: int | None
    repeated_failures: int | None
    corrections: int | None
    turns: int
    tokens: int | None
    seconds: float | None


@frozen
class ArmOutcome:
    """Outcome of a session with its arm, and the share that chose the arm."""

    arm: Arm
    share: float
    outcome: SessionOutcome


_COLUMNS = tuple(field.name for field in fields(SessionOutcome))


def put(db: sqlite3.Connection, outcome: SessionOutcome) -> None:
    """Store the outcome of a session after all others. A stored outcome keeps its place and its values."""
    values = {**asdict(outcome), "ended_at": time_to_text(outcome.ended_at)}
    names = ", ".join(f":{name}" for name in _COLUMNS)
    db.execute(
        f"""insert or ignore into experiment_outcomes ({", ".join(_COLUMNS)}, place)
            select {names}, coalesce(max(place), 0) + 1 from experiment_outcomes""",
        values,
    )


def without(db: sqlite3.Connection, quiet_since: datetime) -> list[str]:
    """Return the sessions with an arm and a prompt, but no outcome, that have been quiet since a time; oldest first."""
    rows = db.execute(
        """select id from sessions join experiment_arms on session = id
           where closed_at is null and last_event_at < :quiet_since
             and exists (select 1 from prompts where prompts.session = id and text <> '')
             and id not in (select session from experiment_outcomes)
           order by last_event_at, id""",
        {"quiet_since": time_to_text(quiet_since)},
    )
    return [row["id"] for row in rows]


def of_project(db: sqlite3.Connection, project: str | None) -> list[ArmOutcome]:
    """Return the outcomes of all sessions with an arm, in the order in which they were counted; of one project, or of
    all."""
    rows = db.execute(
        """select arm, share, outcome.* from experiment_outcomes as outcome join experiment_arms using (session)
             join sessions on sessions.id = session
           where :project is null or project = :project order by outcome.place""",
        {"project": project},
    )
    return [ArmOutcome(row["arm"], row["share"], _outcome(row)) for row in rows]


def forget(db: sqlite3.Connection, sessions: Sequence[str]) -> None:
    """Remove the outcomes of sessions."""
    db.execute(
        "delete from experiment_outcomes where session in (select value from json_each(?))",
        (json.dumps(list(sessions)),),
    )


def _outcome(row: sqlite3.Row) -> SessionOutcome:
    plain = {name: row[name] for name in _COLUMNS if name != "ended_at"}
    return SessionOutcome(**plain, ended_at=text_to_time(row["ended_at"]))
