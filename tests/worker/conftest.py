"""A real worker process, its job loop alone with a clock that the test sets, or its look at checkouts alone."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.e2e.repositories import git
from tests.support.fakes import NOW, FakeProvider, Store
from tests.support.patience import PATIENT
from tests.support.running import Machine, open_machine, running_loop
from tests.worker.checkouts import commit


@dataclass(slots=True)
class SetClock:
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **how_far: float) -> None:
        self.now += timedelta(**how_far)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def project(tmp_path: Path) -> str:
    """The folder of a project, as hooks name it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    return str(folder)


@pytest.fixture
def loop(home: Home, clock: SetClock) -> Iterator[Services]:
    with running_loop(home, clock) as running:
        yield running


@pytest.fixture
def provider() -> FakeProvider:
    """A model that finds nothing worth remembering until the test says otherwise."""
    return FakeProvider(['{"memories": []}'])


@pytest.fixture
def model_loop(home: Home, clock: SetClock, provider: FakeProvider) -> Iterator[Services]:
    """The job loop with a model configured."""
    home.config.write_text('provider = "anthropic"\n')
    with running_loop(home, clock, provider.make) as running:
        yield running
        provider.release()


@pytest.fixture
def unserved() -> Iterator[Machine]:
    """A home with a worker of its own, not started yet."""
    with open_machine() as made:
        yield made


@pytest.fixture
def machine(unserved: Machine) -> Machine:
    """The same; where most tests run commands, one whose worker is up."""
    return unserved


@pytest.fixture(scope="module")
def served() -> Iterator[Machine]:
    """A home with a worker that the tests of one module share."""
    with open_machine() as made:
        made.start_worker()
        yield made


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    with Store(home.memory_db) as made:
        yield made


@pytest.fixture
def looking(home: Home, store: Store, clock: SetClock) -> Iterator[StalenessScanner]:
    clock.now = NOW
    made = StalenessScanner(home, store.db, clock, lambda _: False, PATIENT)
    yield made
    made.release()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = (tmp_path / "shop").resolve()
    folder.mkdir()
    (folder / "README.md").write_text("Something that is always there.\n")
    return folder


@pytest.fixture
def checkout(root: Path) -> Path:
    """The same as a git repository."""
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    return root


@pytest.fixture
def reader(home: Home, store: Store) -> Iterator[sqlite3.Connection]:
    db = open_for_reading(home.memory_db)
    yield db
    db.close()
