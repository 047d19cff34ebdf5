"""A machine with a past that no recording has: every part of a summary, verdicts, spend, two projects, old versions.

Its database is filled before a worker has it, by the functions that the worker stores with."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from demo.machine import Machine

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Location, Outcome, Receipt, ReceiptItem, SessionSummary
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import Usage
from claude_mem_lite.store import model_calls, receipts, retirements
from tests.e2e.page.serving import empty_machine
from tests.support.fakes import Store

SESSION = "s-kiln"
LATER = "s-glaze"
KILN = Location("example.org/me/kiln", "kiln", "/nowhere/kiln", "main", "abc")
GARDEN = Location("example.org/me/garden", "garden", "/nowhere/garden", "main", "abc")
USED, IGNORED = "Fire stoneware at cone six", "Mix the glaze by weight"
RETIRED, OLD = "Beds are dug by hand", "Beans follow garlic in bed two"
VERSIONS = tuple(f"The pottery wheel stops after {minutes} minutes without a hand on it" for minutes in (5, 10, 15))
SUMMARY = SessionSummary(
    headline="The kiln holds its temperature",
    request="Find out why the kiln cools too fast",
    investigated="The seal of the door and the second thermocouple",
    learned="The thermocouple reads thirty degrees too high",
    completed="The controller corrects what it reads",
    next_steps=("Order a new thermocouple",),
    files_read=("docs/thermocouples.md",),
    files_edited=("kiln/controller.py",),
    notes="Mind the hot door",
    key_decisions=("Correct in the controller, not in the sensor",),
)
SPENT_USD, TOKENS = 0.25, 40


@contextmanager
def machine_with_a_past() -> Iterator[Machine]:
    with empty_machine() as machine:
        home = Home(machine.home)
        home.make()
        with Store(home.memory_db) as store:
            fill(store, datetime.now(UTC))
        yield machine


def fill(store: Store, now: datetime) -> None:
    """Store the past of the machine, as of now."""
    yesterday, long_ago = now - timedelta(days=1), now - timedelta(days=20)
    store.turn(
        "turn-kiln", f"{SUMMARY.request}. {'It matters. ' * 200}", "Done.", session=SESSION, place=KILN, at=yesterday
    )
    store.session(SESSION, SUMMARY, place=KILN, at=yesterday)
    used, ignored = (
        store.remember(title, place=KILN, session=SESSION, kind="rule", created_at=yesterday)
        for title in (USED, IGNORED)
    )
    store.turn("turn-garden", "Plan the beds", "Planned.", session="s-garden", place=GARDEN, at=long_ago)
    retired, _ = (
        store.remember(title, place=GARDEN, session="s-garden", created_at=long_ago) for title in (RETIRED, OLD)
    )
    store.turn("turn-glaze", "Glaze the bowls", "Glazed.", session=LATER, place=KILN, at=now)
    versions = [
        store.remember(title, place=KILN, origin="assistant", kind="decision", created_at=yesterday)
        for title in VERSIONS
    ]
    with atomic(store.db):
        retirements.retire(store.db, retired.id, "user", "a machine does it", now)
        for older, newer in pairwise(versions):
            retirements.replace_by(store.db, older.id, newer.id)
        receipts.add(store.db, _receipt(now, [(used.id, "used"), (ignored.id, "ignored")]))
        call = model_calls.begin(store.db, "turn-glaze", LATER, "anthropic/haiku", "turn", Usage(), now)
        model_calls.end(store.db, call, "told", Usage(2_000, 300, SPENT_USD), 1.0)


def _receipt(at: datetime, outcomes: list[tuple[str, Outcome]]) -> Receipt:
    items = (ReceiptItem(id_, "project", "about it", TOKENS // 2, 0.5, outcome) for id_, outcome in outcomes)
    return Receipt(
        spool_name="spool-glaze",
        session=LATER,
        project=KILN.project,
        moment="startup",
        items=tuple(items),
        layers=("project",),
        layers_skipped=(),
        tokens=TOKENS,
        budget=2_000,
        build_ms=1.0,
        created_at=at,
        given_at=at,
    )
