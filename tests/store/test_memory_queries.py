"""Memories by filters alone, newest first."""

import itertools
from collections.abc import Iterator
from datetime import timedelta

import pytest

from claude_mem_lite.models import Kind, Location, Memory, Status
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store.memory_queries import listed
from tests.support.fakes import NOW, SHOP, Store

OTHER = Location(project="example.org/me/other", name="other", root="/nowhere/other")


def titles(store: Store, filters: Filters, limit: int = 50) -> list[str]:
    return [memory.title for memory in listed(store.db, filters, limit)]


def test_the_newest_come_first_and_no_more_than_asked_for(store: Store) -> None:
    for day in (3, 1, 2):
        store.remember(f"Of day {day}", created_at=NOW + timedelta(days=day))
    assert titles(store, Filters()) == ["Of day 3", "Of day 2", "Of day 1"]
    assert titles(store, Filters(project=SHOP.project), limit=2) == ["Of day 3", "Of day 2"]


def test_a_project_is_its_own_and_what_holds_everywhere(store: Store) -> None:
    store.remember("Own")
    store.remember("Of another", place=OTHER)
    store.remember("Universal", place=OTHER, scope="universal")
    store.remember("Of a language", place=OTHER, scope="language:python")
    store.remember("Of a strange scope", place=OTHER, scope="zone:x")
    held = {"Own", "Universal", "Of a language", "Of a strange scope"}
    assert set(titles(store, Filters(project=SHOP.project))) == held
    assert set(titles(store, Filters())) == held | {"Of another"}
    assert titles(store, Filters(scope="universal")) == ["Universal"]
    assert titles(store, Filters(scope=f"project:{OTHER.project}")) == ["Of another"]


@pytest.mark.parametrize("wanted", ["src/auth/jwt.py", "auth/jwt.py", "jwt.py", "/home/me/shop/src/auth/jwt.py"])
def test_what_is_known_about_a_file_is_found_by_its_path_or_the_end_of_it(store: Store, wanted: str) -> None:
    store.remember("About it", files=("README.md", "src/auth/jwt.py"))
    store.remember("About one of a similar name", files=("src/auth/my_jwt.py", "src/auth/jwt.pyi"))
    store.remember("About another in its folder", files=("src/auth/keys.py",))
    store.remember("Naming jwt.py in words", summary="src/auth/jwt.py is what it is about")
    assert titles(store, Filters(file=wanted)) == ["About it"]
    assert titles(store, Filters(project=SHOP.project, file=wanted)) == ["About it"]
    assert titles(store, Filters(project=OTHER.project, file=wanted)) == []


@pytest.mark.parametrize(
    "name",
    ["src/__init__.py", "Makefile", "src/übung_größe.py", "a b (1).txt", "src/getUserById.tsx", ".env", "日本.md"],
)
def test_any_name_of_a_file_is_found_by_itself(store: Store, name: str) -> None:
    store.remember("About it", files=(name,))
    assert titles(store, Filters(file=name)) == ["About it"]


def test_what_is_known_about_a_file_is_complete_while_the_index_is_being_made(store: Store) -> None:
    store.remember("About it", files=("src/auth.py",))
    store.db.execute("delete from memories_fts")
    store.db.execute("insert or replace into unindexed (document, words) select 2 * seq, 1 from memories")
    assert titles(store, Filters(file="auth.py")) == ["About it"]
    assert titles(store, Filters(file="other.py")) == []


@pytest.mark.parametrize("name", ['"', "*", 'a"b', "x\x00y", "/", "...", "\udce9", "NOT", "files : x"])
def test_any_text_is_a_safe_name_of_a_file(store: Store, name: str) -> None:
    store.remember("About another", files=("src/auth.py",))
    assert titles(store, Filters(file=name)) == []


def test_every_filter_alone_and_together_lists_what_fits_it(store: Store) -> None:
    made = [
        store.remember(
            f"Unlike any other {number}",
            place=location,
            kind=kind,
            branch=branch,
            scope=scope or f"project:{location.project}",
            status=status,
            created_at=NOW + timedelta(days=day, seconds=number),
        )
        for number, (location, kind, branch, scope, status, day) in enumerate(
            itertools.product(
                (SHOP, OTHER), ("bugfix", "rule"), ("main", "next"), ("", "universal"), ("active", "retired"), (1, 5)
            )
        )
    ]
    newest_first = sorted(made, key=lambda memory: memory.created_at, reverse=True)
    assert len({memory.id for memory in made}) == 64
    for filters in _many_filters():
        expected = [memory.id for memory in newest_first if _fits(memory, filters)]
        assert [one.id for one in listed(store.db, filters, 100)] == expected, filters
        assert [one.id for one in listed(store.db, filters, 3)] == expected[:3], filters


def test_what_is_empty_asks_for_nothing(store: Store) -> None:
    store.remember("Of the shop")
    store.remember("Of another", place=OTHER, status="retired")
    nothing = Filters(project="", scope="", file="", branch="", statuses=())
    assert set(titles(store, nothing)) == {"Of the shop", "Of another"}


def _many_filters() -> Iterator[Filters]:
    moment = NOW + timedelta(days=3)
    kinds: tuple[tuple[Kind, ...], ...] = ((), ("rule",))
    statuses: tuple[tuple[Status, ...], ...] = ((), ("active",), ("active", "retired"))
    scopes = (None, "universal", f"project:{SHOP.project}")
    for project, scope, branch, (since, until) in itertools.product(
        (None, SHOP.project), scopes, (None, "main"), ((None, None), (moment, None), (None, moment))
    ):
        for wanted, states in itertools.product(kinds, statuses):
            yield Filters(project, wanted, scope, None, branch, since, until, states)


def _fits(memory: Memory, filters: Filters) -> bool:
    return (
        (filters.project is None or memory.scope in (f"project:{filters.project}", "universal"))
        and (not filters.kinds or memory.kind in filters.kinds)
        and (filters.scope is None or memory.scope == filters.scope)
        and (filters.branch is None or memory.branch == filters.branch)
        and (filters.since is None or memory.created_at >= filters.since)
        and (filters.until is None or memory.created_at <= filters.until)
        and (not filters.statuses or memory.status in filters.statuses)
    )
