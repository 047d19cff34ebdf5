"""Tests of `store/experiment/outcomes.py`: the order of observations, in which no later session comes before an
earlier one."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.store.experiment import arms, outcomes
from claude_mem_lite.store.experiment.arms import StoredArm
from claude_mem_lite.store.experiment.outcomes import SessionOutcome
from claude_mem_lite.timestamps import time_to_text

NOW = datetime(2026, 3, 4, tzinfo=UTC)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_for_writing(tmp_path / "memory.db")) as connection:
        migrate(connection, MEMORY_MIGRATIONS, NOW)
        for number, session in enumerate(("a", "b", "c")):
            begin(connection, session, NOW - timedelta(hours=number))
        yield connection


def begin(db: sqlite3.Connection, session: str, last_event_at: datetime) -> None:
    """A session of the experiment with one prompt."""
    at = time_to_text(last_event_at)
    db.execute(
        "insert or ignore into projects (id, name, root, first_seen_at, last_seen_at) values ('p', 'p', '', 0, 0)"
    )
    db.execute(
        """insert into sessions (id, project, cwd, branch, commit_id, source, status, started_at, last_event_at)
           values (?, 'p', '', '', '', 'startup', 'failed', ?, ?)""",
        (session, at, at),
    )
    db.execute(
        """insert into prompts (turn, session, prompt_id, text, reply, created_at)
           values (?, ?, '', 'tidy up', '', ?)""",
        (session, session, at),
    )
    arms.put_arm(db, StoredArm(session, "treated", 0.5, NOW))


def outcome(session: str, ended_at: datetime = NOW, turns: int = 1) -> SessionOutcome:
    return SessionOutcome(session, ended_at, None, None, None, 0, turns, None, 1.0)


def order(db: sqlite3.Connection) -> list[tuple[str, int]]:
    return [(each.outcome.session, each.outcome.turns) for each in outcomes.of_project(db, None)]


def test_a_session_that_is_counted_late_comes_after_those_that_were_counted_before(db: sqlite3.Connection) -> None:
    for session, hours in (("a", 0), ("b", -30), ("c", -10)):
        outcomes.put(db, outcome(session, NOW + timedelta(hours=hours)))
    assert order(db) == [("a", 1), ("b", 1), ("c", 1)]


def test_a_second_outcome_of_a_session_changes_nothing(db: sqlite3.Connection) -> None:
    outcomes.put(db, outcome("a"))
    outcomes.put(db, outcome("b"))
    outcomes.put(db, outcome("a", NOW + timedelta(days=1), turns=9))
    assert order(db) == [("a", 1), ("b", 1)]


def test_quiet_sessions_without_an_outcome_are_found_the_oldest_first(db: sqlite3.Connection) -> None:
    outcomes.put(db, outcome("b"))
    assert outcomes.without(db, NOW + timedelta(seconds=1)) == ["c", "a"]
    assert outcomes.without(db, NOW - timedelta(minutes=1)) == ["c"]


def test_a_session_whose_prompts_are_empty_waits_for_no_outcome(db: sqlite3.Connection) -> None:
    db.execute("update prompts set text = '' where session = 'b'")
    assert outcomes.without(db, NOW + timedelta(seconds=1)) == ["c", "a"]


def test_outcomes_of_before_are_numbered_by_their_ends(tmp_path: Path) -> None:
    steps = [step.__name__ for step in MEMORY_MIGRATIONS].index("m027_outcome_places")
    with closing(open_for_writing(tmp_path / "old.db")) as old:
        migrate(old, MEMORY_MIGRATIONS[:steps], NOW)
        for session, ended_at in (("a", "2026-03-02"), ("b", "2026-03-01")):
            old.execute(
                "insert into experiment_outcomes (session, ended_at, turns) values (?, ?, 1)", (session, ended_at)
            )
        migrate(old, MEMORY_MIGRATIONS, NOW)
        rows = old.execute("select session, place from experiment_outcomes order by place").fetchall()
    assert [tuple(row) for row in rows] == [("b", 1), ("a", 2)]
