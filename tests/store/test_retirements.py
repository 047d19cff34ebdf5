"""Tests of `store/retirements.py` and `store/memory_queries.py`: memories retired by code or a branch come back
with the code or the branch, and no others."""

from datetime import timedelta
from typing import Any

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import forget
from claude_mem_lite.models import Status
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories, retirements
from claude_mem_lite.store.index import fts
from claude_mem_lite.store.retirements import Retired
from tests.support.fakes import NOW, SHOP, Store


def status(store: Store, id_: str) -> str:
    return memories.get(store.db, id_).status


def found(store: Store, *statuses: Status) -> list[int]:
    return [seq for seq, _ in fts.search(store.db, ["clock"], Filters(statuses=statuses), 10)]


def test_a_memory_is_retired_with_its_reason_and_found_only_among_the_retired(store: Store) -> None:
    made = store.remember("Freeze the clock")
    assert retirements.retire(store.db, made.id, "code", "clock.py is gone", NOW)
    assert status(store, made.id) == "retired"
    why = retirements.of(store.db, [made.id, "nobody"])
    assert {id_: one.reason for id_, one in why.items()} == {made.id: "clock.py is gone"}
    assert (found(store, "active"), found(store, "retired")) == ([], [1])


def test_what_is_back_is_active_and_found_again(store: Store) -> None:
    made = store.remember("Freeze the clock")
    retirements.retire(store.db, made.id, "code", "clock.py is gone", NOW)
    assert retirements.revive(store.db, made.id)
    assert memories.get(store.db, made.id) == made
    why = retirements.of(store.db, [made.id])
    assert {id_: one.reason for id_, one in why.items()} == {}
    assert (found(store, "active"), found(store, "retired")) == ([1], [])


def test_what_was_retired_otherwise_is_never_revived(store: Store) -> None:
    made = store.remember("Freeze the clock")
    memories.retire(store.db, made.id)
    assert not retirements.revive(store.db, made.id)
    assert status(store, made.id) == "retired"


def test_what_is_retired_for_good_after_code_did_stays_retired(store: Store) -> None:
    made = store.remember("Freeze the clock")
    retirements.retire(store.db, made.id, "code", "clock.py is gone", NOW)
    memories.retire(store.db, made.id)
    assert not retirements.revive(store.db, made.id)
    assert status(store, made.id) == "retired"


@pytest.mark.parametrize("other", ["superseded", "quarantined", "retired"])
def test_only_active_memories_are_retired(store: Store, other: Status) -> None:
    made = store.remember("Freeze the clock", status=other)
    assert not retirements.retire(store.db, made.id, "code", "clock.py is gone", NOW)
    assert status(store, made.id) == other
    assert not retirements.revive(store.db, made.id)
    assert status(store, made.id) == other


def test_what_was_superseded_meanwhile_is_not_revived(store: Store) -> None:
    made = store.remember("Freeze the clock")
    retirements.retire(store.db, made.id, "code", "clock.py is gone", NOW)
    store.db.execute("update memories set status = 'superseded'")
    assert not retirements.revive(store.db, made.id)
    assert status(store, made.id) == "superseded"


def test_a_forgotten_memory_leaves_no_reason_behind(store: Store) -> None:
    made = store.remember("Freeze the clock")
    retirements.retire(store.db, made.id, "code", "clock.py is gone", NOW)
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    assert store.db.execute("select count(*) from retirements").fetchone()[0] == 0


def test_the_retired_of_a_project_are_listed_the_last_first(store: Store) -> None:
    made = [store.remember(f"Matter {number * 7919}") for number in range(3)]
    for hour, memory in enumerate(made):
        retirements.retire(store.db, memory.id, "code", f"reason {hour}", NOW + timedelta(hours=hour))
    memories.retire(store.db, store.remember("Retired by somebody").id)
    last = [Retired(3, made[2].id, "code", "reason 2"), Retired(2, made[1].id, "code", "reason 1")]
    assert retirements.of_project(store.db, SHOP.project, limit=2) == last
    assert retirements.of_project(store.db, "another", limit=2) == []


def test_memories_are_found_by_the_branch_they_were_retired_with(store: Store) -> None:
    made = [store.remember(f"Matter {number * 7919}") for number in range(3)]
    for memory, branch in zip(made, ("x", "xy"), strict=False):
        retirements.retire(store.db, memory.id, "branch", f"its branch {branch} is gone", NOW, branch)
    retirements.retire(store.db, made[2].id, "code", "x.py is gone", NOW)
    assert retirements.of_branch(store.db, SHOP.project, "x") == [made[0].id]
    assert retirements.of_branch(store.db, "another", "x") == []


def test_of_a_branch_what_was_made_after_it_was_merged_may_be_retired_but_not_what_the_user_holds_on_to(
    store: Store,
) -> None:
    before = store.remember("Freeze the clock", branch="next", created_at=NOW - timedelta(days=2))
    after = store.remember("Mend the login", branch="next", created_at=NOW)
    store.remember("Paint the buttons", branch="main", created_at=NOW)
    for held in ({"pinned": True}, {"origin": "user"}, {"scope": "universal"}, {"status": "superseded"}):
        more: dict[str, Any] = {"branch": "next", "created_at": NOW, **held}
        store.remember(f"Something that is {next(iter(held))}", **more)
    assert retirements.retirable(store.db, SHOP.project, "next", None) == [before.id, after.id]
    assert retirements.retirable(store.db, SHOP.project, "next", NOW - timedelta(days=1)) == [after.id]


def test_all_that_code_retired_is_read_by_pages_and_what_is_revived_meanwhile_hides_none(store: Store) -> None:
    made = [store.remember(f"Matter {number * 7919}") for number in range(7)]
    for hour, memory in enumerate(made):
        retirements.retire(store.db, memory.id, "code", "it is gone", NOW + timedelta(hours=hour // 3))
    retirements.retire(store.db, store.remember("Freeze the clock").id, "branch", "x is gone", NOW, "x")
    seen: list[int] = []
    for page in retirements.by_code(store.db, SHOP.project, page_size=2):
        assert len(page) <= 2
        seen += page
        retirements.revive(store.db, made[page[0] - 1].id)
    assert sorted(seen) == [1, 2, 3, 4, 5, 6, 7]
    assert seen[0] == 7, "the last retired comes first"
    left = retirements.newest_by_code(store.db, SHOP.project, 9)
    assert len(left) == 3
