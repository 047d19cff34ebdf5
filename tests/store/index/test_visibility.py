"""Rows of branches whose work is not in the checkout are left out, but for what was merged before."""

from datetime import timedelta

from claude_mem_lite.store import memories
from tests.support.fakes import NOW, SHOP, Store


def test_what_was_made_on_a_hidden_branch_is_left_out_and_what_was_merged_before_is_not(store: Store) -> None:
    early, late = NOW - timedelta(days=2), NOW
    store.remember("made on main", branch="main")
    store.remember("merged in time", branch="feature/a", created_at=early)
    store.remember("made after the merge", branch="feature/a", created_at=late)
    store.remember("never merged", branch="feature/b")

    def titles(*hidden: tuple[str, object]) -> set[str]:
        found = memories.newest(store.db, project=SHOP.project, kinds=("bugfix",), hidden=hidden, limit=10)  # type: ignore[arg-type]
        return {memory.title for memory in found}

    assert titles() == {"made on main", "merged in time", "made after the merge", "never merged"}
    assert titles(("feature/a", NOW - timedelta(days=1)), ("feature/b", None)) == {"made on main", "merged in time"}


def test_what_the_user_said_holds_whatever_branch_it_was_said_on(store: Store) -> None:
    store.remember("said on a branch", branch="feature/b", origin="user")
    store.remember("pinned on a branch", branch="feature/b", pinned=True)
    found = memories.newest(store.db, project=SHOP.project, kinds=("bugfix",), hidden=[("feature/b", None)], limit=10)
    assert {memory.title for memory in found} == {"said on a branch", "pinned on a branch"}


def test_a_thousand_branches_are_not_too_many(store: Store) -> None:
    store.remember("made on main", branch="main")
    hidden = [(f"feature/{number}", NOW if number % 2 else None) for number in range(1_500)]
    for number in (0, 499, 500, 1_001, 1_498, 1_499):
        store.remember(f"made on {number}", branch=f"feature/{number}", created_at=NOW + timedelta(days=1))
    store.remember("merged in time", branch="feature/1499", created_at=NOW)
    found = memories.newest(store.db, project=SHOP.project, kinds=("bugfix",), hidden=hidden, limit=10)
    assert {memory.title for memory in found} == {"made on main", "merged in time"}
