"""What became of one memory: to whom it was given and what came of that, and what it is of: its project and sessions.

Reads only."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.models import Outcome
from claude_mem_lite.scopes import project_name
from claude_mem_lite.store import receipts
from claude_mem_lite.store.sessions import TITLE
from claude_mem_lite.timestamps import text_to_time


@dataclass(frozen=True, slots=True)
class Gift:
    """One time that it was given."""

    receipt: str
    """The id of the receipt, as it is shown elsewhere."""
    session: str
    moment: str
    given_at: datetime
    reason: str
    score: float | None
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class GivenCounts:
    """How often it was given, and how often that is known to have been of use or of none."""

    total: int
    used: int
    ignored: int
    unknown: int


@dataclass(frozen=True, slots=True)
class OwnProject:
    """The project it is of."""

    id: str
    name: str
    root: str
    """Where it was last worked on; '' when nobody knows."""


@dataclass(frozen=True, slots=True)
class OwnSession:
    """The session it was made in."""

    id: str
    headline: str


@dataclass(frozen=True, slots=True)
class SeenIn:
    """A session that saw it, and when it last did."""

    id: str
    headline: str
    at: datetime


_REACHED = "receipt_items join receipts on spool_name = receipt where source = :id and given_at is not null"


def gifts(db: sqlite3.Connection, memory: str, limit: int) -> list[Gift]:
    """The last times that it was given, newest first."""
    rows = db.execute(
        f"""select spool_name, session, moment, given_at, reason, score, outcome from {_REACHED}
            order by created_at desc, spool_name desc limit :limit""",
        {"id": memory, "limit": limit},
    )
    return [
        Gift(
            receipts.id_of_name(row["spool_name"]),
            row["session"],
            row["moment"],
            text_to_time(row["given_at"]),
            row["reason"],
            row["score"],
            row["outcome"],
        )
        for row in rows
    ]


def given_counts(db: sqlite3.Connection, memory: str) -> GivenCounts:
    row = db.execute(
        f"""select count(*) as total, count(*) filter (where outcome = 'used') as used,
              count(*) filter (where outcome = 'ignored') as ignored,
              count(*) filter (where outcome = 'unknown') as unknown from {_REACHED}""",
        {"id": memory},
    ).fetchone()
    return GivenCounts(**dict(row))


def own_project(db: sqlite3.Connection, project: str) -> OwnProject:
    """The project by its id; of one that is not known, what the id tells."""
    row = db.execute("select id, name, root from projects where id = ?", (project,)).fetchone()
    return OwnProject(**dict(row)) if row else OwnProject(project, project_name(project), "")


def own_session(db: sqlite3.Connection, session: str) -> OwnSession | None:
    """The session by its id; None when it is not known, as with what the user did by command."""
    row = db.execute(f"select id, {TITLE} as headline from sessions where id = :id", {"id": session}).fetchone()
    return OwnSession(**dict(row)) if row else None


def seen_in(db: sqlite3.Connection, memory: str, limit: int) -> list[SeenIn]:
    """The sessions that saw it, the last first; what the user did by command is in none."""
    rows = db.execute(
        f"""select prompts.session as id, max(prompts.created_at) as at,
             coalesce((select {TITLE} from sessions
                       where sessions.id = prompts.session), '') as headline
           from sightings join prompts on prompts.turn = sightings.turn
           where sightings.memory = :id group by prompts.session order by at desc limit :limit""",
        {"id": memory, "limit": limit},
    )
    return [SeenIn(row["id"], row["headline"], text_to_time(row["at"])) for row in rows]
