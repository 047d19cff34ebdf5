"""Tests of `guards/replay.py` and `guards/occasions.py`: past calls that a guard would have fired on, occasions, and
doubt."""

import pytest

from claude_mem_lite.guards.matching import Call
from claude_mem_lite.guards.occasions import MAX_TEXT, fires, is_alternative, shown_call
from claude_mem_lite.guards.replay import GuardRun, ProjectReplay, objects
from claude_mem_lite.guards.rule import Rule
from tests.guards.samples import NO_FORCE, NPM, ROOT, VENDOR, bash, guard, past, write


def replayed(*calls: object, rule: Rule = NPM) -> GuardRun:
    replay = GuardRun(guard(rule))
    for call in calls:
        replay.add(call)  # type: ignore[arg-type]
    return replay


def test_a_replay_keeps_the_calls_that_would_have_fired() -> None:
    replay = replayed(past(bash("cd web && npm ci")), past(bash("echo npm")), past(write("npm")))
    assert [(match.text, match.matched) for match in replay.matches] == [("cd web && npm ci", "npm ci")]


def test_three_calls_in_two_turns_that_the_user_let_pass_make_a_guard_doubtful() -> None:
    replay = replayed(*(past(bash("npm ci"), turn=f"t{number % 2}", minute=number + 1) for number in range(3)))
    assert replay.doubt() == "it would have fired on 3 calls that you let pass after you stated the rule"


@pytest.mark.parametrize(
    "calls",
    [
        [past(bash("npm ci"), minute=number + 1) for number in range(5)],
        [past(bash("npm ci"), turn=f"t{number}", ran="refused") for number in range(5)],
        [past(bash("npm ci"), turn=f"t{number}", then="no, not like that") for number in range(5)],
        [past(bash("npm ci"), turn=f"t{number}", then="you ran npm") for number in range(5)],
        [past(bash("npm ci"), turn=f"t{number}", then="") for number in range(5)],
        [past(bash("npm ci"), turn=f"t{number}", minute=0) for number in range(5)],
        [past(bash("npm ci"), turn=f"t{number}") for number in range(2)],
    ],
    ids=["one turn", "refused", "denied", "named", "no chance", "before it was stated", "too few"],
)
def test_other_calls_raise_no_doubt(calls: list[object]) -> None:
    assert replayed(*calls).doubt() == ""


def test_sessions_count_with_the_guarded_thing_or_its_alternative_alone() -> None:
    replay = replayed(
        past(bash("npm ci"), session="s1"),
        past(bash("npm test"), session="s1"),
        past(bash("pnpm install"), session="s2"),
        past(bash("ls"), session="s3"),
        past(bash("pnpm install"), session="s4", ran="refused"),
    )
    assert {one.session: one.violations for one in replay.occasions()} == {"s1": 2, "s2": 0}


def test_a_replay_keeps_the_newest_firings_and_the_first_time_of_each_session() -> None:
    replay = replayed(*(past(bash(f"npm run {minute}"), minute=minute) for minute in (2, 1, 3)))
    assert [match.text for match in replay.kept_matches()] == ["npm run 3", "npm run 2", "npm run 1"]
    (occasion,) = replay.occasions()
    assert occasion.at == past(bash("ls"), minute=1).at


def test_a_project_replay_runs_all_guards_over_each_call() -> None:
    run = ProjectReplay([GuardRun(guard()), GuardRun(guard(VENDOR))])
    for call in (past(bash("npm ci"), minute=5), past(write("vendor/a.py"), session="s2", minute=2)):
        run.add(call)
    assert [len(one.matches) for one in run.guards] == [1, 1]
    result = run.result(run.guards[0], "now", is_whole=True)
    assert (result.calls, result.sessions, result.since[14:16], result.until[14:16]) == (2, 2, "02", "05")


def test_a_prompt_objects_if_it_denies_or_names_what_is_guarded() -> None:
    objecting = ("no", "stop that", "don't do this", "why did you do it with npm?", "")
    assert [objects(prompt, guard()) for prompt in objecting] == [True] * len(objecting)
    assert not objects("thanks, now write the docs", guard())


@pytest.mark.parametrize(
    ("call", "rule", "instead"),
    [
        (bash("pnpm install"), NPM, "use pnpm"),
        (bash("cd web && pnpm i"), NPM, "`pnpm`"),
        (bash("make test"), Rule(commands=("pytest",)), "run make test"),
        (bash("git push origin fix"), NO_FORCE, ""),
        (bash("npm publish"), Rule(commands=("npm",), excepts=("npm publish",)), ""),
        (write("vendor/README.md"), Rule(paths=("vendor/",), excepts=("vendor/README.md",)), ""),
    ],
)
def test_the_alternative_of_a_guard_is_recognised(call: Call, rule: Rule, instead: str) -> None:
    assert is_alternative(guard(rule, instead), call)


@pytest.mark.parametrize(
    ("call", "rule", "instead"),
    [
        (bash("ls"), NPM, "use pnpm"),
        (bash("make clean"), Rule(commands=("pytest",)), "run make test"),
        (bash("echo pnpm"), NPM, "use pnpm"),
        (write("src/a.py"), VENDOR, ""),
        (bash("pnpm install"), VENDOR, "use pnpm"),
    ],
)
def test_other_calls_are_no_alternative(call: Call, rule: Rule, instead: str) -> None:
    assert not is_alternative(guard(rule, instead), call)


def test_a_guard_fires_on_its_own_tools_alone() -> None:
    assert fires(guard(), bash("npm ci"))
    assert not fires(guard(), write("npm"))


def test_a_call_is_shown_short_and_relative_to_the_checkout() -> None:
    assert shown_call(write("src/a.py")) == "src/a.py"
    assert len(shown_call(bash("npm " + "word " * 1_000))) <= MAX_TEXT
    assert ROOT not in shown_call(write("src/a.py"))
