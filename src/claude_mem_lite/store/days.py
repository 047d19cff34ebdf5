"""What happened on each day, in UTC: what was stored, given, used and spent. Reads only.

Each figure is one question for all days, answered by an index where there can be many rows."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import get_args

from claude_mem_lite.models import Status
from claude_mem_lite.store.statistics import NOTHING_RETOLD, Retold, retold_by_day
from claude_mem_lite.timestamps import time_to_text


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
