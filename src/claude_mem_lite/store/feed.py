"""Memories as they came, newest first and a page at a time, with the turns and sessions they came from. Reads only.

Texts are cut while they are read: a page costs the same whatever is in it."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.models import Kind, Origin, SessionStatus, Status
from claude_mem_lite.store.sessions import TITLE
from claude_mem_lite.text import one_line, within
from claude_mem_lite.timestamps import text_to_time, time_to_text

MAX_SUMMARY_LENGTH = 400
_MAX_ASKED_LENGTH = 200
_MAX_FILES = 5
# Before white space is put together.
_MAX_READ = 2_000


class Spot(NamedTuple):
    """A place in the feed: between the memory of this date and number and the next older one."""

    at: str
    seq: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a memory must be to be in the feed; None and empty ask for nothing."""

    project: str = ""
    """Made in it, or holding there only."""
    kinds: tuple[Kind, ...] = ()
    origins: tuple[Origin, ...] = ()
    statuses: tuple[Status, ...] = ("active",)
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory in brief."""

    id: str
    kind: Kind
    status: Status
    origin: Origin
    title: str
    summary: str
    files: tuple[str, ...]
    session: str
    project: str
    scope: str
    created_at: datetime
    last_seen_at: datetime
    times_seen: int
    pinned: bool
    confidence: float
    made_by: str
    superseded_by: str | None


@dataclass(frozen=True, slots=True)
class TurnInBrief:
    """A turn by the id of its passage, and the beginning of what was asked in it."""

    id: str
    asked: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SessionInBrief:
    id: str
    headline: str
    project: str
    branch: str
    status: SessionStatus
    started_at: datetime
    last_event_at: datetime
    turns: int


class Page(NamedTuple):
    """Some of the feed, and behind which place it goes on; None at its end."""

    entries: list[Entry]
    next: Spot | None


def page(db: sqlite3.Connection, wanted: Wanted, before: Spot | None, limit: int) -> Page:
    """The newest memories that are all that is asked, behind a place."""
    where, values = _conditions(wanted, before)
    found: dict[int, sqlite3.Row] = {}
    for way, more in _ways(wanted):
        rows = db.execute(
            f"""select seq, id, kind, status, origin, substr(title, 1, {_MAX_READ}) as title,
                  substr(summary, 1, {_MAX_READ}) as summary, files, session, project, scope, created_at,
                  last_seen_at, times_seen, pinned, confidence, made_by, superseded_by
                from memories where {way} and {where} order by created_at desc, seq desc limit :limit""",
            {**values, **more, "limit": limit + 1},
        )
        found |= {row["seq"]: row for row in rows}
    newest = sorted(found.values(), key=_spot, reverse=True)
    shown = newest[:limit]
    return Page([_entry(row) for row in shown], _spot(shown[-1]) if len(newest) > limit else None)


def turns_of(db: sqlite3.Connection, memories: Sequence[str]) -> dict[str, TurnInBrief]:
    """The turn in which each of these memories was first seen, if its text is kept."""
    # In this order: by itself SQLite begins with all turns there are, which takes a second among 100,000 memories.
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
    # The first of each is the last that is written down here.
    return {
        row["memory"]: TurnInBrief(
            row["turn"], within(one_line(row["asked"] or row["tasks"]), _MAX_ASKED_LENGTH), text_to_time(row["at"])
        )
        for row in rows
    }


def sessions_named(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, SessionInBrief]:
    """These sessions, of those that are known."""
    rows = db.execute(
        f"""select id, substr({TITLE}, 1, {_MAX_READ}) as headline,
              project, branch, status, started_at, last_event_at,
              (select count(*) from prompts where prompts.session = sessions.id and text <> '') as turns
            from sessions where id in (select value from json_each(:ids))""",
        {"ids": json.dumps(list(ids))},
    )
    return {
        row["id"]: SessionInBrief(
            **{
                **dict(row),
                "headline": within(one_line(row["headline"]), MAX_SUMMARY_LENGTH),
                "started_at": text_to_time(row["started_at"]),
                "last_event_at": text_to_time(row["last_event_at"]),
            }
        )
        for row in rows
    }


def _conditions(wanted: Wanted, before: Spot | None) -> tuple[str, dict[str, object]]:
    """All that is asked but for the project, which an index serves. The signs keep SQLite from other indexes."""
    parts = ["created_at between :since and :until"]
    values: dict[str, object] = {
        "since": time_to_text(wanted.since) if wanted.since else "",
        "until": time_to_text(wanted.until) if wanted.until else "a",  # after all times
    }
    for column, asked in (("kind", wanted.kinds), ("origin", wanted.origins), ("status", wanted.statuses)):
        if asked:
            parts.append(f"+{column} in (select value from json_each(:{column}))")
            values[column] = json.dumps(asked)
    if before is not None:
        parts.append("created_at <= :at and (created_at, seq) < (:at, :seq)")
        values |= {"at": before.at, "seq": before.seq}
    return " and ".join(parts), values


def _ways(wanted: Wanted) -> Iterator[tuple[str, dict[str, object]]]:
    """Conditions that an index serves in the order of time; what is asked for fits one of them."""
    if not wanted.project:
        yield "true", {}
        return
    for status in wanted.statuses:
        yield "project = :project and status = :way", {"project": wanted.project, "way": status}


def _spot(row: sqlite3.Row) -> Spot:
    return Spot(row["created_at"], row["seq"])


def _entry(row: sqlite3.Row) -> Entry:
    return Entry(
        id=row["id"],
        kind=row["kind"],
        status=row["status"],
        origin=row["origin"],
        title=within(row["title"], MAX_SUMMARY_LENGTH),
        summary=within(row["summary"], MAX_SUMMARY_LENGTH),
        files=tuple(json.loads(row["files"])[:_MAX_FILES]),
        session=row["session"],
        project=row["project"],
        scope=row["scope"],
        created_at=text_to_time(row["created_at"]),
        last_seen_at=text_to_time(row["last_seen_at"]),
        times_seen=row["times_seen"],
        pinned=bool(row["pinned"]),
        confidence=row["confidence"],
        made_by=row["made_by"],
        superseded_by=row["superseded_by"],
    )
