"""What a session knows: what reached it, what is on its way to it, and what it made itself."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Event, Receipt, ReceiptItem
from claude_mem_lite.store import receipts, session_context, sessions
from claude_mem_lite.store.memories import handoff_id
from claude_mem_lite.worker.answers.in_flight import InFlightInjections
from tests.support.fakes import NOW, SHOP, Store


def test_what_was_printed_counts_and_what_was_not_does_not(store: Store) -> None:
    give(store, "a", ["m1"], tokens=100)
    give(store, "b", ["m2"], tokens=50, is_printed=False)
    told = session_context.of_session(store.db, "s")
    assert told.ids == {"m1"}
    assert told.tokens("prompt") == 100


def test_ids_that_were_only_named_were_not_told(store: Store) -> None:
    give(store, "a", ["m1"], layer="ids")
    assert session_context.of_session(store.db, "s").ids == set()


def test_the_handoff_of_a_session_is_known_with_it(store: Store) -> None:
    give(store, "a", ["earlier"], layer="handoff", moment="startup")
    assert handoff_id("earlier") in session_context.of_session(store.db, "s").ids


def test_only_moments_of_need_share_the_budget(store: Store) -> None:
    way = InFlightInjections()
    for name, moment in (("a", "startup"), ("b", "prompt"), ("c", "failure"), ("d", "file"), ("e", "asked")):
        give(store, name, [name], tokens=100, moment=moment)
    known = way.known(store.db, "s")
    assert known.tokens == 300
    assert known.left(3000) == 2700
    assert known.left(200) == 0


def test_the_context_of_a_start_is_known_before_it_is_stored(store: Store) -> None:
    way = InFlightInjections()
    way.send("start", "s", ["m1"], NOW)
    known = way.known(store.db, "s")
    assert (known.ids, known.tokens) == (frozenset({"m1"}), 0)
    assert way.known(store.db, "other").ids == set()


def test_own_work_is_known_until_it_is_forgotten(store: Store) -> None:
    early = store.remember("Early", session="s", created_at=NOW - timedelta(hours=3))
    late = store.remember("Late", session="s", created_at=NOW - timedelta(hours=1))
    give(store, "a", ["m1"], at=NOW - timedelta(hours=4))
    assert session_context.of_session(store.db, "s").ids == {early.id, late.id, "m1"}
    compact(store, NOW - timedelta(hours=2))
    assert session_context.of_session(store.db, "s").ids == {late.id}


def test_what_is_on_its_way_is_known_and_counted_once_it_arrives(store: Store) -> None:
    way = InFlightInjections()
    assert way.claim("a", "s", ["m1"], 100, NOW, way.known(store.db, "s"))
    known = way.known(store.db, "s")
    assert (set(known.ids), known.tokens) == ({"m1"}, 100)
    way.note_printed("a")
    give(store, "a", ["m1"], tokens=100)
    known = way.known(store.db, "s")
    assert (set(known.ids), known.tokens) == ({"m1"}, 100)
    assert way.known(store.db, "another").ids == set()


def test_of_answers_made_side_by_side_one_is_sent(store: Store) -> None:
    way = InFlightInjections()
    known = way.known(store.db, "s")
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda n: way.claim(f"n{n}", "s", ["m1"], 10, NOW, known), range(8)))
    assert sent.count(True) == 1
    assert way.claim("z", "s", ["m2"], 10, NOW, way.known(store.db, "s"))


def test_a_compaction_forgets_what_was_on_its_way_before_it(store: Store) -> None:
    way = InFlightInjections()
    way.claim("a", "s", ["m1"], 100, NOW - timedelta(hours=3), way.known(store.db, "s"))
    way.note_file("s", "/shop/a.py", NOW - timedelta(hours=3))
    assert not way.is_new_file(store.db, "s", "/shop/a.py")
    compact(store, NOW - timedelta(hours=2))
    assert way.known(store.db, "s").ids == set()
    assert way.is_new_file(store.db, "s", "/shop/a.py")
    assert way.is_new_file(store.db, "other", "/shop/a.py")


def give(
    store: Store,
    name: str,
    ids: list[str],
    *,
    tokens: int = 10,
    moment: str = "prompt",
    layer: str = "decision",
    at: datetime = NOW - timedelta(hours=1),
    is_printed: bool = True,
) -> None:
    items = tuple(ReceiptItem(id_, layer, "", tokens) for id_ in ids)
    receipt = Receipt(name, "s", SHOP.project, moment, items, (layer,), (), tokens, 2000, 1.0, at)
    with atomic(store.db):
        receipts.add(store.db, receipt)
        if is_printed:
            receipts.mark_injected(store.db, name, at)


def compact(store: Store, at: datetime) -> None:
    with atomic(store.db):
        sessions.touch(store.db, Event("e", "PreCompact", "s", at, SHOP.root), SHOP)
        sessions.mark_compacted(store.db, "s", at)
