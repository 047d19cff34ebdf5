"""History of a memory: injections and their outcomes, project, and sessions that saw the memory. Reads only."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.models import Outcome
from claude_mem_lite.scopes import project_name
from claude_mem_lite.store import receipts
from claude_mem_lite.store.sessions import TITLE
from claude_mem_lite.timestamps import text_to_time


@dataclass(frozen=True, slots=True)
class Injection:
    """Injection of the memory into a session."""

    receipt: str
    """Id of the receipt, as shown elsewhere."""
    session: str
    moment: str
    given_at: datetime
    reason: str
    score: float | None
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class InjectionCounts:
    """Number of injections of the memory, and of their known outcomes."""

    total: int
    used: int
    ignored: int
    unknown: int


@dataclass(frozen=True, slots=True)
class OwnProject:
    """Project of the memory."""

    id: str
    name: str
    root: str
    """Last known folder of the project, or ''."""


@dataclass(frozen=True, slots=True)
class OwnSession:
    """Session in which the memory was made."""

    id: str
    headline: str


@dataclass(frozen=True, slots=True)
class SeenIn:
    """Session that saw the memory, with the last time."""

    id: str
    headline: str
    at: datetime


_DELIVERED = "receipt_items join receipts on spool_name = receipt where source = :id and given_at is not null"


def injections(db: sqlite3.Connection, memory: str, limit: int) -> list[Injection]:
    """Return the last injections of a memory, newest first."""
    rows = db.execute(
        f"""select spool_name, session, moment, given_at, reason, score, outcome from {_DELIVERED}
            order by created_at desc, spool_name desc limit :limit""",
        {"id": memory, "limit": limit},
    )
    return [
        Injection(
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


def injection_counts(db: sqlite3.Connection, memory: str) -> InjectionCounts:
    row = db.execute(
        f"""select count(*) as total, count(*) filter (where outcome = 'used') as used,
              count(*) filter (where outcome = 'ignored') as ignored,
              count(*) filter (where outcome = 'unknown') as unknown from {_DELIVERED}""",
        {"id": memory},
    ).fetchone()
    return InjectionCounts(**dict(row))


def own_project(db: sqlite3.Connection, project: str) -> OwnProject:
    """Return the project with an id; an unknown project is described by its id alone."""
    row = db.execute("select id, name, root from projects where id = ?", (project,)).fetchone()
    return OwnProject(**dict(row)) if row else OwnProject(project, project_name(project), "")


def own_session(db: sqlite3.Connection, session: str) -> OwnSession | None:
    """Return the session with an id; None if unknown, as for memories made by a command of the user."""
    row = db.execute(f"select id, {TITLE} as headline from sessions where id = :id", {"id": session}).fetchone()
    return OwnSession(**dict(row)) if row else None


def seen_in(db: sqlite3.Connection, memory: str, limit: int) -> list[SeenIn]:
    """Return the sessions that saw a memory, the last first; commands of the user have no session."""
    rows = db.execute(
        f"""select prompts.session as id, max(prompts.created_at) as at,
             coalesce((select {TITLE} from sessions
                       where sessions.id = prompts.session), '') as headline
           from sightings join prompts on prompts.turn = sightings.turn
           where sightings.memory = :id group by prompts.session order by at desc limit :limit""",
        {"id": memory, "limit": limit},
    )
    return [SeenIn(row["id"], row["headline"], text_to_time(row["at"])) for row in rows]
