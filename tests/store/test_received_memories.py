"""Received memories by their files and by when they came."""

from datetime import timedelta
from typing import Any

from claude_mem_lite.models import Kind, Memory
from claude_mem_lite.store import received_memories
from tests.support.fakes import NOW, SHOP, Store

SCOPE = f"project:{SHOP.project}"
KINDS: tuple[Kind, ...] = ("bugfix",)


def received(store: Store, title: str, **more: Any) -> Memory:
    return store.remember(title, origin="team", author="Ana", session="", **more)


def about(store: Store, *files: str, limit: int = 10) -> set[str]:
    found = received_memories.about_files(store.db, SCOPE, KINDS, files, limit=limit)
    return {memory.id for memory in found}


def test_received_memories_are_found_by_any_of_their_files(store: Store) -> None:
    memory = received(store, "Fixed the clock", files=("a.py", "b.py"))
    received(store, "Fixed the totals", files=("c.py",))
    received(store, "Fixed the mails")
    assert about(store, "b.py", "z.py") == {memory.id}


def test_ones_own_and_other_kinds_are_not_found(store: Store) -> None:
    store.remember("Fixed the clock", files=("a.py",))
    received(store, "Keep the clock", kind="decision", files=("a.py",))
    assert about(store, "a.py") == set()


def test_work_of_hidden_branches_is_not_found(store: Store) -> None:
    received(store, "Fixed the clock", files=("a.py",), branch="side")
    found = received_memories.about_files(store.db, SCOPE, KINDS, ["a.py"], hidden=(("side", None),), limit=10)
    assert found == []


def test_the_surest_are_found_first(store: Store) -> None:
    received(store, "Fixed the clock", files=("a.py",), confidence=0.5)
    sure = received(store, "Fixed the totals", files=("a.py",), confidence=0.9)
    assert about(store, "a.py", limit=1) == {sure.id}


def test_what_came_since_a_time_is_told_by_when_it_was_stored_here(store: Store) -> None:
    earlier = received(store, "Fixed the clock", created_at=NOW - timedelta(days=2))
    memory = received(store, "Fixed the totals", created_at=NOW)
    found = received_memories.came_since(store.db, [earlier.id, memory.id], NOW - timedelta(days=1))
    assert found == {memory.id}
