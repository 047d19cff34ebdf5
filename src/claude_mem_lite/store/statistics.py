"""How much there is of what, and what came of what was given: the numbers of `stats` and of `receipts --summary`.

Reads only. Seldom asked for, so it counts when asked and keeps nothing.

What happened on each day, in UTC: what was stored, given, used and spent. Reads only.

Each figure is one question for all days, answered by an index where there can be many rows."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import get_args

from claude_mem_lite.models import NEED_MOMENTS, Status, Tally
from claude_mem_lite.timestamps import time_to_text

_CHARACTERS_A_TOKEN = 3.5


@dataclass(frozen=True, slots=True)
class GivenAtMoment:
    """What was made for a moment, and how much of it reached an agent."""

    moment: str
    made: int
    reached: int
    tokens: int
    """Of those that reached an agent."""


@dataclass(frozen=True, slots=True)
class HitRate:
    """What a source gave at a moment, and how much of what was judged by now was used."""

    moment: str
    source: str
    items: int
    tokens: int
    tally: Tally


@dataclass(frozen=True, slots=True)
class OfProject:
    """How many active memories a project has."""

    project: str
    name: str
    memories: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Retold:
    """The size of what was given, and of what was said in the sessions it tells of, in tokens by estimate."""

    given_tokens: int
    said_tokens: int


NOTHING_RETOLD = Retold(0, 0)


def memories_by_kind(db: sqlite3.Connection) -> dict[str, int]:
    """The active memories by kind, most first."""
    return dict(
        db.execute("select kind, count(*) from memories where status = 'active' group by kind order by 2 desc, 1")
    )


def memories_by_status(db: sqlite3.Connection) -> dict[str, int]:
    return dict(db.execute("select status, count(*) from memories group by status order by 2 desc, 1"))


def projects(db: sqlite3.Connection) -> list[OfProject]:
    """Every project with what is stored of it, most first; what holds everywhere has the name of none."""
    rows = db.execute(
        """select counted.project, coalesce(projects.name, '') as name, sum(memories) as memories,
             sum(sessions) as sessions
           from (select project, count(*) as memories, 0 as sessions from memories where status = 'active' group by 1
                 union all select project, 0, count(*) from sessions group by 1) as counted
             left join projects on projects.id = counted.project
           group by counted.project order by 3 desc, 4 desc, 1"""
    )
    return [OfProject(**dict(row)) for row in rows]


def has_memories(db: sqlite3.Connection, project: str) -> bool:
    """Whether any active memory was made in a project."""
    found = db.execute(
        "select exists (select 1 from memories where project = :project and status = 'active')", {"project": project}
    ).fetchone()
    return bool(found[0])


def given(db: sqlite3.Connection, since: datetime, project: str | None = None) -> list[GivenAtMoment]:
    """What was given since a moment, everywhere or in a project, by the moments of sessions."""
    rows = db.execute(
        """select moment, count(*) as made, count(given_at) as reached,
             coalesce(sum(tokens) filter (where given_at is not null), 0) as tokens
           from receipts where created_at >= :since and (:project is null or project = :project)
           group by moment order by moment""",
        {"since": time_to_text(since), "project": project},
    )
    return [GivenAtMoment(**dict(row)) for row in rows]


def hit_rates(db: sqlite3.Connection, since: datetime, project: str | None = None) -> list[HitRate]:
    """What each source gave since a moment and what came of it; at the start of a session the source is the layer."""
    rows = db.execute(
        """select moment, layer, count(*) as items, sum(receipt_items.tokens) as tokens,
             sum(outcome is 'used') as used, sum(outcome is 'ignored') as ignored,
             sum(outcome is 'unknown') as unknown
           from receipts join receipt_items on receipt = spool_name
           where created_at >= :since and given_at is not null and (:project is null or project = :project)
           group by moment, layer order by moment, items desc, layer""",
        {"since": time_to_text(since), "project": project},
    )
    return [
        HitRate(
            row["moment"],
            row["layer"],
            row["items"],
            row["tokens"],
            Tally(row["used"], row["ignored"], row["unknown"]),
        )
        for row in rows
    ]


def often_ignored(db: sqlite3.Connection, least: int, limit: int) -> list[str]:
    """The memories and sessions that at least so many sessions had no use for, the most ignored first."""
    rows = db.execute(
        """select source from receipt_items join receipts on spool_name = receipt where outcome = 'ignored'
           group by source having count(distinct session) >= :least
           order by count(distinct session) desc, source limit :limit""",
        {"least": least, "limit": limit},
    )
    return [row["source"] for row in rows]


def retold(db: sqlite3.Connection, since: datetime) -> Retold:
    """What the starts of sessions were given, and what was said in the sessions that it tells of."""
    days = retold_by_day(db, since).values()
    return Retold(sum(day.given_tokens for day in days), sum(day.said_tokens for day in days))


def retold_by_day(db: sqlite3.Connection, since: datetime, project: str | None = None) -> dict[str, Retold]:
    """The same day by day, everywhere or in a project.

    Only prompts and closing messages count: how large tool outputs were is not known any more."""
    at_start = """receipts.created_at >= :since and given_at is not null
        and moment not in (select value from json_each(:need)) and (:project is null or receipts.project = :project)"""
    values = {"since": time_to_text(since), "need": json.dumps(NEED_MOMENTS), "project": project}
    given_tokens = db.execute(
        f"select substr(created_at, 1, 10) as day, sum(tokens) as tokens from receipts where {at_start} group by day",
        values,
    ).fetchall()
    behind = db.execute(
        f"""select distinct receipt, substr(receipts.created_at, 1, 10) as day,
              coalesce(memories.session, item.source) as session
            from receipts cross join receipt_items as item on receipt = spool_name
              left join memories on memories.id = item.source
            where {at_start}""",
        values,
    ).fetchall()
    said = dict(
        db.execute(
            """select session, sum(length(text) + length(reply)) from prompts
               where session in (select value from json_each(:sessions)) group by session""",
            {"sessions": json.dumps(list({row["session"] for row in behind}))},
        ).fetchall()
    )
    characters: Counter[str] = Counter()
    for row in behind:
        characters[row["day"]] += said.get(row["session"], 0)
    return {
        row["day"]: Retold(row["tokens"], round(characters[row["day"]] / _CHARACTERS_A_TOKEN)) for row in given_tokens
    }


@dataclass(slots=True)
class Day:
    """The figures of one day."""

    memories: int = 0
    sessions: int = 0
    given: int = 0
    """How many contexts reached an agent."""
    tokens_given: int = 0
    used: int = 0
    ignored: int = 0
    unknown: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    retold: Retold = field(default=NOTHING_RETOLD)


def by_day(db: sqlite3.Connection, since: datetime, project: str = "") -> dict[str, Day]:
    """The days from a moment on on which anything happened, everywhere or in a project, by their dates."""
    found: dict[str, Day] = {}
    values = {"since": time_to_text(since), "project": project}
    for question in _questions(project):
        for row in db.execute(question, values):
            day = found.setdefault(row["day"], Day())
            for name in row.keys()[1:]:
                setattr(day, name, row[name])
    for date, retold in retold_by_day(db, since, project or None).items():
        found.setdefault(date, Day()).retold = retold
    return found


def _questions(project: str) -> Iterator[str]:
    here = "project = :project and" if project else ""
    # All statuses by name: that way the index of a project finds the days.
    every = ", ".join(f"'{status}'" for status in get_args(Status))
    status = f"status in ({every}) and" if project else ""
    yield f"""select substr(created_at, 1, 10) as day, count(*) as memories from memories
              where {here} {status} created_at >= :since group by day"""
    yield f"""select substr(started_at, 1, 10) as day, count(*) as sessions from sessions
              where {here} last_event_at >= :since and started_at >= :since group by day"""
    yield f"""select substr(created_at, 1, 10) as day, count(*) as given, sum(tokens) as tokens_given from receipts
              where {here} created_at >= :since and given_at is not null group by day"""
    yield f"""select substr(created_at, 1, 10) as day, count(*) filter (where outcome = 'used') as used,
                count(*) filter (where outcome = 'ignored') as ignored,
                count(*) filter (where outcome = 'unknown') as unknown
              from receipts cross join receipt_items on receipt = spool_name
              where {here} created_at >= :since and given_at is not null group by day"""
    of_project = "session in (select id from sessions where project = :project) and" if project else ""
    yield f"""select substr(at, 1, 10) as day, sum(tokens_in) as tokens_in,
                sum(tokens_out) as tokens_out, sum(cost_usd) as cost_usd from model_calls
              where {of_project} at >= :since and outcome <> 'asking' group by day"""
