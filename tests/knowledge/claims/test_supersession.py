"""What replaces what, in which order, and what is left as a contradiction."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, memory_links, retirements
from claude_mem_lite.timestamps import time_to_text
from tests.support.fakes import NOW, Store


def day(number: int) -> datetime:
    return NOW - timedelta(days=100 - number)


def said(store: Store, title: str, at: datetime, *, turn: str = "", **more: object) -> Memory:
    """Store a decision and settle it, as the worker does."""
    given: dict[str, Any] = {"kind": "decision", "summary": title, "created_at": at, "last_seen_at": at, **more}
    made = store.remember(title, turn=turn or f"{title} {at}", **given)
    with atomic(store.db):
        remember.reconcile(store.db, made, turn, NOW)
    return now(store, made)


def now(store: Store, memory: Memory) -> Memory:
    found = memories.find(store.db, memory.id)
    assert found is not None
    return found


def test_a_newer_decision_replaces_the_older_which_says_by_what(store: Store) -> None:
    old = said(store, "Use Postgres 15 for the store", day(1))
    new = said(store, "Use Postgres 16 for the store", day(2))
    old = now(store, old)
    assert (old.status, old.superseded_by) == ("superseded", new.id)
    assert new.status == "active"
    assert [one.id for one in retirements.replaced_by(store.db, [new.id])] == [old.id]


def test_what_is_older_by_date_replaces_nothing_however_late_it_arrives(store: Store) -> None:
    new = said(store, "Use pnpm", day(5))
    old = said(store, "Use npm", day(1))
    assert (old.status, old.superseded_by) == ("superseded", new.id)
    assert now(store, new).status == "active"


def test_a_chain_that_goes_back_to_where_it_began_has_no_circle(store: Store) -> None:
    first = said(store, "Use npm", day(1))
    second = said(store, "Use pnpm", day(2))
    third = said(store, "Back to npm", day(3))
    again = said(store, "Use npm", day(4))
    assert now(store, first).superseded_by == second.id
    assert now(store, second).superseded_by == third.id
    assert (now(store, third).status, now(store, again).status) == ("active", "active")
    assert again.id != first.id


def test_in_another_scope_both_hold(store: Store) -> None:
    everywhere = said(store, "Use npm", day(1), scope="universal")
    said(store, "Use pnpm", day(2))
    assert now(store, everywhere).status == "active"


def test_what_was_done_is_replaced_by_nothing(store: Store) -> None:
    done = said(store, "Switch from npm to pnpm", day(1), kind="change")
    said(store, "Switch from pnpm to npm", day(2), kind="change")
    assert now(store, done).status == "active"


def test_only_the_users_word_replaces_the_users_word(store: Store) -> None:
    stated = said(store, "Use pnpm", day(1), origin="user", kind="preference")
    guessed = said(store, "Use npm", day(2))
    assert (now(store, stated).status, now(store, guessed).status) == ("active", "active")
    assert memory_links.of(store.db, [stated.id]) == {stated.id: (guessed.id,)}
    restated = said(store, "Use npm", day(3), origin="user", kind="correction")
    assert now(store, stated).superseded_by == restated.id


def test_what_is_pinned_is_contradicted_and_not_replaced(store: Store) -> None:
    pinned = said(store, "Use pnpm", day(1), pinned=True, origin="user")
    other = said(store, "Use npm", day(2), origin="user")
    assert now(store, pinned).status == "active"
    assert memory_links.of(store.db, [pinned.id, other.id]) == {pinned.id: (other.id,), other.id: (pinned.id,)}


def test_two_of_the_same_moment_contradict_each_other_until_one_is_retired(store: Store) -> None:
    one = said(store, "Store sessions in Redis", day(1))
    other = said(store, "Store sessions in Postgres", day(1))
    assert memory_links.of(store.db, [one.id, other.id]) == {one.id: (other.id,), other.id: (one.id,)}
    with atomic(store.db):
        retirements.retire(store.db, other.id, "user", "wrong", NOW)
    assert memory_links.of(store.db, [one.id, other.id]) == {}


def test_what_pages_and_foreign_tools_say_replaces_nothing(store: Store) -> None:
    held = said(store, "Use pnpm", day(1))
    said(store, "Use npm", day(2), origin="web")
    assert now(store, held).status == "active"
    assert memory_links.of(store.db, [held.id]) == {}


def test_settling_twice_changes_nothing(store: Store) -> None:
    old = said(store, "Use npm", day(1))
    new = said(store, "Use pnpm", day(2), turn="t2")
    before = [now(store, old), now(store, new)]
    said(store, "Use pnpm", day(2), turn="t2")
    assert [now(store, old), now(store, new)] == before


def test_what_replaced_a_memory_that_was_forgotten_replaces_what_that_had_replaced(store: Store) -> None:
    first = said(store, "Use npm", day(1))
    second = said(store, "Use pnpm", day(2))
    third = said(store, "Use yarn", day(3))
    with atomic(store.db):
        memories.remove(store.db, [second.id], NOW)
    assert now(store, first).superseded_by == third.id
    with atomic(store.db):
        memories.remove(store.db, [third.id], NOW)
    assert (now(store, first).status, now(store, first).superseded_by) == ("superseded", None)


def test_a_contradiction_that_is_forgotten_leaves_no_trace(store: Store) -> None:
    one = said(store, "Store sessions in Redis", day(1))
    other = said(store, "Store sessions in Postgres", day(1))
    with atomic(store.db):
        memories.remove(store.db, [other.id], NOW)
    assert store.db.execute("select count(*) from conflicts").fetchone()[0] == 0
    assert now(store, one).status == "active"


def test_a_failure_while_settling_loses_nothing_that_was_stored(store: Store) -> None:
    broken = said(store, "Use npm", day(1))
    with atomic(store.db):
        store.db.execute("update memories set created_at = 'never' where id = ?", (broken.id,))
    made = store.remember("Use pnpm", kind="decision")
    with atomic(store.db):
        remember.reconcile(store.db, made, "t1", NOW)
    assert now(store, made) == made


def test_what_a_clock_that_was_ahead_dated_is_as_old_as_when_it_was_stored(store: Store) -> None:
    ahead = said(store, "Use npm", NOW + timedelta(days=400), kind="rule", origin="user")
    store.db.execute("update memories set stored_at = ? where id = ?", (time_to_text(day(1)), ahead.id))
    today = said(store, "Use pnpm", day(2), kind="rule", origin="user")
    assert today.status == "active"
    assert now(store, ahead).superseded_by == today.id


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Keep config in YAML", "Keep config in TOML"),
        ("Prices are stored as floats", "Prices are stored as integer cents"),
        ("Keep the CLI in Go", "Rewrite the CLI in Rust"),
        ("We deploy to Heroku", "We deploy to Fly.io"),
        ("Log in JSON", "Log in plain text"),
        ("Deploy with Docker Compose", "Deploy with Kubernetes instead of Docker Compose"),
    ],
)
def test_another_way_of_doing_the_same_is_found_and_replaces_the_older(store: Store, older: str, newer: str) -> None:
    old = said(store, older, day(1))
    new = said(store, newer, day(2))
    assert now(store, old).superseded_by == new.id


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Migrations run at start", "Migrations don't run at start"),
        ("Lint before tests", "Tests before lint"),
        ("The test database listens on port 5433", "The test database listens on port 5434"),
    ],
)
def test_a_contradiction_without_a_claim_is_found_among_many_like_it(store: Store, older: str, newer: str) -> None:
    first = said(store, older, day(1))
    for number in range(5):
        said(store, f"Lint, tests, database and migrations of part {number}", day(2))
    second = said(store, newer, day(3))
    assert now(store, first).superseded_by == second.id
