"""Memories of this device alone, among those of teammates."""

import pytest

from claude_mem_lite.models import Kind
from claude_mem_lite.store import own_memories, retirements
from tests.support.fakes import NOW, SHOP, Store

SCOPE = f"project:{SHOP.project}"


def titles(store: Store, word: str, kind: Kind = "decision", limit: int = 10) -> list[str]:
    return [memory.title for memory in own_memories.beginning_with(store.db, SCOPE, kind, word, limit)]


@pytest.mark.parametrize(("kind", "is_there"), [("decision", True), ("rule", False)])
def test_own_memories_are_told_from_those_of_teammates(store: Store, kind: Kind, is_there: bool) -> None:
    store.remember("Use npm", kind="rule", origin="team")
    store.remember("Use pnpm", kind="decision")
    assert own_memories.has_any(store.db, SCOPE, [kind]) is is_there
    assert not own_memories.has_any(store.db, "universal", [kind])


def test_titles_begin_with_the_whole_word_in_any_case(store: Store) -> None:
    for title in ("Use pnpm", "USE", "Used pnpm", "Use-case of pnpm", "use yarn", "Do use"):
        store.remember(title, kind="decision")
    store.remember("Use npm", kind="decision", origin="team")
    store.remember("Use npm", kind="gotcha")
    assert titles(store, "use") == ["Use pnpm", "USE", "use yarn"]
    assert titles(store, "use", limit=1) == ["Use pnpm"]


def test_only_memories_that_hold_or_that_the_user_ended_count(store: Store) -> None:
    for status in ("superseded", "quarantined", "retired"):
        store.remember(f"Use {status}", kind="decision", status=status)
    ended = store.remember("Use npm", kind="decision")
    retirements.retire(store.db, ended.id, "user", "it is old", NOW)
    assert titles(store, "use") == ["Use npm"]
