"""Tests of `guards/changes.py` and `guards/rule_words.py`: changes of the user, also repeated; rules in words."""

from dataclasses import replace

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.guards import changes
from claude_mem_lite.guards.guard import guard_from_row, proposal_to_json
from claude_mem_lite.guards.matching import example_call, matched
from claude_mem_lite.guards.rule import Rule
from claude_mem_lite.guards.rule_words import in_words
from claude_mem_lite.models import JsonObject
from claude_mem_lite.store import guard_ledger, guards, tombstones
from claude_mem_lite.store.guards import Replay
from tests.guards.samples import firing, guard
from tests.support.fakes import NOW, SHOP, Store

NAME = "01772445600000000000-4194305-0000000a-Command"
LATER = "01772445700000000000-4194305-0000000b-Command"


def add(store: Store, rule: Rule, mode: str = "") -> str:
    made = changes.by_hand(rule, "we use pnpm", "use pnpm")
    command: JsonObject = {"command": changes.ADD, "project": SHOP.project, "mode": mode}
    return changes.carry_out(NAME, {**command, "proposal": proposal_to_json(made)}, store.db)


@pytest.mark.parametrize(
    "rule",
    [
        Rule(commands=("npm",)),
        Rule(commands=("git push",), flags=("--force",)),
        Rule(commands=("pip",), arguments=("install",)),
        Rule(commands=("git push",), branches=("main",)),
        Rule(commands=("git commit",), branches=("main",)),
        Rule(paths=("vendor/",)),
        Rule(paths=("**/*.lock",)),
        Rule(paths=("src/gen/*.py",)),
        Rule(imports=("requests",)),
    ],
    ids=in_words,
)
def test_the_examples_of_a_rule_by_hand_fire_and_pass(rule: Rule) -> None:
    made = changes.by_hand(rule, "because", "")
    assert matched(rule, example_call(made.fires_on, "/checkout"))
    assert not matched(rule, example_call(made.passes_on, "/checkout"))


def test_a_rule_that_names_nothing_is_refused() -> None:
    with pytest.raises(MemoryLiteError, match="names no command"):
        changes.by_hand(Rule(flags=("--force",)), "because", "")


def test_a_command_that_is_carried_out_twice_changes_nothing_more(store: Store) -> None:
    first = add(store, Rule(commands=("npm",)), "deny")
    before = guards.get(store.db, first)
    assert add(store, Rule(commands=("npm",)), "deny") == first
    assert guards.get(store.db, first) == before


def test_a_command_about_a_guard_that_a_lost_database_had_brings_it_back(store: Store) -> None:
    described = changes.described(guard(memory="mem1"))
    changes.carry_out(LATER, {"command": changes.ACCEPT, "mode": "deny", **described}, store.db)
    found = guard_from_row(guards.get(store.db, "guard1"))
    assert (found.status, found.mode, found.memory, found.rule) == ("active", "deny", "mem1", guard().rule)


def test_a_command_about_the_guard_of_a_forgotten_memory_brings_nothing_back(store: Store) -> None:
    tombstones.add_names(store.db, ["mem1"], NOW)
    described = changes.described(guard(memory="mem1"))
    with pytest.raises(NotFound):
        changes.carry_out(LATER, {"command": changes.ACCEPT, **described}, store.db)


def test_a_removed_guard_by_hand_is_gone_and_one_of_a_memory_is_not_proposed_again(store: Store) -> None:
    by_hand = add(store, Rule(commands=("npm",)))
    changes.carry_out(LATER, {"command": changes.REMOVE, "id": by_hand}, store.db)
    assert guards.find(store.db, by_hand) is None
    changes.carry_out(LATER, {"command": changes.REMOVE, **changes.described(guard(memory="mem1"))}, store.db)
    assert guards.get(store.db, "guard1").status == "removed"


def test_accepting_changes_the_mode_of_a_guard_in_force_and_keeps_its_time(store: Store) -> None:
    id_ = add(store, Rule(commands=("npm",)), "ask")
    accepted = guards.get(store.db, id_).accepted_at
    changes.carry_out(LATER, {"command": changes.ACCEPT, "id": id_, "mode": "deny"}, store.db)
    found = guards.get(store.db, id_)
    assert (found.mode, found.accepted_at) == ("deny", accepted)


def test_an_accepted_proposal_is_run_again_over_the_sessions_up_to_then(store: Store) -> None:
    described = changes.described(guard(memory="mem1"))
    changes.carry_out(NAME, {"command": changes.DISMISS, **described}, store.db)
    with atomic(store.db):
        guards.put_replay(store.db, Replay("guard1", "2026", 1, 1, "2026", "2026", 1), [], [])
    changes.carry_out(LATER, {"command": changes.ACCEPT, **described}, store.db)
    assert guards.replay_of(store.db, "guard1") is None


def test_a_firing_that_is_called_wrong_twice_is_taken_back_once(store: Store) -> None:
    id_ = add(store, Rule(commands=("npm",)))
    fired = replace(firing("ask"), guard=id_)
    with atomic(store.db):
        guard_ledger.add(store.db, fired)
        guard_ledger.note_occasion(store.db, id_, fired.session, fired.at, 2)
    for _ in range(2):
        changes.carry_out(LATER, {"command": changes.FALSE, "id": id_, "firing": fired.name}, store.db)
    assert [one.violations for one in guards.occasions_of(store.db, id_, "ledger")] == [1]


def test_a_resumed_guard_loses_the_note_of_its_pause(store: Store) -> None:
    id_ = add(store, Rule(commands=("npm",)))
    with atomic(store.db):
        guards.put(store.db, replace(guards.get(store.db, id_), status="paused", note="overridden", is_announced=0))
    changes.carry_out(LATER, {"command": changes.RESUME, "id": id_}, store.db)
    found = guards.get(store.db, id_)
    assert (found.status, found.note, found.is_announced) == ("active", "", 1)


def test_a_guard_that_never_fired_has_no_false_firing(store: Store) -> None:
    id_ = add(store, Rule(commands=("npm",)))
    with pytest.raises(NotFound, match="has not fired"):
        changes.carry_out(LATER, {"command": changes.FALSE, "id": id_, "firing": ""}, store.db)


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        (changes.DISMISS, "active", "is in force, so there is nothing to dismiss"),
        (changes.PAUSE, "proposed", "is proposed, so there is nothing to pause"),
        (changes.RESUME, "dismissed", "is dismissed, so there is nothing to resume"),
        (changes.FALSE, "removed", "is removed, so there is nothing to take back"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_with_the_way_out(command: str, status: str, words: str) -> None:
    with pytest.raises(MemoryLiteError, match=words) as refused:
        changes.refuse_impossible(command, guard(status=status))
    assert "guard1" in refused.value.next_step


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule(commands=("npm", "npx")), "runs `npm` or `npx`"),
        (
            Rule(commands=("git push",), flags=("--force",), branches=("main",)),
            "runs `git push` with `--force` to branch `main`",
        ),
        (Rule(commands=("git commit",), branches=("main",)), "runs `git commit` on branch `main`"),
        (
            Rule(commands=("pip",), arguments=("install",), excepts=("pip install -e",)),
            "runs `pip` with the argument `install`, except `pip install -e`",
        ),
        (Rule(paths=("vendor/", "dist/", "*.lock")), "writes a file that matches `vendor/`, `dist/` or `*.lock`"),
        (Rule(imports=("requests",)), "writes an import of `requests`"),
    ],
)
def test_a_rule_in_words_names_all_of_its_parts(rule: Rule, words: str) -> None:
    assert in_words(rule) == words
