"""Tests of `guards/lesson_guards.py`, `guards/guard.py`, `store/guards.py` and `db/guard_schema.py`: proposals follow
the user's memories."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.guards.guard import guard_from_row, proposal_from_json, proposal_of, proposal_to_json
from claude_mem_lite.guards.lesson_guards import follow, makes_guards
from claude_mem_lite.guards.proposal import propose
from claude_mem_lite.models import TRANSCRIPT_TRUST, Memory
from claude_mem_lite.store import guards, memories, retirements
from claude_mem_lite.store.guards import Occasion, Replay, ReplayMatch, Status, StoredGuard
from claude_mem_lite.timestamps import time_to_text
from tests.support.fakes import NOW, SHOP, Store

RULE: dict[str, Any] = {"kind": "rule", "origin": "user", "trust": 1.0, "made_by": "user"}


def said(store: Store, words: str = "Use pnpm, not npm", **more: Any) -> Memory:
    memory = store.remember(words, turn=words, **{**RULE, "summary": words, **more})
    follow(store.db, propose, NOW)
    return memory


def all_guards(store: Store) -> list[StoredGuard]:
    return guards.of_project(store.db, None, ("active", "paused", "proposed", "doubtful", "dismissed", "removed"))


def set_status(store: Store, status: Status) -> StoredGuard:
    (row,) = all_guards(store)
    changed = replace(row, status=status)
    with atomic(store.db):
        guards.put(store.db, changed)
    return changed


def test_a_rule_of_the_user_is_proposed_in_its_project_with_examples_that_hold(store: Store) -> None:
    memory = said(store)
    (row,) = all_guards(store)
    assert (row.project, row.memory, row.status, row.mode) == (SHOP.project, memory.id, "proposed", "auto")
    guard = guard_from_row(row)
    assert guard.rule.commands == ("npm",)
    assert proposal_from_json(proposal_to_json(proposal_of(guard))) == proposal_of(guard)


@pytest.mark.parametrize(
    "more",
    [
        {"origin": "team", "author": "ana"},
        {"author": "ana"},
        {"origin": "import"},
        {"origin": "web"},
        {"origin": "mcp"},
        {"origin": "assistant"},
        {"made_by": "assistant"},
        {"made_by": "anthropic/claude"},
        {"trust": TRANSCRIPT_TRUST},
        {"status": "quarantined"},
        {"status": "retired"},
        {"kind": "bugfix"},
    ],
    ids=str,
)
def test_nobody_elses_words_make_a_proposal(store: Store, more: dict[str, Any]) -> None:
    memory = said(store, **more)
    assert not makes_guards(memory)
    assert all_guards(store) == []


def test_a_rule_of_no_project_makes_no_proposal(store: Store) -> None:
    memory = said(store, project="", scope="global")
    assert not makes_guards(memory)
    assert all_guards(store) == []


def test_a_proposal_goes_with_its_memory(store: Store) -> None:
    memory = said(store)
    with atomic(store.db):
        retirements.retire(store.db, memory.id, "user", "dismissed", NOW)
    follow(store.db, propose, NOW)
    assert all_guards(store) == []


def test_a_guard_in_force_is_paused_when_its_memory_no_longer_holds_and_the_user_is_to_be_told(store: Store) -> None:
    memory = said(store)
    set_status(store, "active")
    with atomic(store.db):
        retirements.retire(store.db, memory.id, "user", "dismissed", NOW)
    follow(store.db, propose, NOW)
    assert guards.unannounced(store.db, "example.org/another") == []
    (row,) = guards.unannounced(store.db, SHOP.project)
    assert (row.status, row.note) == ("paused", "the rule it was made from no longer holds")
    with atomic(store.db):
        guards.mark_announced(store.db, [row.id])
    assert guards.unannounced(store.db, SHOP.project) == []


def test_a_guard_in_force_goes_over_to_the_rule_that_replaces_its_own_and_asks_for_the_same(store: Store) -> None:
    older = said(store)
    kept = set_status(store, "active")
    newer = store.remember("Please never use npm", **{**RULE, "summary": "Never use npm"})
    with atomic(store.db):
        memories.rewrite(store.db, replace(older, status="superseded", superseded_by=newer.id))
    follow(store.db, propose, NOW)
    (row,) = all_guards(store)
    assert (row.id, row.status, row.memory) == (kept.id, "active", newer.id)


def test_a_guard_in_force_does_not_go_over_to_a_rule_in_other_words_than_the_users(store: Store) -> None:
    older = said(store)
    set_status(store, "active")
    newer = store.remember("Never use npm", **{**RULE, "summary": "Never use npm", "made_by": "assistant"})
    with atomic(store.db):
        memories.rewrite(store.db, replace(older, status="superseded", superseded_by=newer.id))
    follow(store.db, propose, NOW)
    (row,) = all_guards(store)
    assert (row.status, row.memory) == ("paused", older.id)


def test_a_rule_that_is_said_in_other_words_gives_its_guard_the_new_ones(store: Store) -> None:
    memory = said(store)
    set_status(store, "active")
    words = "Please use pnpm, not npm"
    with atomic(store.db):
        memories.rewrite(store.db, replace(memory, title=words, summary=words))
    follow(store.db, propose, NOW)
    (row,) = all_guards(store)
    assert (row.status, row.reason) == ("active", words)


def test_an_edited_rule_changes_its_proposal_and_pauses_its_guard(store: Store) -> None:
    memory = said(store)
    edited = replace(memory, title="Never touch vendor/", summary="Never touch vendor/")
    with atomic(store.db):
        memories.rewrite(store.db, edited)
    follow(store.db, propose, NOW)
    (row,) = all_guards(store)
    assert guard_from_row(row).rule.paths != ()
    set_status(store, "active")
    with atomic(store.db):
        memories.rewrite(store.db, memory)
    follow(store.db, propose, NOW)
    assert [one.status for one in all_guards(store)] == ["paused"]


@pytest.mark.parametrize("status", ["dismissed", "removed", "active"])
def test_a_rule_that_the_user_decided_about_is_not_proposed_again(store: Store, status: Status) -> None:
    said(store)
    set_status(store, status)
    said(store, "Never run npm in this repository", created_at=NOW + timedelta(hours=1))
    assert [row.status for row in all_guards(store)] == [status]


def test_a_proposal_that_says_what_to_do_instead_takes_the_place_of_one_that_does_not(store: Store) -> None:
    said(store, "Never use npm")
    memory = said(store, "Use pnpm instead of npm")
    (row,) = all_guards(store)
    assert row.memory == memory.id
    assert "pnpm" in row.instead


def test_a_forgotten_memory_takes_guard_replay_and_ledger_with_it_at_once(store: Store) -> None:
    memory = said(store)
    (row,) = all_guards(store)
    match = ReplayMatch("s1", "t1", "2026", "Bash", "npm ci", "npm ci", "ran", 0)
    with atomic(store.db):
        run = Replay(row.id, "2026", 1, 1, "2026", "2026", 1)
        guards.put_replay(store.db, run, [match], [Occasion(row.id, "s1", "2026", 1)])
        memories.remove(store.db, [memory.id], NOW)
    tables = ("guards", "guard_replays", "guard_matches", "guard_sessions")
    assert [store.db.execute(f"select count(*) from {table}").fetchone()[0] for table in tables] == [0] * 4


def test_a_replay_replaces_the_one_before(store: Store) -> None:
    said(store)
    (row,) = all_guards(store)
    assert [one.id for one in guards.due_replays(store.db, "")] == [row.id]
    match = ReplayMatch("s1", "t1", "2026", "Bash", "npm ci", "npm ci", "ran", 0)
    for matches in ([match, match], [match]):
        with atomic(store.db):
            guards.put_replay(store.db, Replay(row.id, "2026", 9, 2, "2025", "2026", 1), matches, [])
    assert guards.matches_of(store.db, row.id, 10) == [match]
    assert guards.count_matches(store.db, row.id) == (1, 1)
    assert guards.due_replays(store.db, "") == []


def test_a_proposal_is_not_due_again_without_a_session_since_its_replay(store: Store) -> None:
    said(store)
    (row,) = all_guards(store)
    store.turn("t9", "Sort the list", "Sorted.", session="s9")
    later = [time_to_text(NOW + timedelta(days=days)) for days in (1, 3)]
    with atomic(store.db):
        guards.put_replay(store.db, Replay(row.id, later[0], 0, 0, "", "", 1), [], [])
    assert guards.due_replays(store.db, later[1]) == []


def test_a_proposal_is_due_for_another_replay_after_a_day_with_new_sessions(store: Store) -> None:
    said(store)
    (row,) = all_guards(store)
    with atomic(store.db):
        guards.put_replay(store.db, Replay(row.id, "2020-01-01", 0, 0, "", "", 1), [], [])
    assert guards.due_replays(store.db, "2020-01-02") == []
    store.turn("t9", "Sort the list", "Sorted.", session="s9")
    assert [one.id for one in guards.due_replays(store.db, "2020-01-02")] == [row.id]
    set_status(store, "active")
    assert guards.due_replays(store.db, "2020-01-02") == []
