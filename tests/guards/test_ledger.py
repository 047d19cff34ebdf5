"""Tests of `guards/ledger.py` and `store/guard_ledger.py`: the outcome of each firing by what happened in its turn."""

from dataclasses import replace

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.guards import ledger
from claude_mem_lite.guards.guard import Guard, proposal_of, row_of_proposal
from claude_mem_lite.guards.ledger import TurnCall
from claude_mem_lite.guards.matching import Call
from claude_mem_lite.guards.rule import Rule
from claude_mem_lite.models import JsonObject
from claude_mem_lite.store import guard_ledger, guards
from claude_mem_lite.store.guard_ledger import Decision, Outcome
from tests.guards.samples import AT, NO_FORCE, VENDOR, bash, edit, firing, guard, turn_call, write
from tests.support.fakes import NOW, SHOP, Store

NAME = "01772445600000000000-4194305-0000000a-GuardFired"
IMPORTS = Rule(imports=("requests",))


def outcome_of(
    decision: Decision, calls: list[Call], of: Guard, own: Call | None = None, *, did_run: bool = False
) -> Outcome:
    """The outcome of one firing; `own` is the guarded call, `calls` are those after it."""
    later = [turn_call(call, second) for second, call in enumerate(calls, start=2)]
    itself = [turn_call(own, 1)] if own else []
    ran, refused = ([*itself, *later], []) if did_run else (later, itself)
    fired = firing(decision)
    return ledger.judge(fired, of, [fired], ran, refused).outcome


def test_an_asked_call_that_ran_is_overridden() -> None:
    assert outcome_of("ask", [], guard(), bash("npm ci"), did_run=True) == "overridden"


@pytest.mark.parametrize("decision", ["ask", "deny"])
def test_a_call_that_did_not_run_is_followed_by_the_named_alternative(decision: Decision) -> None:
    assert outcome_of(decision, [bash("pnpm install")], guard(), bash("npm ci")) == "followed"


def test_the_same_work_without_the_guarded_flag_is_followed() -> None:
    of = guard(NO_FORCE, instead="")
    assert outcome_of("deny", [bash("git push origin fix")], of, bash("git push --force")) == "followed"


def test_a_refused_edit_is_followed_by_an_edit_elsewhere() -> None:
    assert outcome_of("deny", [write("src/a.py")], guard(VENDOR, ""), write("vendor/a.py")) == "followed"


def test_a_refused_import_is_followed_by_the_same_file_without_it() -> None:
    of = guard(IMPORTS, "")
    refused, other = write("a.py", "import requests\n"), write("b.py", "import httpx\n")
    assert outcome_of("deny", [write("a.py", "import httpx\n")], of, refused) == "followed"
    assert outcome_of("deny", [other], of, refused) == "unknown"


def test_a_refused_call_without_anything_else_is_unknown() -> None:
    assert outcome_of("deny", [bash("ls")], guard(), bash("npm ci")) == "unknown"


def test_a_reminded_call_with_the_alternative_after_it_is_followed() -> None:
    assert outcome_of("remind", [bash("pnpm install")], guard(), bash("npm ci"), did_run=True) == "followed"


def test_a_reminded_call_that_comes_again_is_not_followed() -> None:
    calls = [turn_call(bash("npm ci"), 1), turn_call(bash("npm ci"), 2), turn_call(bash("pnpm install"), 3)]
    first, second = firing("remind", 1), firing("remind", 2)
    found = [ledger.judge(one, guard(), [first, second], calls).outcome for one in (first, second)]
    assert found == ["unknown", "followed"]


@pytest.mark.parametrize(
    "undone",
    [bash("git checkout -- vendor/a.py"), bash("rm vendor/a.py"), edit("vendor/a.py", "new\n", "old\n")],
)
def test_a_reminded_edit_that_is_undone_is_followed(undone: Call) -> None:
    own = edit("vendor/a.py", "old\n", "new\n")
    assert outcome_of("remind", [undone], guard(VENDOR, ""), own, did_run=True) == "followed"


def test_a_reminded_edit_that_stays_is_unknown() -> None:
    own = write("vendor/a.py")
    assert outcome_of("remind", [write("src/a.py")], guard(VENDOR, ""), own, did_run=True) == "unknown"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > vendor/a.py",
        "cat a >>vendor/b/c.py",
        "sed -i 's/a/b/' vendor/a.py",
        "rm vendor/a.py",
        "cp a.py vendor/a.py",
        "echo x | tee vendor/a.py",
    ],
)
def test_a_guarded_file_that_a_shell_command_writes_is_got_round(command: str) -> None:
    assert outcome_of("deny", [bash(command)], guard(VENDOR, ""), write("vendor/a.py")) == "got_round"


@pytest.mark.parametrize("command", ["cat vendor/a.py", "echo 'x > vendor/a.py'", "grep -r x vendor/ > /dev/null"])
def test_a_guarded_file_that_is_read_or_mentioned_is_not_got_round(command: str) -> None:
    assert outcome_of("deny", [bash(command)], guard(VENDOR, ""), write("vendor/a.py")) == "unknown"


def test_a_guarded_program_in_a_script_just_written_is_got_round() -> None:
    script = write("install.sh", "#!/bin/sh\nnpm ci\n")
    assert outcome_of("deny", [script, bash("sh install.sh")], guard(), bash("npm ci")) == "got_round"


def test_a_script_that_is_written_after_it_ran_gets_nothing_round() -> None:
    script = write("install.sh", "#!/bin/sh\nnpm ci\n")
    assert outcome_of("deny", [bash("sh install.sh"), script], guard(), bash("npm ci")) == "unknown"


def test_what_was_done_before_a_firing_does_not_follow_it() -> None:
    before = turn_call(bash("pnpm install"), 1)
    fired = firing("deny", 2)
    assert ledger.judge(fired, guard(), [fired], [before], [turn_call(bash("npm ci"), 2)]).outcome == "unknown"


def test_a_script_that_does_something_else_gets_nothing_round() -> None:
    script = write("build.sh", "#!/bin/sh\nmake build\n")
    assert outcome_of("deny", [script, bash("sh build.sh")], guard(), bash("npm ci")) == "unknown"


def test_a_firing_is_shown_with_its_command_without_secrets() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    fired = firing("ask")
    judged = ledger.judge(fired, guard(), [fired], [turn_call(bash(f"TOKEN={secret} npm ci"), 1)])
    assert "npm ci" in judged.text
    assert secret not in judged.text


@pytest.mark.parametrize("broken", [{}, {"guard": "g"}, {"guard": "g", "session_id": "s", "decision": "maybe"}])
def test_a_broken_note_is_no_firing(broken: JsonObject) -> None:
    assert ledger.firing_of(NAME, broken) is None


def test_a_note_is_a_firing_with_the_time_of_its_name() -> None:
    note: JsonObject = {"guard": "g", "session_id": "s", "decision": "ask", "tool_use_id": "c", "ms": 1}
    found = ledger.firing_of(NAME, note)
    assert found is not None
    assert (found.guard, found.session, found.tool_use, found.decision, found.ms) == ("g", "s", "c", "ask", 1.0)
    assert found.at.startswith("2026-03-02T10:00:00")


def put(store: Store, of: Guard) -> None:
    row = row_of_proposal(proposal_of(of), of.id, SHOP.project, "", AT, "active", of.mode)
    with atomic(store.db):
        guards.put(store.db, row)


def judge_turn(store: Store, turn: list[TurnCall], session: str = "s1") -> list[str]:
    """Judge a turn; return the guards that are paused after it because they were overridden."""
    with atomic(store.db):
        open_firings = guard_ledger.open_in(store.db, session)
        ledger.judge_turn(store.db, SHOP.project, session, open_firings, turn, [], NOW)
    paused = guards.of_project(store.db, SHOP.project, ("paused",))
    return [row.id for row in paused if row.note == ledger.PAUSED]


def judge(store: Store, calls: list[Call], session: str = "s1") -> list[str]:
    return judge_turn(store, [turn_call(call, second) for second, call in enumerate(calls, start=1)], session)


def fire(store: Store, second: int, decision: Decision = "ask") -> None:
    with atomic(store.db):
        guard_ledger.add(store.db, firing(decision, second))


def test_three_overridden_firings_in_a_row_pause_a_guard_and_two_do_not(store: Store) -> None:
    put(store, guard())
    paused = []
    for second in (1, 2, 3):
        fire(store, second)
        call = turn_call(bash("npm ci"), second)
        paused.append(judge_turn(store, [call]))
    assert paused == [[], [], ["guard1"]]
    row = guards.get(store.db, "guard1")
    assert (row.status, row.note, row.is_announced) == ("paused", ledger.PAUSED, 0)


def outcomes_of_turns(store: Store, *commands: str) -> list[list[str]]:
    """The guards that are paused after each turn; the guard asks in every turn, and the command is what ran then."""
    paused = []
    for second, command in enumerate(commands, start=1):
        fire(store, second)
        call = turn_call(bash(command), second, f"call-{second}" if command.startswith("npm") else "other")
        paused.append(judge_turn(store, [call]))
    return paused


def test_a_followed_firing_starts_the_row_of_overridden_ones_anew(store: Store) -> None:
    put(store, guard())
    turns = ("npm ci", "npm ci", "pnpm install", "npm ci", "npm ci", "npm ci")
    assert outcomes_of_turns(store, *turns) == [[], [], [], [], [], ["guard1"]]


def test_a_guard_that_the_user_paused_keeps_the_users_pause(store: Store) -> None:
    put(store, guard())
    outcomes_of_turns(store, "npm ci", "npm ci")
    with atomic(store.db):
        guards.put(store.db, replace(guards.get(store.db, "guard1"), status="paused"))
    fire(store, 3)
    assert judge(store, [bash("ls"), bash("ls"), bash("npm ci")]) == []
    assert guards.get(store.db, "guard1").note == ""


def test_a_resumed_guard_is_not_paused_by_what_was_overridden_before(store: Store) -> None:
    put(store, guard())
    outcomes_of_turns(store, "npm ci", "npm ci", "npm ci")
    row = guards.get(store.db, "guard1")
    with atomic(store.db):
        guards.put(store.db, replace(row, status="active", changed_at=firing("ask", 4).at))
    fire(store, 4)
    assert judge(store, [bash("ls"), bash("ls"), bash("ls"), bash("npm ci")]) == []
    assert guards.get(store.db, "guard1").status == "active"


def test_a_turn_counts_as_an_occasion_only_with_the_guarded_thing_or_its_alternative(store: Store) -> None:
    put(store, guard())
    judge(store, [bash("ls"), write("src/a.py")], "s0")
    assert guards.occasions_of(store.db, "guard1", "ledger") == []
    judge(store, [bash("pnpm install")], "s1")
    fire(store, 1)
    judge(store, [bash("npm ci")], "s1")
    assert [(one.session, one.violations) for one in guards.occasions_of(store.db, "guard1", "ledger")] == [("s1", 1)]


def test_a_firing_is_stored_once_and_decided_once(store: Store) -> None:
    put(store, guard())
    fire(store, 1)
    fire(store, 1)
    judge(store, [bash("npm ci")])
    judge(store, [bash("pnpm install")])
    assert guard_ledger.counts(store.db, ["guard1"]) == {"guard1": {"overridden": 1}}
    assert guard_ledger.totals(store.db, AT) == {"overridden": 1}


def test_a_failure_keeps_its_reason_on_one_line() -> None:
    assert ledger.failure_of(NAME, {"guard": "g", "reason": "took\ntoo long"}).reason == "took too long"


def test_forgotten_sessions_and_turns_leave_the_ledger(store: Store) -> None:
    put(store, guard())
    fire(store, 1)
    judge(store, [bash("npm ci")])
    with atomic(store.db):
        guard_ledger.forget(store.db, sessions=[], turns=["p1"])
    assert guard_ledger.of_guard(store.db, "guard1", 10) == []
    with atomic(store.db):
        guard_ledger.forget(store.db, sessions=["s1"], turns=[])
    assert guards.occasions_of(store.db, "guard1", "ledger") == []


def test_text_that_repeats_what_was_forgotten_leaves_the_firing(store: Store) -> None:
    put(store, guard())
    fire(store, 1)
    judge(store, [bash("npm run zanzibarium")])
    with atomic(store.db):
        guard_ledger.forget_repetitions(store.db, lambda text: "zanzibarium" in text)
    assert [one.text for one in guard_ledger.of_guard(store.db, "guard1", 10)] == [""]
