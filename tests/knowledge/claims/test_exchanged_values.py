"""Rules that are the same but for one word: which replace each other, which conflict, and which hold together."""

from datetime import timedelta

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import remember
from claude_mem_lite.knowledge.claims.supersession import effect_of_exchange
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, memory_links
from tests.support.fakes import NOW, Store


@pytest.mark.parametrize(
    ("said", "older"),
    [
        ("From now on write release notes in American spelling", "Write release notes in British spelling"),
        ("Going forward, name feature branches in lower case", "Name feature branches in upper case"),
        ("From now on prefer detailed commit messages", "Prefer short commit messages"),
        ("From now on use relative imports in tests", "Use absolute imports in tests"),
        ("Run the linter before each commit instead", "Run the formatter before each commit"),
        ("Write release notes in American spelling, not British", "Write release notes in British spelling"),
        ("Prefer rounded page corners instead of square", "Prefer square page corners"),
    ],
)
def test_a_rule_that_says_that_things_change_replaces_the_older(said: str, older: str) -> None:
    assert effect_of_exchange(said, older, said) == "replaces"


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Write release notes in American spelling", "Write release notes in British spelling"),
        ("Prefer detailed commit messages", "Prefer short commit messages"),
        ("From now on write the user guide in asciidoc", "Write the user guide in markdown"),
        ("From now on use ruff for Python files", "Use mypy for Python files"),
    ],
)
def test_what_may_be_a_change_is_a_conflict(newer: str, older: str) -> None:
    assert effect_of_exchange(newer, older, newer) == "conflicts"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm in web/", "Use npm in api/"),
        ("From now on run lint before every commit", "Run tests before every commit"),
        ("Use mypy for Python files", "Use ruff for Python files"),
        ("From now on keep functions short in handlers", "Keep functions short in tests"),
        ("From now on write unit tests in tests/unit", "Write unit tests in pytest"),
        ("From now on use tabs", "Use Redis"),
        ("Write migrations with tests", "Write migrations with comments"),
        ("Never write release notes in American spelling", "Write release notes in British spelling"),
        ("From now on document public functions", "Document public classes"),
        ("Prefer rounded page corners, not shadows", "Prefer square page corners"),
        ("Write release notes in British spelling", "Write release notes in British spelling"),
    ],
)
def test_what_is_another_rule_holds_beside_the_first(one: str, other: str) -> None:
    assert effect_of_exchange(one, other, one) == "neither"
    assert effect_of_exchange(other, one, other) == "neither"


def rule(store: Store, value: str, days: int, **more: object) -> Memory:
    """Store a rule of the user and settle it, as the worker does."""
    title, at = f"Write release notes in {value} spelling", NOW - timedelta(days=days)
    given = {"kind": "preference", "origin": "user", "detail": f'The user said: "From now on {title}"', **more}
    made = store.remember(title, turn=f"{value} {days}", created_at=at, last_seen_at=at, **given)  # type: ignore[arg-type]
    with atomic(store.db):
        remember.reconcile(store.db, made, f"{value} {days}", NOW)
    return made


def status(store: Store, memory: Memory) -> tuple[str, str | None]:
    found = memories.find(store.db, memory.id)
    assert found is not None
    return found.status, found.superseded_by


def test_the_newer_rule_replaces_the_older_and_back_again(store: Store) -> None:
    british = rule(store, "British", 9)
    american = rule(store, "American", 5)
    assert status(store, british) == ("superseded", american.id)
    again = rule(store, "British", 1)
    assert status(store, american) == ("superseded", again.id)
    assert status(store, again) == ("active", None)


def test_an_older_rule_that_arrives_late_is_replaced(store: Store) -> None:
    american = rule(store, "American", 5)
    british = rule(store, "British", 9)
    assert status(store, british) == ("superseded", american.id)


def test_what_is_pinned_or_of_another_origin_or_scope_is_not_replaced(store: Store) -> None:
    pinned = rule(store, "British", 9, pinned=True)
    agents = rule(store, "Canadian", 9, origin="assistant")
    elsewhere = rule(store, "Irish", 9, scope="universal")
    american = rule(store, "American", 5)
    assert [status(store, one)[0] for one in (pinned, agents, elsewhere)] == ["active"] * 3
    assert memory_links.of(store.db, [american.id]) == {american.id: (pinned.id,)}
