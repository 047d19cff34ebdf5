"""Tests of `team/outbox.py`: changed memories become entries once, in order, and only if they may leave."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import forget
from claude_mem_lite.models import Location
from claude_mem_lite.store import memories, retirements, team_heads
from claude_mem_lite.store import team as tables
from claude_mem_lite.store.projects import marks
from claude_mem_lite.store.team import Choice, Share
from claude_mem_lite.team import outbox
from claude_mem_lite.team.body import words_of_body
from claude_mem_lite.team.entry import Entry, project_key, uid_of
from claude_mem_lite.team.seal import Seal
from tests.support.fakes import NOW, SHOP, Store
from tests.support.team_homes import KEY, TeamHome, home_in

BLOG = Location(project="example.org/me/blog", name="blog", root="/nowhere/blog")


@pytest.fixture
def ana(store: Store) -> TeamHome:
    return TeamHome(store, "ana", "device-a")


def summary(entries: list[Entry]) -> list[tuple[int, int, str]]:
    return [(entry.seq, entry.rev, entry.op) for entry in entries]


def choose(home: TeamHome, memory: str, choice: Choice | None) -> None:
    with atomic(home.db):
        tables.choose(home.db, memory, choice)


def test_a_memory_of_a_shared_project_becomes_an_entry(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    (entry,) = ana.push()
    assert (entry.project, entry.device, entry.seq, entry.rev, entry.op) == (KEY, "device-a", 1, 1, "put")
    assert entry.uid == uid_of("ana", made.id, made.created_at)
    assert entry.is_sound()
    assert json.loads(entry.body or "")["title"] == made.title
    assert ana.push() == []


def test_memories_made_before_sharing_are_sent_too(store: Store) -> None:
    store.remember("Use pnpm", kind="decision")
    assert len(TeamHome(store, "ana", "device-a").push()) == 1


def test_an_unchanged_body_is_sent_once(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.push()
    ana.change(made, confidence=0.2, pinned=True, detail="more", times_seen=4)
    with atomic(ana.db):
        tables.mark_project(ana.db, SHOP.project)
    assert ana.fill() == 1
    assert outbox.pending(ana.db, 10) == []


def test_a_changed_memory_gets_the_next_revision_and_number(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.push()
    ana.change(made, summary="npm broke the hooks of react.")
    assert summary(ana.push()) == [(2, 2, "put")]


def test_a_forgotten_memory_is_deleted_and_its_text_leaves_the_log_at_once(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.push()
    with atomic(ana.db):
        forget.forget(ana.db, [made.id], [], NOW)
    assert "broke the release" not in "\n".join(ana.db.iterdump())
    assert summary(ana.push()) == [(2, 2, "delete")]
    assert ana.push() == []


def test_a_memory_forgotten_before_it_was_sent_leaves_no_text(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.fill()
    with atomic(ana.db):
        forget.forget(ana.db, [made.id], [], NOW)
    assert [(entry.op, entry.body) for entry in ana.push()] == [("put", None), ("delete", None)]


@pytest.mark.parametrize(
    "change",
    [
        {"tags": ("private",)},
        {"scope": "universal"},
        {"kind": "preference"},
        {"status": "quarantined"},
        {"summary": "The key is ghp_" + "a1B2" * 9},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_memory_that_may_no_longer_be_shared_is_deleted_from_the_team(
    ana: TeamHome, change: dict[str, object]
) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.push()
    ana.change(made, **change)
    assert summary(ana.push()) == [(2, 2, "delete")]
    assert memories.find(ana.db, made.id) is not None


def test_a_memory_kept_by_hand_is_deleted_and_comes_back_by_hand(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.push()
    choose(ana, made.id, "keep")
    assert summary(ana.push()) == [(2, 2, "delete")]
    choose(ana, made.id, "share")
    assert summary(ana.push()) == [(3, 3, "put")]


def test_a_memory_kept_before_it_was_sent_leaves_with_no_text(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.fill()
    choose(ana, made.id, "keep")
    assert [(entry.op, entry.body) for entry in ana.push()] == [("put", None), ("delete", None)]
    assert "broke the release" not in str([tuple(row) for row in ana.db.execute("select body from team_history")])


def test_a_kind_that_stays_by_default_goes_by_hand(ana: TeamHome) -> None:
    made = ana.decide("The office has two doors", kind="note")
    assert ana.push() == []
    choose(ana, made.id, "share")
    assert summary(ana.push()) == [(1, 1, "put")]
    assert outbox.decide_one(ana.db, made, is_excluded=lambda _: False).may_go


@pytest.mark.parametrize("change", [{"confidence": 0.86}, {"pinned": True}, {"made_by": "user"}])
def test_a_remark_of_the_user_is_sent_once_it_is_lasting(ana: TeamHome, change: dict[str, object]) -> None:
    remark = ana.decide("Run the linter first", kind="convention", origin="user", confidence=0.75)
    assert ana.push() == []
    ana.change(remark, **change)
    assert [entry.op for entry in ana.push()] == ["put"]


def test_a_retirement_by_the_user_is_sent_and_one_by_code_is_not(ana: TeamHome) -> None:
    first, second = ana.decide("Use pnpm for the shop"), ana.decide("Keep prices in cents everywhere")
    ana.push()
    with atomic(ana.db):
        retirements.retire(ana.db, first.id, "user", "no", NOW)
        retirements.retire(ana.db, second.id, "code", "gone", NOW)
    (entry,) = ana.push()
    assert json.loads(entry.body or "")["status"] == "retired"
    assert entry.uid == uid_of("ana", first.id, first.created_at)
    with atomic(ana.db):
        retirements.note(ana.db, second.id, "user", "no", NOW)
    assert len(ana.push()) == 1


def test_nothing_of_an_excluded_project_is_sent_but_a_forget_is(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.push()
    ana.excluded.add(SHOP.project)
    ana.change(made, summary="npm broke the hooks of react.")
    ana.decide("Keep prices in cents everywhere")
    assert ana.push() == []
    with atomic(ana.db):
        forget.forget(ana.db, [made.id], [], NOW)
    assert [entry.op for entry in ana.push()] == ["delete"]


def test_a_project_that_is_no_longer_shared_sends_only_forgets(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.push()
    with atomic(ana.db):
        assert tables.unshare(ana.db, SHOP.project)
    ana.change(made, summary="npm broke the hooks of react.")
    assert ana.push() == []
    with atomic(ana.db):
        forget.forget(ana.db, [made.id], [], NOW)
    assert [entry.op for entry in ana.push()] == ["delete"]


def test_a_memory_that_moves_to_another_shared_project_moves_in_the_team(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.push()
    key = project_key("example.org/me/blog")
    with atomic(ana.db):
        tables.share(ana.db, Share(BLOG.project, "example.org/me/blog", key, handoffs=False, shared_at=NOW))
    ana.change(made, project=BLOG.project, scope=f"project:{BLOG.project}")
    entries = ana.push()
    assert [(entry.project, entry.seq, entry.rev, entry.op) for entry in entries] == [
        (KEY, 2, 2, "delete"),
        (key, 1, 3, "put"),
    ]


def test_without_a_team_nothing_is_marked_or_filled(store: Store) -> None:
    store.remember("Use pnpm", kind="decision")
    assert not tables.has_marks(store.db)
    assert outbox.fill(store.db, seal=None, is_excluded=lambda _: False, limit=10, now=NOW) == 0
    assert outbox.pending(store.db, 10) == []
    assert outbox.preview(store.db, [], is_excluded=lambda _: False).would_send == ()


def test_marks_are_taken_in_batches(ana: TeamHome) -> None:
    for number in range(5):
        ana.decide(f"Decision number {number} about part {number}")
    assert [ana.fill(limit=2) for _ in range(4)] == [2, 2, 1, 0]
    assert [entry.seq for entry in outbox.pending(ana.db, 10)] == [1, 2, 3, 4, 5]


def test_a_sealed_team_gets_sealed_bodies_and_sends_each_once(store: Store) -> None:
    home = TeamHome(store, "ana", "device-a", seal=Seal(bytes(32)))
    made = home.decide("Use pnpm for the shop")
    (entry,) = home.push()
    assert "pnpm" not in (entry.body or "")
    assert "pnpm" in Seal(bytes(32)).open(entry.body or "", entry.project, entry.uid, entry.rev, entry.op)
    with atomic(home.db):
        tables.mark(home.db, [made.id])
    assert home.push() == []


def test_checkouts_of_the_project_are_made_relative(ana: TeamHome) -> None:
    with atomic(ana.db):
        marks.put_mark(ana.db, "path", "/srv/code/shop", SHOP.project, NOW)
    ana.decide("Keep /srv/code/shop/prices.py pure", files=("/srv/code/shop/prices.py",))
    body = json.loads(ana.push()[0].body or "")
    assert (body["title"], body["files"]) == ("Keep prices.py pure", ["prices.py"])


def test_a_preview_shows_bodies_exactly_as_sent_and_counts_what_stays(ana: TeamHome) -> None:
    ana.decide("Use pnpm for the shop")
    ana.decide("I like tabs", kind="preference", scope="universal")
    for number in range(7):
        ana.decide(f"Step {number} of the page", kind="note")
    before = ana.preview()
    assert [item.is_sent for item in before.would_send] == [False]
    assert [(group.code, group.memories, len(group.examples)) for group in before.held_back] == [
        ("by_hand", 7, 5),
        ("scope", 1, 1),
    ]
    assert all(group.reason for group in before.held_back)
    (entry,) = ana.push()
    after = ana.preview()
    assert [(item.body, item.is_sent) for item in after.would_send] == [(entry.body, True)]
    assert [item.body for item in before.would_send] == [entry.body]


def test_a_withdrawal_deletes_everything_of_this_member_and_keeps_the_memories(ana: TeamHome) -> None:
    ana.decide("Use pnpm for the shop")
    ana.decide("Keep prices in cents everywhere")
    ana.push()
    with atomic(ana.db):
        assert outbox.withdraw(ana.db, project=KEY, now=NOW) == 2
        assert outbox.withdraw(ana.db, project=None, now=NOW) == 0
    assert [entry.op for entry in ana.push()] == ["delete", "delete"]
    assert len(ana.titles()) == 2


def test_a_copied_home_sends_what_the_server_may_not_have_under_its_new_id(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.decide("Keep prices in cents everywhere")
    ana.push()
    ana.change(made, summary="npm broke the hooks of react.")
    ana.fill()
    assert outbox.renumber(ana.db, "device-b", "token-9", {(KEY, "device-a"): 80}) == 1
    (entry,) = outbox.pending(ana.db, 10)
    assert (entry.device, entry.seq, entry.rev) == ("device-b", 1, 2)
    device = tables.device(ana.db)
    assert device is not None
    assert (device.id, device.token, device.next_token) == ("device-b", "token-9", "")
    ana.push()
    ana.change(made, summary="npm broke everything.")
    assert summary(ana.push()) == [(2, 3, "put")]


def test_entries_that_a_restored_server_lost_are_sent_again(ana: TeamHome) -> None:
    ana.decide("Use pnpm for the shop")
    ana.decide("Keep prices in cents everywhere")
    ana.push()
    assert outbox.renumber(ana.db, "device-b", "token-9", {(KEY, "device-a"): 1}) == 1
    assert [(entry.device, entry.seq) for entry in outbox.pending(ana.db, 10)] == [("device-b", 1)]


def test_a_delete_keeps_the_identity_of_its_memory_under_a_new_device_id(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    (put,) = ana.push()
    with atomic(ana.db):
        forget.forget(ana.db, [made.id], [], NOW)
    ana.fill()
    outbox.renumber(ana.db, "device-b", "token-9", {(KEY, "device-a"): 1})
    (delete,) = outbox.pending(ana.db, 10)
    assert (delete.uid, delete.op, delete.rev, delete.device) == (put.uid, "delete", 2, "device-b")


def test_parked_entries_block_no_others_and_are_sent_again_on_request(ana: TeamHome) -> None:
    ana.decide("Use pnpm for the shop")
    ana.decide("Keep prices in cents everywhere")
    ana.fill()
    first, second = outbox.pending(ana.db, 10)
    with atomic(ana.db):
        tables.mark_parked(ana.db, first, "rejected")
    assert outbox.pending(ana.db, 10) == [second]
    assert outbox.parked(ana.db) == [(first, "rejected")]
    with atomic(ana.db):
        assert outbox.requeue_parked(ana.db) == 1
    (again,) = [entry for entry in outbox.pending(ana.db, 10) if entry.uid == first.uid]
    assert again == replace(first, seq=3), "receivers have passed the old number"


def test_words_for_search_come_from_the_body(ana: TeamHome, tmp_path: Path) -> None:
    ana.decide(f"Use pnpm beside {tmp_path.name}")
    assert "Use pnpm" in words_of_body(ana.push()[0].body or "")


def test_a_memory_counts_as_sent_only_when_the_server_has_it(ana: TeamHome) -> None:
    ana.decide("Use pnpm for the shop")
    ana.fill()
    assert [item.is_sent for item in ana.preview().would_send] == [False]
    assert team_heads.counts_by_project(ana.db) == {KEY: (0, 0)}
    ana.push()
    assert [item.is_sent for item in ana.preview().would_send] == [True]
    assert team_heads.counts_by_project(ana.db) == {KEY: (1, 0)}


def test_a_changed_memory_does_not_count_as_sent_in_the_preview(ana: TeamHome) -> None:
    made = ana.decide("Use pnpm for the shop")
    ana.push()
    ana.change(made, summary="npm broke the hooks of react.")
    assert [item.is_sent for item in ana.preview().would_send] == [False]


@pytest.mark.parametrize("is_renumbered", [True, False], ids=["new id", "parked and tried again"])
def test_an_entry_that_moves_in_the_log_counts_as_sent_only_after_its_push(ana: TeamHome, is_renumbered: bool) -> None:
    ana.decide("Use pnpm for the shop")
    ana.fill()
    if is_renumbered:
        outbox.renumber(ana.db, "device-b", "token-9", {})
    else:
        with atomic(ana.db):
            tables.mark_parked(ana.db, outbox.pending(ana.db, 1)[0], "rejected")
            outbox.requeue_parked(ana.db)
    (entry,) = outbox.pending(ana.db, 10)
    assert ana.head(entry.uid).key == (entry.project, entry.device, entry.seq)
    assert [item.is_sent for item in ana.preview().would_send] == [False]
    ana.push()
    assert [item.is_sent for item in ana.preview().would_send] == [True]


def test_a_copy_on_another_device_of_the_author_takes_nothing_back(ana: TeamHome, tmp_path: Path) -> None:
    made = ana.decide("Use pnpm for the shop")
    second = home_in(tmp_path, "ana", "device-b")
    with closing(second.db):
        second.receive(ana.push())
        choose(second, second.only().id, "keep")
        assert second.push() == []
    choose(ana, made.id, "keep")
    assert [entry.op for entry in ana.push()] == ["delete"]
    assert ana.titles() == ["Use pnpm for the shop"]
