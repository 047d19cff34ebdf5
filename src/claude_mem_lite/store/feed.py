"""Feed of memories, newest first and a page at a time, with their turns and sessions. Reads only.

Texts are cut by the query, so the cost of a page does not depend on the content."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.models import Kind, Origin, Status
from claude_mem_lite.responses.encoding import time_text
from claude_mem_lite.responses.feed import FeedMemory, FeedSession, FeedTurn
from claude_mem_lite.store.sessions import TITLE
from claude_mem_lite.text import one_line, within
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

MAX_SUMMARY_LENGTH = 400
_MAX_ASKED_LENGTH = 200
_MAX_FILES = 5
# Limit before white space is normalised.
_MAX_READ = 2_000
_PLAIN = "id kind status origin author session project scope times_seen confidence made_by superseded_by".split()  # noqa: SIM905


class FeedCursor(NamedTuple):
    """Position in the feed: between the memory of this date and number and the next older memory."""

    at: str
    seq: int


@frozen
class FeedFilter:
    """Conditions on the memories of the feed; None and empty values mean no condition."""

    project: str = ""
    """Project in which the memory was made, or to which its scope is limited."""
    kinds: tuple[Kind, ...] = ()
    origins: tuple[Origin, ...] = ()
    statuses: tuple[Status, ...] = ("active",)
    since: datetime | None = None
    until: datetime | None = None


class FeedPage(NamedTuple):
    """Part of the feed, and the position of the next part; None at the end."""

    entries: list[FeedMemory]
    next: FeedCursor | None


def page(db: sqlite3.Connection, conditions: FeedFilter, before: FeedCursor | None, limit: int) -> FeedPage:
    """Return the newest memories that meet all conditions, older than a position."""
    where, values = _conditions(conditions, before)
    rows_by_seq: dict[int, sqlite3.Row] = {}
    for path, more in _index_paths(conditions):
        rows = db.execute(
            f"""select seq, id, kind, status, origin, author, substr(title, 1, {_MAX_READ}) as title,
                  substr(summary, 1, {_MAX_READ}) as summary, files, session, project, scope, created_at,
                  last_seen_at, times_seen, pinned, confidence, made_by, superseded_by
                from memories where {path} and {where} order by created_at desc, seq desc limit :limit""",
            {**values, **more, "limit": limit + 1},
        )
        rows_by_seq |= {row["seq"]: row for row in rows}
    newest = sorted(rows_by_seq.values(), key=_cursor, reverse=True)
    shown = newest[:limit]
    return FeedPage([_entry(row) for row in shown], _cursor(shown[-1]) if len(newest) > limit else None)


def turns_of(db: sqlite3.Connection, memories: Sequence[str]) -> dict[str, FeedTurn]:
    """Return the turn in which each of these memories was first seen, if the text of the turn is kept."""
    # `cross join` fixes the order: SQLite itself would begin with all turns, which takes a second among 100,000
    # memories.
    rows = db.execute(
        f"""select memories.id as memory, passages.id as turn, passages.created_at as at,
              substr(prompts.text, 1, {_MAX_READ}) as asked, substr(prompts.tasks, 1, {_MAX_READ}) as tasks
            from memories cross join sightings on sightings.memory = memories.id
              cross join passages on passages.kind = 'turn' and passages.source = sightings.turn
                and +passages.session = memories.session
              cross join prompts on prompts.turn = passages.source
            where memories.id in (select value from json_each(:ids)) order by passages.created_at desc""",
        {"ids": json.dumps(list(memories))},
    )
    # Rows come newest first, so the oldest turn of a memory overwrites the others.
    return {
        row["memory"]: FeedTurn(
            row["turn"], within(one_line(row["asked"] or row["tasks"]), _MAX_ASKED_LENGTH), _sent(row["at"])
        )
        for row in rows
    }


def sessions_named(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, FeedSession]:
    """Return sessions by id, without unknown ids."""
    rows = db.execute(
        f"""select id, substr({TITLE}, 1, {_MAX_READ}) as headline,
              project, branch, status, started_at, last_event_at,
              (select count(*) from prompts where prompts.session = sessions.id and text <> '') as turns
            from sessions where id in (select value from json_each(:ids))""",
        {"ids": json.dumps(list(ids))},
    )
    return {
        row["id"]: FeedSession(
            **{
                **dict(row),
                "headline": within(one_line(row["headline"]), MAX_SUMMARY_LENGTH),
                "started_at": _sent(row["started_at"]),
                "last_event_at": _sent(row["last_event_at"]),
            }
        )
        for row in rows
    }


def _conditions(conditions: FeedFilter, before: FeedCursor | None) -> tuple[str, dict[str, object]]:
    """Return the conditions except for the project, for which `_index_paths` uses an index. The plus signs keep
    SQLite from other indexes."""
    parts = ["created_at between :since and :until"]
    values: dict[str, object] = {
        "since": time_to_text(conditions.since) if conditions.since else "",
        "until": time_to_text(conditions.until) if conditions.until else "a",  # after all times
    }
    for column, allowed in (
        ("kind", conditions.kinds),
        ("origin", conditions.origins),
        ("status", conditions.statuses),
    ):
        if allowed:
            parts.append(f"+{column} in (select value from json_each(:{column}))")
            values[column] = json.dumps(allowed)
    if before is not None:
        parts.append("created_at <= :at and (created_at, seq) < (:at, :seq)")
        values |= {"at": before.at, "seq": before.seq}
    return " and ".join(parts), values


def _index_paths(conditions: FeedFilter) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield conditions that an index serves in order of time. Each matching memory meets exactly one condition."""
    if not conditions.project:
        yield "true", {}
        return
    for status in conditions.statuses:
        yield "project = :project and status = :way", {"project": conditions.project, "way": status}


def _cursor(row: sqlite3.Row) -> FeedCursor:
    return FeedCursor(row["created_at"], row["seq"])


def _entry(row: sqlite3.Row) -> FeedMemory:
    return FeedMemory(
        **{name: row[name] for name in _PLAIN},
        title=within(row["title"], MAX_SUMMARY_LENGTH),
        summary=within(row["summary"], MAX_SUMMARY_LENGTH),
        files=tuple(json.loads(row["files"])[:_MAX_FILES]),
        created_at=_sent(row["created_at"]),
        last_seen_at=_sent(row["last_seen_at"]),
        pinned=bool(row["pinned"]),
    )


def _sent(stored: str) -> str:
    return time_text(text_to_time(stored))
