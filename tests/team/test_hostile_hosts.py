"""Tests of `team/sync.py`: bodies that a host exchanged, and what the end of sharing on one device does to others."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.store import team as tables
from claude_mem_lite.team import outbox
from claude_mem_lite.team.seal import Seal
from tests.support.fakes import NOW
from tests.support.postgres import Database
from tests.support.team_sync import Team, team_on

FIX = "Close the cursor before the pool"
DECISION = "Invoices are rounded per line"
SEAL = Seal(b"k" * 32)


@pytest.fixture
def team(database: Database, tmp_path: Path) -> Iterator[Team]:
    with team_on(database, tmp_path) as made:
        yield made


@pytest.fixture
def sealed(database: Database, tmp_path: Path) -> Iterator[Team]:
    with team_on(database, tmp_path, SEAL) as made:
        yield made


def test_a_sealed_body_under_another_memory_is_parked(sealed: Team) -> None:
    ana, ben = sealed.home("ana"), sealed.home("ben")
    ana.team.decide(FIX)
    ana.team.decide(DECISION)
    ana.sync()
    sealed.database.rows(
        "update claude_mem_lite.entries e set body = o.body, hash = o.hash from claude_mem_lite.entries o"
        " where e.seq = 1 and o.seq = 2 returning 1"
    )
    assert ben.sync().parked == 1


def test_the_end_of_sharing_on_one_device_destroys_nothing_that_another_device_made(team: Team) -> None:
    laptop, desktop = team.home("ana", "laptop"), team.home("ana", "desktop")
    made = desktop.team.decide(DECISION)
    desktop.sync()
    laptop.team.decide(FIX)
    laptop.sync()
    with atomic(laptop.db):
        outbox.withdraw(laptop.db, project=team.key, now=NOW)
        tables.unshare(laptop.db, made.project)
    laptop.sync()
    desktop.sync()
    assert desktop.team.titles() == [DECISION]
