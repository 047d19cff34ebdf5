"""Tests of `store/team.py`, `store/team_heads.py` and `db/team_schema.py`: tokens, marks by triggers, and the log."""

from dataclasses import dataclass, replace

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Memory, SymbolChange
from claude_mem_lite.store import memories, retirements, team, team_heads
from claude_mem_lite.store.team import Device, LogKey, LogRow, Share
from claude_mem_lite.store.team_heads import Head
from tests.support.fakes import NOW, SHOP, Store

SHARE = Share(SHOP.project, "example.org/me/shop", "k" * 32, handoffs=True, shared_at=NOW)
BLOG = replace(SHOP, project="example.org/me/blog")
ROW = LogRow("k" * 32, "device-a", 1, "ana:1", 1, "put", "{}", "h", NOW, "aaaa")
HEAD = Head("ana:1", "k" * 32, "device-a", 1, 1, "put", "h", "{}", "ana", NOW, 1, "aaaa", "own")


@dataclass(frozen=True, slots=True)
class Refused:
    entry: LogKey
    reason: str


@pytest.fixture
def shop(store: Store) -> Store:
    """A database with a shared project and no marks."""
    with atomic(store.db):
        team.share(store.db, SHARE)
    return store


def marks(store: Store) -> list[str]:
    found = team.marked(store.db, 100)
    with atomic(store.db):
        team.drop_marks(store.db, found)
    return found


def rewrite(store: Store, memory: Memory, **values: object) -> None:
    with atomic(store.db):
        memories.rewrite(store.db, replace(memory, **values))  # type: ignore[arg-type]


def test_a_device_is_stored_once(store: Store) -> None:
    assert team.device(store.db) is None
    for author in ("ana", "ben"):
        with atomic(store.db):
            team.put_device(store.db, Device("d", author, "t0", "", NOW))
    assert team.device(store.db) == Device("d", "ben", "t0", "", NOW)


def test_the_token_of_a_push_without_a_confirmation_stays_the_next_one(store: Store) -> None:
    with atomic(store.db):
        team.put_device(store.db, Device("d", "ana", "t0", "", NOW))
    tokens = [team.put_next_token(store.db, proposed) for proposed in ("t1", "t2")]
    assert [(device.token, device.next_token) for device in tokens if device] == [("t0", "t1"), ("t0", "t1")]
    team.note_pushed(store.db, "t1", [], [])
    assert team.device(store.db) == Device("d", "ana", "t1", "", NOW)


def test_a_confirmed_push_marks_sent_and_refused_entries(store: Store) -> None:
    with atomic(store.db):
        for seq in (1, 2, 3):
            team.append(store.db, replace(ROW, seq=seq))
    team.note_pushed(store.db, "t1", [replace(ROW, seq=1)], [Refused(replace(ROW, seq=2).key, "rejected")])
    by_state = {state: [row.seq for row in team.in_log(store.db, [state])] for state in ("pending", "sent", "parked")}
    assert by_state == {"pending": [3], "sent": [1], "parked": [2]}
    assert [row.reason for row in team.in_log(store.db, ["parked"])] == ["rejected"]


def test_a_new_memory_of_a_shared_project_is_marked_and_no_other_one(shop: Store) -> None:
    made = shop.remember("Use pnpm")
    shop.remember("Use hugo", place=BLOG)
    assert marks(shop) == [made.id]


def test_a_memory_made_elsewhere_that_holds_in_a_shared_project_is_marked(shop: Store) -> None:
    made = shop.remember("Use hugo", place=BLOG)
    assert marks(shop) == []
    rewrite(shop, made, scope=f"project:{SHOP.project}")
    assert marks(shop) == [made.id]


def test_a_memory_is_marked_in_the_transaction_that_changes_it(shop: Store) -> None:
    made = shop.remember("Use pnpm")
    marks(shop)
    shop.db.execute("begin immediate")
    memories.rewrite(shop.db, replace(made, title="Use yarn"))
    assert team.is_marked(shop.db, made.id)
    shop.db.execute("rollback")
    assert not team.has_marks(shop.db)


@pytest.mark.parametrize(
    "values",
    [
        {"title": "Use yarn"},
        {"tags": ("private",)},
        {"status": "retired"},
        {"scope": "universal"},
        {"project": "blog", "scope": "project:blog"},
        {"summary": "npm broke the hooks"},
        {"facts": ("react 18 and 19 were both there",)},
        {"files": ("a.py",)},
        {"symbols": (SymbolChange("a.py", "load", "modified"),)},
        {"anchors": ("code:1:2:a.py::load",)},
        {"branch": "topic"},
        {"commit": "abc"},
        {"superseded_by": "bbbb"},
        {"kind": "note"},
        {"origin": "user"},
    ],
    ids=lambda values: next(iter(values)),
)
def test_a_change_of_the_content_marks_a_memory(shop: Store, values: dict[str, object]) -> None:
    made = shop.remember("Use pnpm")
    marks(shop)
    rewrite(shop, made, **values)
    assert marks(shop) == [made.id]


def test_use_and_confidence_mark_nothing(shop: Store) -> None:
    made = shop.remember("Use pnpm")
    marks(shop)
    rewrite(shop, made, confidence=0.1, times_seen=9, pinned=True, detail="x", last_seen_at=NOW)
    assert marks(shop) == []


def test_a_removed_memory_is_marked_and_takes_its_bodies_along(shop: Store) -> None:
    made = shop.remember("Use pnpm")
    marks(shop)
    with atomic(shop.db):
        team.append(shop.db, replace(ROW, memory=made.id))
        team_heads.put(shop.db, replace(HEAD, memory=made.id))
        team_heads.add_history(shop.db, HEAD)
        team.unshare(shop.db, SHOP.project)
        memories.remove(shop.db, [made.id], NOW)
    assert marks(shop) == [made.id]
    for table in ("log", "heads", "history"):
        assert [row["body"] for row in shop.db.execute(f"select body from team_{table}")] == [None]


def test_a_new_cause_of_a_retirement_marks_a_memory_of_the_team(shop: Store) -> None:
    made = shop.remember("Use pnpm")
    with atomic(shop.db):
        team_heads.put(shop.db, replace(HEAD, memory=made.id))
        retirements.retire(shop.db, made.id, "code", "gone", NOW)
    marks(shop)
    with atomic(shop.db):
        retirements.note(shop.db, made.id, "user", "no", NOW)
    assert marks(shop) == [made.id]


def test_sharing_a_project_marks_its_memories(store: Store) -> None:
    made = store.remember("Use pnpm")
    with atomic(store.db):
        assert team.share(store.db, SHARE) == 1
    assert marks(store) == [made.id]
    assert team.shares(store.db) == [SHARE]
    assert team.shared_keys(store.db) == {"k" * 32}


def test_a_choice_is_kept_until_it_is_taken_back(store: Store) -> None:
    for choice in ("share", "keep", None):
        with atomic(store.db):
            team.choose(store.db, "aaaa", choice)
        assert team.choice_of(store.db, "aaaa") == choice
    assert marks(store) == ["aaaa"]


def test_a_cursor_never_moves_back(store: Store) -> None:
    with atomic(store.db):
        for seq in (3, 1):
            team.put_cursor(store.db, "p", "d", seq)
    assert team.cursors(store.db) == {("p", "d"): 3}


def test_the_highest_revision_is_that_of_log_heads_and_history(store: Store) -> None:
    assert team_heads.highest_rev(store.db, "ana:1") == 0
    with atomic(store.db):
        team.append(store.db, replace(ROW, rev=2))
        team_heads.put(store.db, replace(HEAD, rev=3))
        team_heads.add_history(store.db, replace(HEAD, rev=5, seq=5))
    assert team_heads.highest_rev(store.db, "ana:1") == 5


def test_a_head_is_read_as_written(store: Store) -> None:
    with atomic(store.db):
        team_heads.put(store.db, HEAD)
    assert team_heads.find(store.db, "ana:1") == HEAD
    assert team_heads.of_memory(store.db, "aaaa", "ana") == HEAD
    assert team_heads.of_memory(store.db, "aaaa", "ben") is None
    assert team_heads.live_of(store.db, "ana", None) == [HEAD]


def test_leaving_a_team_empties_its_tables_and_keeps_the_choices(shop: Store) -> None:
    with atomic(shop.db):
        team.put_device(shop.db, Device("d", "ana", "t0", "", NOW))
        team.choose(shop.db, "aaaa", "keep")
        team_heads.put(shop.db, HEAD)
        team_heads.clear(shop.db)
    assert team.device(shop.db) is None
    assert (team.shares(shop.db), team.has_marks(shop.db), team_heads.find(shop.db, "ana:1")) == ([], False, None)
    assert team.choice_of(shop.db, "aaaa") == "keep"
