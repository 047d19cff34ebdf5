"""Tests of `store/experiment/arms.py`: runs, arms, and whether a control session may be at work."""

import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import forget
from claude_mem_lite.store import sessions
from claude_mem_lite.store.experiment import arms, outcomes
from claude_mem_lite.store.experiment.arms import StoredArm
from claude_mem_lite.store.experiment.outcomes import SessionOutcome
from tests.support.fakes import NOW, Store

HERE = "here"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as made:
        made.turn("t1", "tidy the cart", "Done.", session=HERE, at=NOW)
        arms.begin_run(made.db, NOW)
        yield made


def decide(db: sqlite3.Connection, arm: arms.Arm, session: str = HERE, share: float = 0.5) -> None:
    arms.put_arm(db, StoredArm(session, arm, share, NOW))


def test_an_active_control_session_is_at_work(store: Store) -> None:
    decide(store.db, "control")
    assert arms.is_control_at_work(store.db)


def test_a_control_session_without_events_yet_is_at_work(store: Store) -> None:
    decide(store.db, "control", "new")
    assert arms.is_control_at_work(store.db)


def test_a_treated_session_is_no_control_session_at_work(store: Store) -> None:
    decide(store.db, "treated")
    assert not arms.is_control_at_work(store.db)


def test_a_control_session_that_is_over_is_not_at_work(store: Store) -> None:
    decide(store.db, "control")
    sessions.close(store.db, HERE, "completed", NOW)
    assert not arms.is_control_at_work(store.db)


def test_after_the_experiment_no_control_session_is_at_work(store: Store) -> None:
    decide(store.db, "control")
    arms.end_run(store.db, NOW)
    arms.begin_run(store.db, NOW + timedelta(seconds=1))
    assert not arms.is_control_at_work(store.db)


def test_a_run_that_goes_on_keeps_its_begin(store: Store) -> None:
    arms.begin_run(store.db, NOW + timedelta(days=1))
    assert arms.run_began_at(store.db) == NOW
    assert len(store.db.execute("select began_at from experiment_runs").fetchall()) == 1
    arms.end_run(store.db, NOW + timedelta(days=2))
    assert arms.run_began_at(store.db) is None


def test_an_arm_that_is_decided_stays(store: Store) -> None:
    decide(store.db, "control", share=0.5)
    decide(store.db, "treated", share=0.1)
    assert arms.find_arm(store.db, HERE) == StoredArm(HERE, "control", 0.5, NOW)


def test_a_forgotten_session_leaves_no_arm_and_no_outcome(store: Store) -> None:
    store.turn("t2", "tidy the lid", "Done.", session="other", at=NOW)
    for session in (HERE, "other"):
        decide(store.db, "control", session)
        outcomes.put(store.db, SessionOutcome(session, NOW, 1, 1, 0, 0, 1, None, 1.0))
    with atomic(store.db):
        forget.forget(store.db, (), (HERE,), NOW)
    for table in ("experiment_arms", "experiment_outcomes"):
        assert [row["session"] for row in store.db.execute(f"select session from {table}")] == ["other"]
