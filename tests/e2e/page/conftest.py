"""One machine, one server and one browser for all tests of the page: they are slow to start, and each test reads."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.busy_machine import busy_machine
from tests.e2e.page.seeded_machine import machine_with_a_past
from tests.e2e.page.serving import Served, filled_machine, opened, running_browser, serving

# A busy machine must not change what is seen: three browsers on two cores took more than the usual 5 s.
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with running_browser() as one:
        yield one


@pytest.fixture(scope="package")
def served() -> Iterator[Served]:
    with filled_machine() as machine, serving(machine) as one:
        yield one


@pytest.fixture(scope="package")
def past() -> Iterator[Served]:
    """A server on another machine, where more was done than a recording tells."""
    with machine_with_a_past() as machine, serving(machine) as one:
        yield one


@pytest.fixture(scope="package")
def busy() -> Iterator[Served]:
    """A server on a machine where every page has something to show."""
    with busy_machine() as machine, serving(machine) as one:
        yield one


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    with opened(browser, served) as one:
        yield one
