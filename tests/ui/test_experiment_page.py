"""Tests of `ui/pages/experiment.py`: arms and outcomes on the page."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Location
from claude_mem_lite.store.experiment import arms, outcomes
from claude_mem_lite.store.experiment.arms import StoredArm
from claude_mem_lite.store.experiment.outcomes import SessionOutcome
from tests.support.fakes import NOW, SHOP, Store
from tests.support.running import Machine, open_machine
from tests.ui.conftest import browser_of
from tests.ui.html_checks import faults

OTHER = Location("example.org/me/other", "other", "/nowhere/other", "main", "abc")


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """Sixty sessions of the shop: those without memories look around ten times as long; and one of another project."""
    with open_machine() as made:
        made.home.make()
        with Store(made.home.memory_db) as store:
            for number in range(60):
                _session(store, number, SHOP, is_control=number % 2 == 0)
            _session(store, 60, OTHER, is_control=False)
        made.start_worker()
        yield made


def _session(store: Store, number: int, place: Location, *, is_control: bool) -> None:
    session, at = f"s-{number}", NOW + timedelta(hours=number)
    store.turn(f"turn-{number}", "Tidy up", "Done.", session=session, place=place, at=at)
    calls = (20 if is_control else 2) + number % 3
    with atomic(store.db):
        arms.put_arm(store.db, StoredArm(session, "control" if is_control else "treated", 0.5, at))
        outcomes.put(store.db, SessionOutcome(session, at, calls, 3, 0, 0, 2, None, 60.0))


@pytest.fixture
def page(machine: Machine) -> TestClient:
    return browser_of(machine)


def shown(page: TestClient, path: str = "/experiment") -> str:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 200, answer.text
    assert faults(answer.text) == []
    return answer.text


def test_the_outcome_that_decides_comes_first_with_its_verdict(page: TestClient) -> None:
    html = shown(page)
    assert "<strong>Tool calls before the first edit: lower with memories.</strong>" in html
    assert html.index('<span class="tag">decides</span>') < html.index("Files read before the first edit")


def test_arms_are_counted(page: TestClient) -> None:
    html = shown(page, f"/experiment?project={SHOP.project}")
    assert html.count("<dd>30 ended sessions</dd>") == 2


def test_an_outcome_is_drawn_as_an_interval_and_told_in_words(page: TestClient) -> None:
    html = shown(page)
    assert 'class="interval sure"' in html
    assert 'aria-label="tool calls before the first edit: x0.' in html
    assert "Cannot tell yet" in html


def test_a_project_with_too_few_sessions_says_so(page: TestClient) -> None:
    html = shown(page, f"/experiment?project={OTHER.project}")
    assert "cannot tell yet: too few sessions" in html
    assert "Nothing is claimed before each arm has five sessions." in html
    assert 'class="interval' not in html


def test_an_experiment_that_is_off_keeps_what_was_found_out(page: TestClient) -> None:
    assert "No experiment runs: all sessions get their memories. What was found out stays here" in shown(page)


def test_a_running_experiment_says_how_it_is_ended(machine: Machine, page: TestClient) -> None:
    machine.home.config.write_text("experiment = 0.2\n")
    try:
        html = shown(page)
    finally:
        machine.home.config.unlink()
    assert "about 20% of new sessions get no memories" in html
    assert "claude-mem-lite experiment off" in html
