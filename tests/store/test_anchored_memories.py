"""Memories that are tied to code, page by page, and the newest of a branch."""

from datetime import timedelta
from typing import Any

from claude_mem_lite.store import memories, memory_queries
from tests.support.fakes import NOW, SHOP, Store

TIED = ("error:abc", "code:aaaa:bbbb:src/files.py::load")


def pages(store: Store, limit: int) -> list[list[int]]:
    found: list[list[int]] = []
    spot = None
    while True:
        page = memory_queries.page(store.db, SHOP.project, spot, limit)
        found.append([row.seq for row in page.anchored])
        spot = page.end
        if spot is None:
            return found


def test_pages_hold_what_is_tied_to_code_among_so_many_newest_first(store: Store) -> None:
    for number in range(7):
        at = NOW - timedelta(days=1, hours=number // 2)  # some at the same moment
        tied = number in (0, 1, 4, 6)
        store.remember(f"Matter {number * 7919}", created_at=at, anchors=TIED if tied else ("error:abc",))
    assert pages(store, 3) == [[2, 1], [5], [7]]
    assert pages(store, 100) == [[2, 1, 5, 7]]
    first = memory_queries.page(store.db, SHOP.project, None, 1).anchored
    assert first == [memory_queries.AnchoredRow(2, "", NOW - timedelta(days=1), TIED)]


def test_a_page_names_the_branches_of_all_that_is_on_it(store: Store) -> None:
    for branch, anchors in (("main", TIED), ("next", ()), ("", TIED)):
        store.remember(f"Matter on {branch}", branch=branch, anchors=anchors)
    assert memory_queries.page(store.db, SHOP.project, None, 100).branches == {"main", "next"}


def test_only_active_memories_of_the_project_are_paged(store: Store) -> None:
    kept = store.remember("Keep the clock", anchors=TIED)
    memories.retire(store.db, store.remember("Freeze the clock", anchors=TIED).id)
    assert pages(store, 100) == [[1]]
    assert memory_queries.page(store.db, "another", None, 100) == memory_queries.AnchoredPage([], set(), None)
    assert memories.by_seq(store.db, [1])[1] == kept


def test_the_newest_of_a_branch_are_those_tied_to_code_the_retired_too(store: Store) -> None:
    def made(title: str, hours: int, **more: object) -> str:
        values: dict[str, Any] = {"created_at": NOW - timedelta(hours=hours), "branch": "next", "anchors": TIED, **more}
        return store.remember(title, **values).id

    first = made("Freeze the clock", 4)
    second = made("Mend the login", 3)
    memories.retire(store.db, second)
    made("Paint the buttons", 2, anchors=())
    made("Count the users", 1, branch="main")
    third = made("Rotate the keys", 0)
    found = memory_queries.newest_of_branch(store.db, SHOP.project, "next", 10)
    assert [memory.id for memory in found] == [third, second, first]
    assert len(memory_queries.newest_of_branch(store.db, SHOP.project, "next", 2)) == 2
