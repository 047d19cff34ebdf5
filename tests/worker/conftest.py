"""A real worker process, or its job loop alone with a clock that the test sets."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.loop import Loop
from tests.fakes import FakeProvider
from tests.running import Machine, open_machine, running_loop


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
def loop(home: Home, clock: SetClock) -> Iterator[Loop]:
    with running_loop(home, clock) as running:
        yield running


@pytest.fixture
def provider() -> FakeProvider:
    """A model that finds nothing worth remembering until the test says otherwise."""
    return FakeProvider(['{"memories": []}'])


@pytest.fixture
def modelled(home: Home, clock: SetClock, provider: FakeProvider) -> Iterator[Loop]:
    """The job loop with a model configured."""
    home.config.write_text('provider = "anthropic"\n')
    with running_loop(home, clock, provider.make) as running:
        yield running
        provider.release()


@pytest.fixture
def machine() -> Iterator[Machine]:
    """A home with a worker of its own, not started yet."""
    with open_machine() as made:
        yield made


@pytest.fixture(scope="module")
def served() -> Iterator[Machine]:
    """A home with a worker that the tests of one module share."""
    with open_machine() as made:
        made.start_worker()
        yield made
