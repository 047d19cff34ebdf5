"""A disk of the client that is full while a home synchronises with its team: marks and cursors stay, and everything
arrives once when there is room again."""

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from claude_mem_lite.store import team as tables
from tests.support.postgres import PostgresServer, fresh_database, running_server
from tests.support.team_sync import SyncedHome, Team, team_on

MEMORIES = 24
STEP_BYTES = 40_000
MAX_STEPS = 200
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def team(postgres: PostgresServer, tmp_path: Path) -> Iterator[Team]:
    with fresh_database(postgres) as database, team_on(database, tmp_path) as made:
        yield made


@contextmanager
def full_disk(home: SyncedHome, room: int) -> Iterator[None]:
    """Let no file of this process grow beyond the log of the home's database and some room."""
    log = home.path.with_name(home.path.name + "-wal")
    size = log.stat().st_size if log.exists() else 0
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def decided(home: SyncedHome) -> list[str]:
    """Store memories that neither repeat nor contradict each other."""
    for letter in LETTERS[:MEMORIES]:
        home.team.decide(f"{letter * 7} {letter * 9}", summary=f"{letter * 5} and {letter * 6} were the reason.")
    return home.team.titles()


def changes_of(home: SyncedHome) -> int:
    """Return the number of changes in the marks and in the log."""
    return len(tables.marked(home.db, MEMORIES)) + len(home.states())


def sync_on_full_disk(home: SyncedHome, room: int) -> bool:
    """Synchronise with some room on the disk; return False if the disk was full. The worker starts again then."""
    try:
        with full_disk(home, room):
            home.sync(fill_batch=5, push_batch=5, fetch_batch=10, apply_batch=5)
    except sqlite3.OperationalError:
        home.reopen()
        return False
    return True


def test_a_home_whose_disk_is_full_sends_everything_once_when_there_is_room(team: Team) -> None:
    ana, ben = team.home("ana"), team.home("ben")
    titles = decided(ana)
    outcomes = []
    for step in range(MAX_STEPS):
        outcomes.append(sync_on_full_disk(ana, step * STEP_BYTES // 8))
        assert changes_of(ana) == MEMORIES
        if outcomes[-1]:
            break
    assert outcomes.count(False) > 2
    assert ana.states() == ["sent"] * MEMORIES
    ben.sync()
    assert ben.team.titles() == titles
    assert [seq for (seq,) in team.entries("seq")] == list(range(1, MEMORIES + 1))


def test_a_home_whose_disk_is_full_receives_everything_once_when_there_is_room(team: Team) -> None:
    ana, ben = team.home("ana"), team.home("ben")
    titles = decided(ana)
    ana.sync()
    outcomes = []
    for step in range(MAX_STEPS):
        outcomes.append(sync_on_full_disk(ben, step * STEP_BYTES))
        assert tables.cursors(ben.db).get((team.key, "ana-device"), 0) == len(ben.team.titles())
        if outcomes[-1]:
            break
    assert outcomes.count(False) > 2
    assert ben.team.titles() == titles
    assert ben.team.states() == ["applied"] * MEMORIES
