"""The ledger of guards: every firing with its outcome, failures of the hook, and sessions with an occasion.

Written by the job thread, from notes that the hook leaves and from what happened in the turn."""

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from typing import Literal

from claude_mem_lite.values import frozen

Outcome = Literal["open", "followed", "overridden", "got_round", "false", "unknown"]
Decision = Literal["remind", "ask", "deny"]


@frozen
class Firing:
    """One firing of a guard."""

    name: str
    """Spool name of the note."""
    guard: str
    session: str
    turn: str
    tool_use: str
    tool: str
    decision: Decision
    at: str
    ms: float
    outcome: Outcome = "open"
    text: str = ""
    """Command or path, redacted and shortened; '' if the call did not run and no transcript is known."""


@frozen
class Failure:
    """Call that the hook let pass because a guard could not be checked."""

    name: str
    guard: str
    at: str
    reason: str


def add(db: sqlite3.Connection, firing: Firing) -> None:
    """Store a firing, once."""
    db.execute(
        """insert or ignore into guard_firings
             (name, guard, session, turn, tool_use, tool, decision, at, ms, outcome, text)
           values (:name, :guard, :session, :turn, :tool_use, :tool, :decision, :at, :ms, :outcome, :text)""",
        asdict(firing),
    )


def add_failure(db: sqlite3.Connection, failure: Failure) -> None:
    """Store a failure, once."""
    db.execute(
        """insert or ignore into guard_failures (name, guard, at, reason)
           values (:name, :guard, :at, :reason)""",
        asdict(failure),
    )


def open_in(db: sqlite3.Connection, session: str) -> list[Firing]:
    """Return the firings of a session whose outcome is not decided, oldest first."""
    rows = db.execute(
        "select * from guard_firings where session = :session and outcome = 'open' order by at, name",
        {"session": session},
    )
    return [Firing(**dict(row)) for row in rows]


def of_guard(db: sqlite3.Connection, guard: str, limit: int) -> list[Firing]:
    """Return the firings of a guard, newest first."""
    rows = db.execute(
        "select * from guard_firings where guard = :guard order by at desc, name desc limit :limit",
        {"guard": guard, "limit": limit},
    )
    return [Firing(**dict(row)) for row in rows]


def failures_of(db: sqlite3.Connection, guard: str, limit: int) -> list[Failure]:
    """Return the failures of a guard, newest first."""
    rows = db.execute(
        "select * from guard_failures where guard = :guard order by at desc limit :limit",
        {"guard": guard, "limit": limit},
    )
    return [Failure(**dict(row)) for row in rows]


def decide(db: sqlite3.Connection, name: str, outcome: Outcome, text: str = "") -> None:
    """Set the outcome of a firing; a text replaces an empty one."""
    db.execute(
        """update guard_firings set outcome = :outcome, text = case when :text = '' then text else :text end
           where name = :name""",
        {"name": name, "outcome": outcome, "text": text},
    )


def counts(db: sqlite3.Connection, guards: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the number of firings of each guard by outcome."""
    rows = db.execute(
        """select guard, outcome, count(*) as number from guard_firings
           where guard in (select value from json_each(:guards)) group by guard, outcome""",
        {"guards": json.dumps(list(guards))},
    )
    found: dict[str, dict[str, int]] = {guard: {} for guard in guards}
    for row in rows:
        found[row["guard"]][row["outcome"]] = int(row["number"])
    return found


def totals(db: sqlite3.Connection, since: str) -> dict[str, int]:
    """Return the number of firings of all guards since a time, by outcome."""
    rows = db.execute(
        "select outcome, count(*) as number from guard_firings where at >= :since group by outcome", {"since": since}
    )
    return {row["outcome"]: int(row["number"]) for row in rows}


def last_outcomes(db: sqlite3.Connection, guard: str, since: str, limit: int) -> list[Outcome]:
    """Return the outcomes of the last decided firings of a guard since a time, newest first."""
    rows = db.execute(
        """select outcome from guard_firings where guard = :guard and outcome <> 'open' and at >= :since
           order by at desc, name desc limit :limit""",
        {"guard": guard, "since": since, "limit": limit},
    )
    return [row["outcome"] for row in rows]


def note_occasion(db: sqlite3.Connection, guard: str, session: str, at: str, violations: int) -> None:
    """Count a turn with an occasion for its session; `violations` are added."""
    db.execute(
        """insert into guard_sessions (guard, session, source, at, violations)
           values (:guard, :session, 'ledger', :at, :violations)
           on conflict (guard, session, source) do update set violations = violations + excluded.violations""",
        {"guard": guard, "session": session, "at": at, "violations": violations},
    )


def take_back(db: sqlite3.Connection, guard: str, session: str) -> None:
    """Count one violation of a session less: the user says that a firing was wrong."""
    db.execute(
        """update guard_sessions set violations = max(violations - 1, 0)
           where guard = :guard and session = :session and source = 'ledger'""",
        {"guard": guard, "session": session},
    )


def forget(db: sqlite3.Connection, *, sessions: Collection[str], turns: Collection[str]) -> None:
    """Remove everything that guards keep of these sessions, and the calls of turns, by their prompt ids."""
    named = {"sessions": json.dumps(list(sessions)), "turns": json.dumps(list(turns))}
    for table in ("guard_matches", "guard_firings"):
        db.execute(
            f"""delete from {table} where session in (select value from json_each(:sessions))
                  or (turn <> '' and turn in (select value from json_each(:turns)))""",
            named,
        )
    db.execute("delete from guard_sessions where session in (select value from json_each(:sessions))", named)


def forget_repetitions(db: sqlite3.Connection, is_in: Callable[[str], bool]) -> None:
    """Remove the calls that repeat forgotten text from replays, and their texts from firings."""
    matches = db.execute("select guard, position, text, matched from guard_matches").fetchall()
    db.executemany(
        "delete from guard_matches where guard = :guard and position = :position",
        [dict(row) for row in matches if is_in(row["text"]) or is_in(row["matched"])],
    )
    firings = db.execute("select name, text from guard_firings where text <> ''").fetchall()
    db.executemany(
        "update guard_firings set text = '' where name = :name", [dict(row) for row in firings if is_in(row["text"])]
    )
