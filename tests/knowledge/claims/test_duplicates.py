"""Tests of `knowledge/claims/duplicates.py`, `knowledge/claims/contradictions.py` and `text.py`: a
duplicate counts as a sighting, a different statement is stored beside the first."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import Memory, SymbolChange
from claude_mem_lite.store import memories, retirements
from tests.support.fakes import NOW, Store


def test_nearly_the_same_finding_is_one_memory_seen_twice(store: Store) -> None:
    told = "Checked on {}: it took {} s for {} rows, because pandas is loaded at start."
    first = store.remember("The import of the shop is slow", turn="t1", kind="discovery", summary=told.format(*_DAY_1))
    again = store.remember("The import of the shop is slow", turn="t2", kind="discovery", summary=told.format(*_DAY_2))
    assert again.id == first.id
    assert memories.get(store.db, first.id).times_seen == 2


_DAY_1 = ("2026-01-03", "1.1", "40,000")
_DAY_2 = ("2026-02-14", "1.3", "41,500")


def test_a_title_that_differs_in_a_word_is_found_by_its_rare_ones(store: Store) -> None:
    said = "The payment provider sends UTC, and local times are ambiguous for an hour every autumn."
    first = store.remember("Keep UTC timestamps in the ledger database", turn="t1", kind="decision", summary=said)
    again = store.remember("Keep UTC timestamps in our ledger database", turn="t2", kind="decision", summary=said)
    assert again.id == first.id


def test_a_sighting_adds_its_facts_files_and_anchors(store: Store) -> None:
    told: dict[str, Any] = {"kind": "discovery", "summary": "pandas is loaded at start."}
    first = store.remember("The import is slow", turn="t1", facts=("1.1 s",), files=("shop/__init__.py",), **told)
    store.remember("The import is slow", turn="t2", facts=("1.3 s",), anchors=("error:1",), detail="seen in CI", **told)
    known = memories.get(store.db, first.id)
    assert (known.facts, known.files, known.anchors) == (("1.1 s", "1.3 s"), ("shop/__init__.py",), ("error:1",))
    assert known.detail == "seen in CI"


def test_what_a_sighting_adds_can_be_searched_for(store: Store) -> None:
    told: dict[str, Any] = {"kind": "discovery", "summary": "pandas is loaded at start."}
    store.remember("The import is slow", turn="t1", **told)
    store.remember("The import is slow", turn="t2", facts=("numpy alone takes 0.4 s",), **told)
    match = "select rowid from memories_fts where memories_fts match 'numpy'"
    assert len(store.db.execute(match).fetchall()) == 1


def test_the_same_error_of_the_same_command_is_the_same_failure(store: Store) -> None:
    first = failing(store, "pytest tests fails: test_total: assert 3 == 4", "t1", "error:1")
    again = failing(store, "pytest tests fails: test_total: assert 7 == 8 (and more)", "t2", "error:1", "error:2")
    other = failing(store, "npm test fails: test_total: assert 3 == 4", "t3", "error:1")
    assert again.id == first.id
    assert other.id != first.id


def test_another_error_of_the_same_command_is_another_failure(store: Store) -> None:
    first = failing(store, "npm run build fails: src/a.ts: Type 'string' is wrong", "t1", "error:1")
    other = failing(store, "npm run build fails: src/b.ts: Type 'string' is wrong", "t2", "error:2")
    assert other.id != first.id


def failing(store: Store, title: str, turn: str, *anchors: str) -> Memory:
    summary = title.replace("fails", "failed")
    return store.remember(title, turn=turn, kind="failure", summary=summary, anchors=anchors, origin="command")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"files": ("src/a.py",)}, {"files": ("src/b.py",)}),
        ({"facts": ("src/a.py: changed (+3 -1)",)}, {"facts": ("src/a.py: changed (+4 -1)",)}),
        ({"symbols": (SymbolChange("a.py", "f", "new"),)}, {"symbols": (SymbolChange("a.py", "g", "new"),)}),
        ({"facts": ("Commit 1a2b3c4: Add tests",)}, {"facts": ("Commit 9f8e7d6: Add tests",)}),
        ({"summary": "Covers quotes."}, {"summary": "Covers comments."}),
        ({"kind": "feature"}, {"kind": "change"}),
        ({"scope": "universal"}, {}),
    ],
)
def test_work_under_the_same_title_is_work_of_its_own(store: Store, first: Any, second: Any) -> None:
    one = store.remember("Add tests for the parser", turn="t1", **{"kind": "change", **first})
    other = store.remember("Add tests for the parser", turn="t2", **{"kind": "change", **second})
    assert one.id != other.id


def test_the_same_turn_told_again_in_a_fork_of_its_session_is_counted(store: Store) -> None:
    told: dict[str, Any] = {"files": ("a.py",), "facts": ("a.py: changed (+3 -1)",), "prompt": "test the parser"}
    one = store.remember("Add tests for the parser", turn="t1", session="s1", **told)
    assert store.remember("Add tests for the parser", turn="t2", session="s2", **told).id == one.id


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("Cache exchange rates for an hour", "Do not cache exchange rates for an hour"),
        ("Keep part 3 in its own module", "Keep part 4 in its own module"),
        ("Choose parse_header for the first release", "Choose parse_body for the first release"),
        ("Use the old ledger for reports", "Drop the old ledger for reports"),
    ],
)
def test_decisions_that_differ_in_one_word_are_two(store: Store, title: str, other: str) -> None:
    summary = "Agreed upon with accounting, who need it before the end of the quarter to close the books."
    one = store.remember(title, turn="t1", kind="decision", summary=summary)
    assert store.remember(other, turn="t2", kind="decision", summary=summary).id != one.id


def test_a_denial_in_the_summary_tells_two_apart(store: Store) -> None:
    said = "Requests to the ledger are {}retried by the client when the gateway answers too late at night."
    one = store.remember("Ledger retries", turn="t1", kind="discovery", summary=said.format(""))
    assert store.remember("Ledger retries", turn="t2", kind="discovery", summary=said.format("not ")).id != one.id


@pytest.mark.parametrize("origin", ["web", "mcp", "user"])
def test_what_comes_from_elsewhere_is_not_joined_to_what_the_assistant_said(store: Store, origin: str) -> None:
    told: dict[str, Any] = {"kind": "discovery", "summary": "The timeout takes seconds."}
    one = store.remember("How the timeout is set", turn="t1", **told)
    assert store.remember("How the timeout is set", turn="t2", origin=origin, **told).id != one.id


def test_nothing_is_joined_that_would_not_fit(store: Store) -> None:
    told: dict[str, Any] = {"kind": "discovery", "summary": "pandas is loaded at start."}
    one = store.remember("The import is slow", turn="t1", facts=tuple(f"fact {n}" for n in range(12)), **told)
    assert store.remember("The import is slow", turn="t2", facts=("one more",), **told).id != one.id


def test_what_no_longer_holds_is_not_seen_again(store: Store) -> None:
    told: dict[str, Any] = {"kind": "discovery", "summary": "pandas is loaded at start."}
    one = store.remember("The import is slow", turn="t1", status="retired", **told)
    assert store.remember("The import is slow", turn="t2", **told).id != one.id


def test_a_memory_told_anew_keeps_its_id_and_its_day(store: Store) -> None:
    made = store.remember("Left open: Add checkout", kind="handoff", id="handoffxyz")
    told: dict[str, Any] = {"title": "Left open: Write docs", "summary": "Docs.", "created_at": NOW}
    memories.put(store.db, replace(made, last_seen_at=NOW, **told), "t2", NOW)
    known = memories.get(store.db, "handoffxyz")
    assert (known.title, known.created_at, known.last_seen_at) == ("Left open: Write docs", made.created_at, NOW)
    match = "select rowid from memories_fts where memories_fts match 'checkout'"
    assert store.db.execute(match).fetchall() == []


def test_a_memory_that_was_forgotten_is_not_told_anew(store: Store) -> None:
    made = store.remember("Left open: Add checkout", kind="handoff", id="handoffxyz")
    memories.remove(store.db, [made.id], NOW)
    memories.put(store.db, made, "t2", NOW)
    assert memories.count(store.db) == 0


def test_the_same_work_asked_for_in_other_words_is_seen_again(store: Store) -> None:
    told: dict[str, Any] = {"kind": "change", "files": ("shop/cart.py",), "facts": ("shop/cart.py: total() changed",)}
    first = store.remember("Sum Decimals in total()", turn="t1", summary="Floats rounded. Asked: Fix the sum.", **told)
    again = store.remember("Sum Decimals in total()", turn="t2", summary="Floats rounded. Asked: Once more.", **told)
    assert again.id == first.id


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Run migrations at start", "Don’t run migrations at start"),
        ("Run migrations at start", "Never: run migrations at start"),
        ("Use npm", "Never: use npm"),
        ("Use npm", "Never again use npm"),
    ],
)
def test_what_denies_is_never_the_same_however_it_is_written(store: Store, said: str, denied: str) -> None:
    more: dict[str, Any] = {"kind": "rule", "origin": "user", "made_by": "user"}
    first = store.remember(said, turn="t1", summary=said, **more)
    second = store.remember(denied, turn="t2", summary=denied, **more)
    assert second.id != first.id


def test_what_the_user_writes_more_fully_is_one_memory_with_the_fuller_words(store: Store) -> None:
    more: dict[str, Any] = {"kind": "preference", "origin": "user", "made_by": "user"}
    first = store.remember("use pnpm", turn="t1", summary="use pnpm", **more)
    again = store.remember("Use pnpm instead of npm", turn="t2", summary="Use pnpm instead of npm", **more)
    assert (again.id, again.times_seen, again.title) == (first.id, 2, "Use pnpm instead of npm")


def test_what_the_user_retired_comes_back_when_said_again_and_not_by_an_old_session(store: Store) -> None:
    more: dict[str, Any] = {"kind": "rule", "origin": "user"}
    first = store.remember("Never push on Fridays", turn="t1", summary="Never push on Fridays", **more)
    retirements.retire(store.db, first.id, "user", "not needed", NOW)
    old = store.remember("Never push on Fridays", turn="t2", summary="Never push on Fridays", **more)
    assert (old.id, old.status) == (first.id, "retired")
    again = store.remember(
        "Never push on Fridays",
        turn="t3",
        summary="Never push on Fridays",
        last_seen_at=NOW + timedelta(days=1),
        **more,
    )
    assert (again.id, again.status) == (first.id, "active")
    assert retirements.of(store.db, [first.id]) == {}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("We use npm, not pnpm", "Use pnpm, not npm"),
        ("I prefer tabs over spaces", "I prefer spaces over tabs"),
        ("Log to stdout, never to stderr", "Log to stderr, never to stdout"),
        ("Run lint before tests", "Run tests before lint"),
        ("Run lint before tests", "Run lint after tests"),
        ("Leave the request cache on in tests", "Leave the request cache off in tests"),
    ],
)
@pytest.mark.parametrize("kind", ["rule", "preference", "decision"])
def test_the_same_words_turned_around_are_no_sighting_but_the_users_newer_word(
    store: Store, first: str, then: str, kind: str
) -> None:
    earlier = NOW - timedelta(days=1)
    given: dict[str, Any] = {"kind": kind, "origin": "user"}
    old = store.remember(first, turn="t1", summary=first, created_at=earlier, last_seen_at=earlier, **given)
    new = store.remember(then, turn="t2", summary=then, created_at=NOW, last_seen_at=NOW, **given)
    assert new.id != old.id
    with atomic(store.db):
        remember.reconcile(store.db, new, "t2", NOW)
    replaced = memories.find(store.db, old.id)
    assert replaced is not None
    assert (replaced.status, replaced.superseded_by, replaced.times_seen) == ("superseded", new.id, 1)
