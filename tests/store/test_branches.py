"""What becomes of memories when their branch is found to be gone, merged or back."""

from datetime import timedelta

from claude_mem_lite.code.freshness.branch_visibility import BranchFindings, store_branches
from claude_mem_lite.store import memories
from claude_mem_lite.store.branches import Branch, is_hidden, of_project
from tests.support.fakes import NOW, SHOP, Store

MERGED_AT = NOW - timedelta(days=1)


def row(merged: bool, gone: bool) -> Branch:
    return Branch("next", "a" * 40, True, NOW, MERGED_AT if merged else None, NOW if gone else None)


def statuses(store: Store, *ids: str) -> list[str]:
    return [memories.get(store.db, id_).status for id_ in ids]


def test_of_a_branch_that_is_gone_only_what_was_made_after_its_merge_is_retired_and_comes_back_with_it(
    store: Store,
) -> None:
    before = store.remember("Freeze the clock", branch="next", created_at=MERGED_AT - timedelta(hours=1)).id
    after = store.remember("Mend the login", branch="next", created_at=MERGED_AT + timedelta(hours=1)).id
    other = store.remember("Paint the buttons", branch="main", created_at=NOW).id

    assert store_branches(
        store.db, SHOP.project, BranchFindings(rows=(row(merged=True, gone=True),), gone=("next",)), NOW
    )
    assert statuses(store, before, after, other) == ["active", "retired", "active"]
    assert [one.gone_at for one in of_project(store.db, SHOP.project)] == [NOW]

    back = BranchFindings(rows=(row(merged=True, gone=False),), came_back=("next",))
    assert store_branches(store.db, SHOP.project, back, NOW)
    assert statuses(store, before, after, other) == ["active"] * 3
    assert not store_branches(store.db, SHOP.project, back, NOW), "nothing is left to be changed"


def test_what_was_made_up_to_a_merge_is_not_hidden() -> None:
    hidden = [("next", MERGED_AT), ("spike", None)]
    assert not is_hidden("next", MERGED_AT, hidden)
    assert is_hidden("next", MERGED_AT + timedelta(seconds=1), hidden)
    assert is_hidden("spike", NOW - timedelta(days=900), hidden)
    assert not is_hidden("main", NOW, hidden)
