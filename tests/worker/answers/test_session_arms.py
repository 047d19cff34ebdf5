"""Tests of `worker/answers/session_arms.py` without a worker: arms that are decided and not stored yet, and runs that
follow each other."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import TypeVar

import pytest

from claude_mem_lite.experiment.arms import CONTROL
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.answers.session_arms import SessionArms, SessionRequest
from claude_mem_lite.worker.settings import SettingsSource
from claude_mem_lite.worker.write_thread import WriteThread
from tests.support.fakes import NOW, Store
from tests.worker.test_experiment import CONTROL as SESSION

Result = TypeVar("Result")


class HeldWrites(WriteThread):
    """Queue of writes that a test runs."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._held: list[Callable[[sqlite3.Connection], object]] = []

    def execute_write(self, write: Callable[[sqlite3.Connection], Result], *, later: bool = False) -> Future[Result]:  # noqa: ARG002
        self._held.append(write)
        return Future()

    def release(self) -> None:
        while self._held:
            self._held.pop(0)(self._db)


class Experiment:
    """Arms over a home whose settings the test changes."""

    def __init__(self, home: Home, store: Store) -> None:
        self.db = store.db
        self.writes = HeldWrites(store.db)
        self._home = home
        self._settings = SettingsSource(home)
        self.arms = SessionArms(self._settings, self.writes)

    def write(self, share: float, at: datetime) -> None:
        self._home.config.write_text(f"experiment = {share}\n# {at}\n")

    def set(self, share: float, at: datetime) -> None:
        self.write(share, at)
        assert self._settings.reload()
        self.arms.follow_settings(self.db, at)


@pytest.fixture
def experiment(home: Home, store: Store) -> Experiment:
    made = Experiment(home, store)
    made.set(0.5, NOW)
    return made


def request(minutes: int, source: str = "startup") -> SessionRequest:
    return SessionRequest(SESSION, NOW + timedelta(minutes=minutes), source)


def test_an_agent_without_a_session_gets_nothing_while_the_arm_of_a_control_session_waits_to_be_stored(
    experiment: Experiment,
) -> None:
    assert not experiment.arms.is_control_agent(experiment.db, "", NOW)
    assert experiment.arms.arm(experiment.db, request(1)) == CONTROL
    assert experiment.arms.is_control_agent(experiment.db, "", NOW)
    experiment.writes.release()
    assert experiment.arms.is_control_agent(experiment.db, "", NOW)


def test_a_session_of_an_earlier_run_has_no_arm_in_the_next_run(experiment: Experiment) -> None:
    assert experiment.arms.arm(experiment.db, request(1)) == CONTROL
    experiment.writes.release()
    experiment.set(0, NOW + timedelta(minutes=2))
    experiment.set(0.5, NOW + timedelta(minutes=3))
    assert experiment.arms.arm(experiment.db, request(4)) is None


@pytest.mark.parametrize(("share", "is_kept"), [(0.0, False), (0.3, True)])
def test_contexts_rendered_before_the_experiment_or_in_it_do_not_outlast_the_change(
    experiment: Experiment, home: Home, share: float, is_kept: bool
) -> None:
    home.make()
    rendered = home.rendered_for("/srv/shop")
    rendered.write_bytes(b"context")
    experiment.set(share, NOW + timedelta(minutes=2))
    assert rendered.exists() == is_kept


def test_an_experiment_that_was_turned_off_a_moment_ago_withholds_nothing(experiment: Experiment) -> None:
    assert experiment.arms.arm(experiment.db, request(1)) == CONTROL
    experiment.write(0, NOW + timedelta(minutes=2))
    assert experiment.arms.arm(experiment.db, request(3)) is None


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_an_unknown_session_that_goes_on_has_no_arm(experiment: Experiment, source: str) -> None:
    assert experiment.arms.arm(experiment.db, request(1, source)) is None


def test_a_session_that_began_before_the_run_has_no_arm(experiment: Experiment, store: Store) -> None:
    assert experiment.arms.arm(experiment.db, request(-1)) is None
    store.turn("t1", "tidy the cart", "Done.", session=SESSION, at=NOW - timedelta(minutes=1))
    assert experiment.arms.arm(experiment.db, request(1, "")) is None
