"""The tables of guards: guards, replays over past calls, memories whose guards are due. Written by the job thread.

`claude_mem_lite.guards` gives the rows their meaning; `guard_ledger` owns the firings."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Literal, get_args

from claude_mem_lite.errors import NotFound
from claude_mem_lite.guard_modes import Mode
from claude_mem_lite.store.ids import row_by_prefix
from claude_mem_lite.values import frozen

Status = Literal["active", "paused", "proposed", "doubtful", "dismissed", "removed"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""All statuses, in the order of lists."""
SHOWN: tuple[Status, ...] = ("active", "paused", "proposed", "doubtful")
"""Statuses that a list shows unasked."""
PastOutcome = Literal["ran", "refused", "unknown"]
_OF_GUARD = ("guard_replays", "guard_matches", "guard_firings", "guard_failures", "guard_sessions")


@frozen
class StoredGuard:
    """Row of a guard; the rule is JSON text."""

    id: str
    project: str
    rule: str
    reason: str
    instead: str
    mode: Mode
    status: Status
    fires_tool: str
    fires_text: str
    passes_tool: str
    passes_text: str
    memory: str
    created_at: str
    accepted_at: str
    changed_at: str
    note: str
    is_announced: int = 1
    """0 until a session start has shown the note to the user."""


@frozen
class ReplayMatch:
    """Past call that a guard would have fired on."""

    session: str
    turn: str
    at: str
    tool: str
    text: str
    """Command or path, redacted and shortened."""
    matched: str
    outcome: PastOutcome
    is_corrected: int
    """1 if the user's next prompt objected."""


@frozen
class Replay:
    """Calls that a guard was run over."""

    guard: str
    at: str
    calls: int
    sessions: int
    since: str
    until: str
    is_whole: int
    """0 if older calls were left out."""


@frozen
class Occasion:
    """Session with a call that a guard matches, or with its alternative."""

    guard: str
    session: str
    at: str
    violations: int


_COLUMNS = tuple(field.name for field in fields(StoredGuard))


def put(db: sqlite3.Connection, guard: StoredGuard) -> None:
    """Store a guard under its id, replacing an earlier version."""
    marks = ", ".join(f":{name}" for name in _COLUMNS)
    db.execute(f"insert or replace into guards ({', '.join(_COLUMNS)}) values ({marks})", asdict(guard))


def find(db: sqlite3.Connection, id_: str) -> StoredGuard | None:
    """Return the guard with exactly this id."""
    row = db.execute("select * from guards where id = :id", {"id": id_}).fetchone()
    return _from_row(row) if row else None


def get(db: sqlite3.Connection, id_or_prefix: str) -> StoredGuard:
    """Return a guard by id or id prefix."""
    nobody = NotFound(f"there is no guard {id_or_prefix}", "`claude-mem-lite guards` shows the ids")
    return _from_row(row_by_prefix(db, "select * from guards", "guards", id_or_prefix, nobody))


def of_project(db: sqlite3.Connection, project: str | None, statuses: Sequence[Status] = SHOWN) -> list[StoredGuard]:
    """Return the guards of a project, or of all, in these statuses: by the order of the statuses, then by age."""
    rows = db.execute(
        """select * from guards where (:project is null or project = :project)
             and status in (select value from json_each(:statuses))
           order by project, (select key from json_each(:statuses) where value = status), created_at, id""",
        {"project": project, "statuses": json.dumps(list(statuses))},
    )
    return [_from_row(row) for row in rows]


def of_memory(db: sqlite3.Connection, memory: str) -> StoredGuard | None:
    """Return the guard that was made from a memory."""
    row = db.execute(
        "select * from guards where memory = :memory and memory <> '' order by id limit 1", {"memory": memory}
    ).fetchone()
    return _from_row(row) if row else None


def with_rule(db: sqlite3.Connection, project: str, rule: str) -> StoredGuard | None:
    """Return the guard of a project with this rule, in whatever status: the guard in force before others."""
    row = db.execute(
        """select * from guards where project = :project and rule = :rule
           order by status <> 'active', created_at, id limit 1""",
        {"project": project, "rule": rule},
    ).fetchone()
    return _from_row(row) if row else None


def count_by_status(db: sqlite3.Connection) -> dict[str, int]:
    """Return the number of guards of all projects by status."""
    rows = db.execute("select status, count(*) as number from guards group by status")
    return {row["status"]: int(row["number"]) for row in rows}


def remove(db: sqlite3.Connection, id_: str) -> None:
    """Remove a guard with its replay and its ledger."""
    for table in _OF_GUARD:
        db.execute(f"delete from {table} where guard = :id", {"id": id_})
    db.execute("delete from guards where id = :id", {"id": id_})


def forget_project(db: sqlite3.Connection, project: str) -> None:
    """Remove all guards of a project."""
    for row in db.execute("select id from guards where project = :project", {"project": project}).fetchall():
        remove(db, row["id"])


def pause(db: sqlite3.Connection, guard: StoredGuard, note: str, at: str) -> None:
    """Pause a guard without the user's word; the next session start shows the note."""
    put(db, replace(guard, status="paused", note=note, changed_at=at, is_announced=0))


def unannounced(db: sqlite3.Connection, project: str) -> list[StoredGuard]:
    """Return the guards of a project whose note no session start has shown."""
    rows = db.execute(
        "select * from guards where project = :project and is_announced = 0 order by id", {"project": project}
    )
    return [_from_row(row) for row in rows]


def mark_announced(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Mark the notes of these guards as shown to the user."""
    db.execute(
        "update guards set is_announced = 1 where id in (select value from json_each(:ids))",
        {"ids": json.dumps(list(ids))},
    )


# Memories whose guards are due.


def due_memories(db: sqlite3.Connection, limit: int) -> list[str]:
    """Return memories of the user that were changed since their guards were last made."""
    rows = db.execute("select memory from guard_memories_due order by memory limit :limit", {"limit": limit})
    return [row["memory"] for row in rows]


def note_memories_done(db: sqlite3.Connection, memories: Sequence[str]) -> None:
    """Remove memories from the ones that are due."""
    db.execute(
        "delete from guard_memories_due where memory in (select value from json_each(:ids))",
        {"ids": json.dumps(list(memories))},
    )


# Replays.


def due_replays(db: sqlite3.Connection, before: str) -> list[StoredGuard]:
    """Return the guards that have not been run over past calls, and the proposals that were run before a time and whose
    project was worked in since."""
    rows = db.execute(
        """select * from guards where status in ('proposed', 'doubtful', 'active', 'paused')
             and (id not in (select guard from guard_replays)
               or (status in ('proposed', 'doubtful') and exists (
                 select 1 from guard_replays join sessions on sessions.project = guards.project
                 where guard_replays.guard = guards.id and guard_replays.at < :before
                   and sessions.last_event_at > guard_replays.at)))
           order by project, created_at, id""",
        {"before": before},
    )
    return [_from_row(row) for row in rows]


def drop_replay(db: sqlite3.Connection, guard: str) -> None:
    """Remove the replay of a guard, so that the guard is due for another."""
    for table in ("guard_replays", "guard_matches"):
        db.execute(f"delete from {table} where guard = :guard", {"guard": guard})
    db.execute("delete from guard_sessions where guard = :guard and source = 'replay'", {"guard": guard})


def put_replay(
    db: sqlite3.Connection, replay: Replay, matches: Sequence[ReplayMatch], occasions: Sequence[Occasion]
) -> None:
    """Store the replay of a guard, replacing an earlier one."""
    drop_replay(db, replay.guard)
    db.execute(
        """insert into guard_replays (guard, at, calls, sessions, since, until, is_whole)
           values (:guard, :at, :calls, :sessions, :since, :until, :is_whole)""",
        asdict(replay),
    )
    db.executemany(
        """insert into guard_matches
             (guard, position, session, turn, at, tool, text, matched, outcome, is_corrected)
           values (:guard, :position, :session, :turn, :at, :tool, :text, :matched, :outcome, :is_corrected)""",
        [{**asdict(match), "guard": replay.guard, "position": place} for place, match in enumerate(matches)],
    )
    db.executemany(
        """insert or replace into guard_sessions (guard, session, source, at, violations)
           values (:guard, :session, 'replay', :at, :violations)""",
        [asdict(occasion) for occasion in occasions],
    )


def replay_of(db: sqlite3.Connection, guard: str) -> Replay | None:
    """Return the replay of a guard; None before it has run."""
    row = db.execute("select * from guard_replays where guard = :guard", {"guard": guard}).fetchone()
    return Replay(**dict(row)) if row else None


def matches_of(db: sqlite3.Connection, guard: str, limit: int) -> list[ReplayMatch]:
    """Return the past calls that a guard would have fired on, newest first."""
    rows = db.execute(
        """select session, turn, at, tool, text, matched, outcome, is_corrected from guard_matches
           where guard = :guard order by at desc, position limit :limit""",
        {"guard": guard, "limit": limit},
    )
    return [ReplayMatch(**dict(row)) for row in rows]


def count_matches(db: sqlite3.Connection, guard: str) -> tuple[int, int]:
    """Return the number of past calls that a guard would have fired on, and of their sessions."""
    row = db.execute(
        "select count(*), count(distinct session) from guard_matches where guard = :guard", {"guard": guard}
    ).fetchone()
    return int(row[0]), int(row[1])


def occasions_of(db: sqlite3.Connection, guard: str, source: Literal["replay", "ledger"]) -> list[Occasion]:
    """Return the sessions with an occasion for a guard, oldest first."""
    rows = db.execute(
        """select guard, session, at, violations from guard_sessions where guard = :guard and source = :source
           order by at, session""",
        {"guard": guard, "source": source},
    )
    return [Occasion(**dict(row)) for row in rows]


def _from_row(row: sqlite3.Row) -> StoredGuard:
    return StoredGuard(**{name: row[name] for name in _COLUMNS})
