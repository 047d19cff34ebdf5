"""What is rendered ahead for hooks tells how the code stands; all folders together have the time of one context."""

import sqlite3
from functools import partial
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.checkout_view import Checkout
from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.freshness.time_budget import CpuBudget
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.models import Location, SessionSummary
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.answers import prerendered
from tests.support.code_anchors import LOAD, LOAD_SAFELY, work_on
from tests.support.fakes import NOW, Store
from tests.worker.checkouts import remember


class Seeing:
    """A look at a checkout, which notes the time that it has."""

    def __init__(self, looking: StalenessScanner) -> None:
        self._looking = looking
        self.times: list[CpuBudget] = []

    def __call__(self, db: sqlite3.Connection, place: Location, cpu_budget: CpuBudget) -> Checkout:
        self.times.append(cpu_budget)
        return self._looking.open_ahead(db, place, cpu_budget)


@pytest.fixture
def seeing(home: Home, store: Store, looking: StalenessScanner, root: Path, tmp_path: Path) -> Seeing:
    """What was rendered for two folders, in one of which code was changed that a memory tells of."""
    other = tmp_path / "other"
    other.mkdir()
    store.session("s-other", SessionSummary(headline="Other work"), place=find_location(str(other)))
    remember(store, root, work_on(root, "files.py", LOAD))
    work_on(root, "files.py", LOAD_SAFELY)
    made = Seeing(looking)
    connect = partial(open_for_reading, home.memory_db)
    prerendered.refresh(home, store.db, connect, Config(), {""}, NOW, made)
    return made


def test_what_is_rendered_ahead_is_marked_when_its_code_changed(home: Home, seeing: Seeing, root: Path) -> None:
    text = home.rendered_for(str(root)).read_text()
    assert "Load safely" in text
    assert "[may be stale]" in text


def test_all_folders_share_the_time_of_one_context(seeing: Seeing) -> None:
    assert len(seeing.times) == 2
    assert seeing.times[0] is seeing.times[1]
