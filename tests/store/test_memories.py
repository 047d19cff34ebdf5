"""Memories and sessions in the store: once each, found by a prefix, forgotten for good."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.knowledge import correction_context, forget, remember
from claude_mem_lite.models import Event, Location, Receipt, SessionSummary, SymbolChange
from claude_mem_lite.store import memories, receipts, sessions, turns
from claude_mem_lite.store.projects import lookup
from tests.support.fakes import NOW, SHOP, Store


def test_a_memory_comes_back_with_every_field(store: Store) -> None:
    made = store.remember(
        "Keep all fields",
        detail="d",
        facts=("f1", "f2"),
        files=("a.py",),
        symbols=(SymbolChange("a.py", "load", "new"),),
        anchors=("x",),
        tags=("t",),
        branch="main",
        commit="abc",
        pinned=True,
        superseded_by="other",
        cost_usd=0.25,
    )
    assert memories.get(store.db, made.id) == made


def test_the_same_thing_in_another_turn_is_counted_not_stored_again(store: Store) -> None:
    first = store.remember("Freeze the clock", turn="t1")
    again = store.remember("Freeze the clock", turn="t2", last_seen_at=NOW)
    assert again.id == first.id
    assert memories.count(store.db) == 1
    assert (memories.get(store.db, first.id).times_seen, memories.get(store.db, first.id).last_seen_at) == (2, NOW)


def test_the_same_turn_delivered_twice_changes_nothing(store: Store) -> None:
    made = store.remember("Freeze the clock", turn="t1")
    store.remember("Freeze the clock", turn="t1")
    assert memories.get(store.db, made.id) == made


def test_a_memory_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    made = store.remember("Freeze the clock")
    assert memories.get(store.db, f"#{made.id[:6].upper()}") == made


def test_a_beginning_that_fits_several_ids_is_refused(store: Store) -> None:
    store.remember("One", id="aaaabbbbcc")
    store.remember("Two", id="aaaacccccc")
    with pytest.raises(Ambiguous):
        memories.get(store.db, "aaaa")


def test_what_holds_in_a_scope_is_read_in_order_not_sorted(store: Store) -> None:
    """Ten thousand memories of a project are not to be gone through for the best sixty."""
    asked: list[str] = []
    store.db.set_trace_callback(asked.append)
    memories.in_scope(store.db, f"project:{SHOP.project}", ("rule",), since=None, hidden=[("old", None)], limit=60)
    store.db.set_trace_callback(None)
    (question,) = (statement for statement in asked if "from memories" in statement)
    plan = [row["detail"] for row in store.db.execute(f"explain query plan {question}")]
    assert any("memories_by_scope (scope=? AND status=?)" in step for step in plan), plan
    assert sum("TEMP B-TREE FOR ORDER BY" in step for step in plan) == 1, "of the sixty"


@pytest.mark.parametrize("wanted", ["", "#", "zzzz", "%", "_"])
def test_an_id_nobody_has_is_not_found(store: Store, wanted: str) -> None:
    store.remember("Freeze the clock")
    with pytest.raises(NotFound):
        memories.get(store.db, wanted)


def test_forgetting_reaches_what_repeats_the_memory(store: Store, tmp_path: Path) -> None:
    secret = "The vault passphrase rotates every full moon"
    made = store.remember(secret, turn="t1", summary=f"{secret}.", facts=(secret,))
    sibling = store.remember("Add a cache", turn="t1", summary=f"A cache was added. {secret}.", detail=secret)
    store.session("s1", SessionSummary(headline=f"Add a cache; {secret}", learned=f"Caches help. {secret}."))
    with atomic(store.db):
        assert forget.forget(store.db, [made.id], [], NOW).turns == ["t1"]
    store.db.execute("pragma wal_checkpoint(truncate)")
    assert memories.get(store.db, sibling.id).summary == "A cache was added."
    told = sessions.find(store.db, "s1")
    assert told is not None
    assert (told.summary.headline, told.summary.learned) == ("Add a cache", "Caches help.")
    assert not any(b"passphrase" in path.read_bytes() for path in tmp_path.glob("memory.db*"))


def test_forgetting_reaches_every_session_that_saw_the_memory(store: Store) -> None:
    secret = "Ledger mismatch for customer Zanzibar"
    made = store.remember(secret, turn="t1", session="s1", summary=secret)
    store.remember(secret, turn="t2", session="s2", summary=secret)
    for session, turn in (("s1", "t1"), ("s2", "t2")):
        store.session(session, SessionSummary(headline=secret, request="Fix billing"))
        turns.add_turn(store.db, turn, Event(turn, "Stop", session, NOW), "Fix billing", secret)
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    assert {one.summary.headline for one in sessions.newest(store.db)} == {"Fix billing"}


def test_forgetting_reaches_what_other_sessions_said_about_it(store: Store) -> None:
    secret = "The vault passphrase rotates every full moon"
    made = store.remember(secret, turn="t1", summary=f"{secret}.")
    kept = "The cellar door is painted green."
    store.turn("t2", f"{kept} {secret}, you said.", f"Yes. {secret}!", session="s2")
    store.turn("t3", "Does the moon rotate?", "Every full moon does.", session="s2")
    store.session("s2", SessionSummary(headline="Paint the cellar", next_steps=(secret, "Paint the lid")))
    with atomic(store.db):
        assert forget.forget(store.db, [made.id], [], NOW).turns == ["t1", "t2"]
    assert turns.texts_of(store.db, "t2") == (kept, "Yes.", "", "")
    assert turns.texts_of(store.db, "t3") == ("Does the moon rotate?", "Every full moon does.", "", "")
    told = sessions.find(store.db, "s2")
    assert told is not None
    assert (told.summary.headline, told.summary.next_steps) == ("Paint the cellar", ("Paint the lid",))


@pytest.mark.parametrize(
    ("old", "new", "more"),
    [
        ("Keep prices as integer cents, not floats", "Keep prices as Decimal instead of integer cents", {}),
        ("The vault listens on port 7", "The vault listens on port 9", {"origin": "user"}),
        ("The vault listens on port 7", "The vault listens on port 9", {"made_by": "user"}),
    ],
)
def test_forgetting_leaves_what_it_had_replaced_when_that_says_something_else_or_is_the_users(
    store: Store, old: str, new: str, more: dict[str, Any]
) -> None:
    made = store.remember(new, turn="t2", kind="decision", summary=new)
    before = store.remember(
        old, turn="t1", kind="decision", summary=old, status="superseded", superseded_by=made.id, **more
    )
    with atomic(store.db):
        assert forget.forget(store.db, [made.id], [], NOW).memories == [made.id]
    left = memories.get(store.db, before.id)
    assert (left.title, left.status) == (old, "superseded")


def test_forgetting_counts_what_goes_along(store: Store) -> None:
    made = store.remember("The vault listens on port 9", turn="t2", kind="gotcha")
    older = store.remember(
        "The vault listens on port 7", turn="t1", kind="gotcha", status="superseded", superseded_by=made.id
    )
    with atomic(store.db):
        assert forget.forget(store.db, [made.id], [], NOW).memories == [made.id, older.id]


def versions_of(store: Store, *ports: int, **more: Any) -> list[str]:
    """One statement with one number after the other, each replaced by the next; the ids, the oldest first."""
    ids = [f"version{port:03d}" for port in ports]
    for id_, port, successor in zip(ids, ports, [*ids[1:], None], strict=True):
        status = "superseded" if successor else "active"
        title = f"The vault listens on port {port}"
        more_of = more if port == ports[1] else {}
        store.remember(title, turn=id_, id=id_, kind="gotcha", status=status, superseded_by=successor, **more_of)
    return ids


def test_forgetting_takes_every_older_version_along(store: Store) -> None:
    ids = versions_of(store, 5, 6, 7, 8)
    with atomic(store.db):
        assert forget.forget(store.db, [ids[-1]], [], NOW).memories == ids[::-1]
    assert memories.count(store.db) == 0


def test_forgetting_ends_at_a_version_that_is_the_users(store: Store) -> None:
    ids = versions_of(store, 5, 6, 7, 8, origin="user")
    with atomic(store.db):
        assert forget.forget(store.db, [ids[-1]], [], NOW).memories == ids[:1:-1]
    assert [memories.get(store.db, id_).superseded_by for id_ in ids[:2]] == [ids[1], None]


def test_forgetting_a_lesson_leaves_the_work_that_it_was_said_after(store: Store) -> None:
    work = "Make count handle None too"
    done = store.remember(work, turn="t1", files=("src/cart.py",))
    lesson = store.remember(
        "The staging vault is wiped every Sunday",
        turn="t2",
        kind="note",
        origin="user",
        summary="The staging vault is wiped every Sunday",
        detail=correction_context.line_after(done),
    )
    told = SessionSummary(
        headline=f"{work}; The staging vault is wiped every Sunday",
        completed="Made count handle None too. The total is rounded.",
        files_edited=("src/cart.py", "src/price.py"),
    )
    store.session("s1", told)
    with atomic(store.db):
        forget.forget(store.db, [lesson.id], [], NOW)
    left = sessions.find(store.db, "s1")
    assert left is not None
    assert left.summary == replace(told, headline=work)


def test_forgetting_leaves_the_files_that_other_turns_worked_on(store: Store) -> None:
    made = store.remember("Hide src vault py and src cellar py", turn="t1", files=("src/vault.py", "src/cellar.py"))
    store.remember("Add a lock", turn="t2", files=("src/vault.py",))
    store.session("s1", SessionSummary(headline="Add a lock", files_edited=("src/vault.py", "src/cellar.py")))
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    left = sessions.find(store.db, "s1")
    assert left is not None
    assert left.summary.files_edited == ("src/vault.py",)


def test_forgetting_leaves_another_memory_that_says_the_same_elsewhere(store: Store) -> None:
    location = Location("example.org/me/other", "other", "/nowhere/other")
    made = store.remember("Run the linter before every commit", turn="t1")
    other = store.remember("Run the linter before every commit", turn="t2", place=location)
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    assert memories.find(store.db, other.id) is not None


def test_forgetting_reaches_the_earlier_version_that_was_replaced(store: Store) -> None:
    made = store.remember("Keep the vault passphrase in safe 9", turn="t2")
    old = store.remember("Keep the vault passphrase in safe 7", turn="t1", status="superseded", superseded_by=made.id)
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    assert memories.find(store.db, old.id) is None


def test_the_same_words_under_another_id_are_known_as_forgotten_by_an_import_alone(store: Store) -> None:
    made = store.remember("Rotate the vault passphrase every full moon", turn="t1", kind="rule")
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    again = replace(made, id="another", title="rotate the VAULT passphrase, every full moon", summary="Told anew.")
    elsewhere = replace(made, id="elsewhere", scope="universal")
    taken = remember.import_memories(store.db, [remember.ImportedMemory(one, ()) for one in (again, elsewhere)], NOW)
    assert (taken.imported, taken.forgotten) == (1, 1)
    assert store.remember(made.title, turn="t9", kind="rule").title == made.title
    assert memories.count(store.db) == 2


def test_a_short_title_alone_keeps_nothing_out(store: Store) -> None:
    made = store.remember("Change basket.py", turn="t1")
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    other = replace(made, id="another", summary="Something else was changed there.")
    same = replace(made, id="again")
    taken = remember.import_memories(store.db, [remember.ImportedMemory(one, ()) for one in (other, same)], NOW)
    assert (taken.imported, taken.forgotten) == (1, 1)


def test_a_tombstone_holds_no_word_of_what_was_forgotten(store: Store) -> None:
    made = store.remember("Rotate the vault passphrase every full moon", turn="t1", kind="rule")
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    names = [row["memory"] for row in store.db.execute("select memory from tombstones")]
    assert sorted(name.partition(":")[0] for name in names) == sorted(["salt", "said", "said", made.id, "t1"])


def test_what_was_forgotten_does_not_come_back_with_its_turn(store: Store) -> None:
    made = store.remember("Freeze the clock", turn="t1")
    with atomic(store.db):
        forget.forget(store.db, [made.id], [], NOW)
    store.remember("Freeze the clock", turn="t1")
    assert memories.count(store.db) == 0


def test_forgetting_a_project_keeps_what_holds_everywhere(store: Store) -> None:
    store.remember("Only here")
    store.remember("Everywhere", scope="universal")
    assert len(memories.ids_of(store.db, project=SHOP.project)) == 1


def test_a_project_is_found_by_its_name_unless_two_have_it(store: Store) -> None:
    store.session("s1", SessionSummary())
    assert lookup.find(store.db, "shop") == SHOP.project
    store.session("s2", SessionSummary(), place=Location("/elsewhere/shop", "shop", "/elsewhere/shop"))
    assert lookup.find(store.db, SHOP.project) == SHOP.project
    with pytest.raises(Ambiguous, match="/elsewhere/shop"):
        lookup.find(store.db, "shop")
    with pytest.raises(NotFound):
        lookup.find(store.db, "nothing")


def test_a_session_keeps_the_project_it_began_in(store: Store) -> None:
    store.session("s1", SessionSummary())
    store.session("s1", SessionSummary(), place=Location("elsewhere", "elsewhere", "/elsewhere"), at=NOW)
    found = sessions.find(store.db, "s1")
    assert found is not None
    assert (found.project, found.last_event_at) == (SHOP.project, NOW)


def test_a_quiet_session_was_interrupted_and_is_active_again_when_it_goes_on(store: Store) -> None:
    store.session("s1", SessionSummary(), at=NOW - timedelta(days=2))
    assert sessions.interrupt_quiet(store.db, NOW - timedelta(days=1)) == 1
    assert [one.status for one in sessions.newest(store.db)] == ["interrupted"]
    store.session("s1", SessionSummary(), at=NOW)
    assert [one.status for one in sessions.newest(store.db)] == ["active"]


def test_a_turn_is_recorded_once(store: Store) -> None:
    event = Event("t1", "UserPromptSubmit", "s1", NOW)
    assert turns.add_turn(store.db, "t1", event, "Fix it", "Fixed") is True
    assert turns.add_turn(store.db, "t1", event, "Fix it", "Fixed") is False
    assert turns.last_prompt(store.db, "s1") == "Fix it"


def test_the_previous_message_is_the_last_one_of_the_session_or_the_last_before_a_time(store: Store) -> None:
    for minute, reply in enumerate(("I used npm.", "Shall I push?", "")):
        event = Event(f"t{minute}", "UserPromptSubmit", "s1", NOW + timedelta(minutes=minute))
        turns.add_turn(store.db, event.name, event, "Go on", reply)
    assert turns.previous_message(store.db, "s1") == "Shall I push?"
    assert turns.previous_message(store.db, "s1", NOW + timedelta(minutes=1)) == "I used npm."
    assert turns.previous_message(store.db, "s1", NOW) == ""
    assert turns.previous_message(store.db, "s2") == ""


def test_a_receipt_of_what_was_given_is_not_replaced_by_one_that_was_not(store: Store) -> None:
    def receipt(layer: str, given_at: datetime | None) -> Receipt:
        return Receipt("n", "s1", "p", "startup", (), (layer,), (), 1, 2, 0.1, NOW, given_at)

    receipts.add(store.db, receipt("late", None))
    receipts.add(store.db, receipt("rendered", NOW))
    receipts.add(store.db, receipt("later", None))
    assert [row["layers"] for row in store.db.execute("select layers from receipts")] == ['["rendered"]']
