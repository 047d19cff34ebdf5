"""Memories without use sink in the start context until they are silent, and return when seen again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.layers.sessions import UNUSED
from claude_mem_lite.context.presets import BY_CODES, BY_LAYERS
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Memory, Receipt, ReceiptItem, SessionSummary
from claude_mem_lite.search_values import Filters, Hit
from claude_mem_lite.store import memories, receipts
from tests.context.layers.test_code_changes import Seen, change, section, work
from tests.support.fakes import NOW, SHOP, Store

HERE = ContextRequest(SHOP, NOW, explained=True)


def ignored(store: Store, source: str, times: int) -> None:
    """Something was given to so many sessions, and none had use for it."""
    with atomic(store.db):
        for number in range(times):
            item = ReceiptItem(source, "project", "holds in project", 20, outcome="ignored")
            name, session = f"r-{source}-{number}", f"g{number}"
            receipts.add(
                store.db, Receipt(name, session, SHOP.project, "startup", (item,), (), (), 20, 2000, 1.0, NOW, NOW)
            )


def sources(built: Context, layer: str) -> list[str]:
    return [one.item.source for one in built.chosen if one.layer == layer]


def why_not(built: Context, source: str) -> set[str]:
    return {one.item.left_out for one in built.left_out if one.item.source == source}


def seen_again(store: Store, memory: Memory) -> None:
    with atomic(store.db):
        memories.rewrite(store.db, replace(memory, last_seen_at=NOW + timedelta(minutes=1)))


def test_knowledge_that_nobody_used_falls_silent_and_comes_back_when_it_is_seen_again(store: Store) -> None:
    known = store.remember("Keep carts in SQLite", kind="decision")
    ignored(store, known.id, 19)
    assert sources(build(store.connect, HERE, 2000, BY_CODES), "project") == [known.id]
    ignored(store, known.id, 20)
    built = build(store.connect, HERE, 2000, BY_CODES)
    assert (sources(built, "project"), why_not(built, known.id)) == ([], {UNUSED})
    seen_again(store, known)
    assert sources(build(store.connect, HERE, 2000, BY_CODES), "project") == [known.id]


def test_knowledge_that_is_ignored_sinks_among_its_like(store: Store) -> None:
    sinking = store.remember("Keep carts in SQLite", kind="decision")
    other = store.remember("Totals are in cents", kind="decision", last_seen_at=NOW - timedelta(days=10))
    assert sources(build(store.connect, HERE, 2000, BY_CODES), "project") == [sinking.id, other.id]
    ignored(store, sinking.id, 14)
    built = build(store.connect, HERE, 2000, BY_CODES)
    assert sources(built, "project") == [other.id, sinking.id]
    score = next(one.item.score for one in built.chosen if one.item.source == sinking.id)
    assert score is not None
    assert "; placed by 0.8848 × use 0.4138 = 0.3661; the floor of the layer is 0.7" in score.explained(0.7)


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "stated"])
def test_what_the_user_stated_or_pinned_never_falls_silent(store: Store, pinned: bool) -> None:
    origin = "assistant" if pinned else "user"
    known = store.remember("Keep carts in SQLite", kind="decision", origin=origin, pinned=pinned)
    ignored(store, known.id, 60)
    assert sources(build(store.connect, HERE, 2000), "project") == [known.id]


@pytest.mark.parametrize("found", [True, False], ids=["found", "newest"])
def test_work_that_nobody_used_sinks_and_falls_silent(store: Store, found: bool) -> None:
    first, second = (store.remember(f"Teach the {name} to count", kind="feature") for name in ("quokka", "flamingo"))

    def search(db: object, query: str, filters: Filters, now: object, limit: int) -> list[Hit]:
        return [Hit(first, 1.0, ()), Hit(second, 0.9, ())] if found else []

    store.session("s1", SessionSummary(headline="Some work"))
    here = replace(HERE, search=search)
    if found:
        assert sources(build(store.connect, here, 2000, BY_LAYERS), "observations") == [first.id, second.id]
        ignored(store, first.id, 12)
        assert sources(build(store.connect, here, 2000, BY_LAYERS), "observations") == [second.id, first.id]
    ignored(store, first.id, 20)
    built = build(store.connect, here, 2000, BY_LAYERS)
    assert (sources(built, "observations"), why_not(built, first.id)) == ([second.id], {UNUSED})


def test_a_session_that_nobody_used_is_left_out_of_the_list_but_not_of_where_work_stopped(store: Store) -> None:
    store.session("s1", SessionSummary(headline="Old work"), at=NOW - timedelta(hours=9))
    store.session("s2", SessionSummary(headline="Some work", next_steps=("Mend the lid",)))
    for one in ("s1", "s2"):
        ignored(store, one, 7)
    assert sources(build(store.connect, HERE, 2000), "sessions") == ["s2", "s1"]
    for one in ("s1", "s2"):
        ignored(store, one, 8)
    built = build(store.connect, HERE, 2000)
    assert sources(built, "sessions") == []
    assert set(sources(built, "handoff")) == {"s2"}
    store.session("s1", SessionSummary(headline="Old work"), at=NOW + timedelta(minutes=1))
    assert sources(build(store.connect, HERE, 2000), "sessions") == ["s1"]


def test_code_of_a_session_that_nobody_used_is_left_out(store: Store) -> None:
    work(store, "s1", change("refresh"), left_open="Refresh all tokens")
    work(store, "s2", change("issue"), hours=3, left_open="Issue all tokens")
    ignored(store, "s1", 8)
    text = build(store.connect, ContextRequest(SHOP, NOW, checkout=Seen()), 2000).text
    assert section(text, "Code left unfinished or decided on") == ["- src/auth.py: def issue(token)  [MODIFIED]"]
    text = build(store.connect, ContextRequest(SHOP, NOW, checkout=Seen()), 2000, BY_LAYERS).text
    assert section(text, "Functions that the last sessions worked on") == [
        "- src/auth.py",
        "  - def issue(token)  [MODIFIED]",
    ]
