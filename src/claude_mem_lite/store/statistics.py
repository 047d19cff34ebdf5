"""Statistics for `stats`, `receipts --summary` and the figures by day (UTC). Reads only.

The figures are needed seldom, so they are counted on demand and not stored. Each figure by day is a single query,
served by an index for large tables."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, get_args

from claude_mem_lite.models import OUTCOMES, WORK_TRIGGERS, Status
from claude_mem_lite.responses.analytics import ContextSavings, Day, ProjectCounts, SourceUse, TriggerUse
from claude_mem_lite.timestamps import time_to_text

_CHARACTERS_A_TOKEN = 3.5


def memories_by_kind(db: sqlite3.Connection) -> dict[str, int]:
    """Return the number of active memories by kind, most first."""
    return dict(
        db.execute("select kind, count(*) from memories where status = 'active' group by kind order by 2 desc, 1")
    )


def memories_by_status(db: sqlite3.Connection) -> dict[str, int]:
    return dict(db.execute("select status, count(*) from memories group by status order by 2 desc, 1"))


def projects(db: sqlite3.Connection) -> list[ProjectCounts]:
    """Return every project with the number of its memories and sessions, most first; memories without a project have
    no name."""
    rows = db.execute(
        """select counted.project, coalesce(projects.name, '') as name, sum(memories) as memories,
             sum(sessions) as sessions
           from (select project, count(*) as memories, 0 as sessions from memories where status = 'active' group by 1
                 union all select project, 0, count(*) from sessions group by 1) as counted
             left join projects on projects.id = counted.project
           group by counted.project order by 3 desc, 4 desc, 1"""
    )
    return [ProjectCounts(**dict(row)) for row in rows]


def has_memories(db: sqlite3.Connection, project: str) -> bool:
    """Return True if any active memory was made in a project."""
    row = db.execute(
        "select exists (select 1 from memories where project = :project and status = 'active')", {"project": project}
    ).fetchone()
    return bool(row[0])


def source_uses(db: sqlite3.Connection, since: datetime, project: str | None = None) -> tuple[SourceUse, ...]:
    """Return injections and outcomes of each source since a time; at the start of a session the source is the layer."""
    rows = db.execute(
        """select moment, layer as source, count(*) as items, sum(receipt_items.tokens) as tokens,
             sum(outcome is 'used') as used, sum(outcome is 'ignored') as ignored,
             sum(outcome is 'unknown') as unknown
           from receipts join receipt_items on receipt = spool_name
           where created_at >= :since and given_at is not null and (:project is null or project = :project)
           group by moment, layer order by moment, items desc, layer""",
        {"since": time_to_text(since), "project": project},
    )
    return tuple(SourceUse(**dict(row), hit_rate=hit_rate(row["used"], row["ignored"], row["unknown"])) for row in rows)


def trigger_uses(
    db: sqlite3.Connection, since: datetime, sources: Sequence[SourceUse], project: str | None = None
) -> tuple[TriggerUse, ...]:
    """Return the answers since a time, everywhere or in a project, by trigger, with the outcomes of their sources."""
    rows = db.execute(
        """select moment, count(*) as made, count(given_at) as reached,
             coalesce(sum(tokens) filter (where given_at is not null), 0) as tokens
           from receipts where created_at >= :since and (:project is null or project = :project)
           group by moment order by moment""",
        {"since": time_to_text(since), "project": project},
    )
    return tuple(_trigger_use(row, [source for source in sources if source.moment == row["moment"]]) for row in rows)


def _trigger_use(row: sqlite3.Row, sources: Sequence[SourceUse]) -> TriggerUse:
    used, ignored, unknown = (sum(getattr(source, name) for source in sources) for name in OUTCOMES)
    return TriggerUse(
        **dict(row), used=used, ignored=ignored, unknown=unknown, hit_rate=hit_rate(used, ignored, unknown)
    )


def hit_rate(used: int, ignored: int, unknown: int) -> float | None:
    """Return the share of used items: a lower bound, because an unknown item may have been used. None without items."""
    judged = used + ignored + unknown
    return round(used / judged, 3) if judged else None


def often_ignored(db: sqlite3.Connection, least: int, limit: int) -> list[str]:
    """Return the memories and sessions that at least `least` sessions ignored, the most ignored first."""
    rows = db.execute(
        """select source from receipt_items join receipts on spool_name = receipt where outcome = 'ignored'
           group by source having count(distinct session) >= :least
           order by count(distinct session) desc, source limit :limit""",
        {"least": least, "limit": limit},
    )
    return [row["source"] for row in rows]


def context_savings(db: sqlite3.Connection, since: datetime) -> ContextSavings:
    """Return the sizes of the contexts of session starts and of the conversations behind them."""
    days = context_savings_by_day(db, since).values()
    return ContextSavings(sum(day.given_tokens for day in days), sum(day.said_tokens for day in days))


def context_savings_by_day(
    db: sqlite3.Connection, since: datetime, project: str | None = None
) -> dict[str, ContextSavings]:
    """Return the same sizes by day, everywhere or in a project.

    Only prompts and closing messages count: the sizes of tool outputs are not stored."""
    at_start = """receipts.created_at >= :since and given_at is not null
        and moment not in (select value from json_each(:need)) and (:project is null or receipts.project = :project)"""
    values = {"since": time_to_text(since), "need": json.dumps(WORK_TRIGGERS), "project": project}
    tokens_by_day = db.execute(
        f"select substr(created_at, 1, 10) as day, sum(tokens) as tokens from receipts where {at_start} group by day",
        values,
    ).fetchall()
    sources = db.execute(
        f"""select distinct receipt, substr(receipts.created_at, 1, 10) as day,
              coalesce(memories.session, item.source) as session
            from receipts cross join receipt_items as item on receipt = spool_name
              left join memories on memories.id = item.source
            where {at_start}""",
        values,
    ).fetchall()
    lengths = dict(
        db.execute(
            """select session, sum(length(text) + length(reply)) from prompts
               where session in (select value from json_each(:sessions)) group by session""",
            {"sessions": json.dumps(list({row["session"] for row in sources}))},
        ).fetchall()
    )
    characters: Counter[str] = Counter()
    for row in sources:
        characters[row["day"]] += lengths.get(row["session"], 0)
    return {
        row["day"]: ContextSavings(row["tokens"], round(characters[row["day"]] / _CHARACTERS_A_TOKEN))
        for row in tokens_by_day
    }


def by_day(db: sqlite3.Connection, since: datetime, project: str = "") -> dict[str, Day]:
    """Return the days since a time with any activity, everywhere or in a project, by date."""
    days: dict[str, dict[str, Any]] = {}
    values = {"since": time_to_text(since), "project": project}
    for question in _questions(project):
        for row in db.execute(question, values):
            days.setdefault(row["day"], {}).update(dict(row))
    for date, savings in context_savings_by_day(db, since, project or None).items():
        days.setdefault(date, {"day": date})["savings"] = savings
    return {date: Day(**figures) for date, figures in days.items()}


def _questions(project: str) -> Iterator[str]:
    in_project = "project = :project and" if project else ""
    # Naming all statuses lets the index of a project find the days.
    every = ", ".join(f"'{status}'" for status in get_args(Status))
    status = f"status in ({every}) and" if project else ""
    yield f"""select substr(created_at, 1, 10) as day, count(*) as memories from memories
              where {in_project} {status} created_at >= :since group by day"""
    yield f"""select substr(started_at, 1, 10) as day, count(*) as sessions from sessions
              where {in_project} last_event_at >= :since and started_at >= :since group by day"""
    yield f"""select substr(created_at, 1, 10) as day, count(*) as given, sum(tokens) as tokens_given from receipts
              where {in_project} created_at >= :since and given_at is not null group by day"""
    yield f"""select substr(created_at, 1, 10) as day, count(*) filter (where outcome = 'used') as used,
                count(*) filter (where outcome = 'ignored') as ignored,
                count(*) filter (where outcome = 'unknown') as unknown
              from receipts cross join receipt_items on receipt = spool_name
              where {in_project} created_at >= :since and given_at is not null group by day"""
    of_project = "session in (select id from sessions where project = :project) and" if project else ""
    yield f"""select substr(at, 1, 10) as day, sum(tokens_in) as tokens_in,
                sum(tokens_out) as tokens_out, sum(cost_usd) as cost_usd from model_calls
              where {of_project} at >= :since and outcome <> 'asking' group by day"""


def files_touched(db: sqlite3.Connection, project: str, without: str, limit: int) -> list[set[str]]:
    """Return the files that each of a project's last sessions read or edited, without one session."""
    rows = db.execute(
        """select files_read, files_edited from sessions where project = :project and id <> :without
           order by last_event_at desc limit :limit""",
        {"project": project, "without": without, "limit": limit},
    )
    return [{*json.loads(row[0]), *json.loads(row[1])} for row in rows]
