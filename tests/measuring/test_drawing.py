"""Facts are drawn by rules of their own: what counts as one, and what does not."""

import random

import pytest
from benchmarks.drawing import Fact, core_of, draw, facts_of, pools
from benchmarks.transcripts import Call, RawTurn

EDIT = Call("Edit", {}, record={"structuredPatch": []})


def ran(command: str, output: str, *, failed: bool = False) -> list[Fact]:
    return list(facts_of("s", Call("Bash", {"command": command}, output, failed=failed)))


def told(facts: list[Fact], kind: str) -> list[tuple[str, ...]]:
    return [fact.needles for fact in facts if fact.kind == kind]


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ("--- FAIL: TestLogin (0.00s)", "TestLogin"),
        ("    --- FAIL: TestLogin/expired (0.00s)", "TestLogin/expired"),
        ("FAILED tests/test_auth.py::test_login - assert 1 == 2", "tests/test_auth.py::test_login"),
        ("test auth::login ... FAILED", "auth::login"),
        ("Tests: 1 failed\n  ✕ rejects old tokens (4 ms)", "rejects old tokens"),
        ("rspec ./spec/a_spec.rb:3 # Login rejects old tokens", "Login rejects old tokens"),
    ],
)
def test_failing_tests_of_each_runner_are_facts(output: str, name: str) -> None:
    assert told(ran("make test", output, failed=True), "failing test") == [(name,)]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("src/a.go:12:3: undefined: parseToken", "undefined: parseToken"),
        ("error[E0425]: cannot find value `token`", "cannot find value `token`"),
        ("ValueError: the token has expired", "the token has expired"),
        ("    a_test.go:7: expected 3 sessions, got 2", "expected 3 sessions, got 2"),
    ],
)
def test_an_error_is_its_message_without_its_place(output: str, message: str) -> None:
    assert told(ran("make test", output, failed=True), "error") == [(message,)]


def test_a_remark_of_a_test_is_no_error() -> None:
    output = "    a_test.go:7: session A has 1 checkpoint\n    a_test.go:9: 2026/01/06 14:11:05 INFO not stored"
    assert told(ran("go test ./...", output, failed=True), "error") == []


def test_a_command_is_told_without_pipes_and_redirections() -> None:
    assert core_of('cd /srv && go test -run "TestA|TestB" ./... 2>&1 | tail -5') == 'go test -run "TestA|TestB" ./...'


@pytest.mark.parametrize(
    "command", ["ls -la", "git status", "cat <<EOF\nmake all\nEOF", "rm -rf build", "gh pr view 3"]
)
def test_looking_and_tidying_are_no_commands_worth_a_fact(command: str) -> None:
    assert core_of(command) == ""


def test_a_commit_counts_by_its_subject() -> None:
    command = "git commit -m \"$(cat <<'EOF'\nLet old tokens expire\n\nMore.\nEOF\n)\""
    assert told(ran(command, "1 file changed, 2 insertions(+)"), "command") == [("Let old tokens expire",)]


def test_counts_are_numbers_and_times_and_nothings_are_not() -> None:
    assert told(ran("make test", "12 passed in 3.2 seconds, 0 failed"), "number") == [("12", "passed")]


def test_functions_are_those_that_changed_lines_define_or_stand_in() -> None:
    before = "func parseToken() {\n\treturn 1\n}\n\nvar limit = 3\n"
    hunk = {"oldStart": 1, "lines": [" func parseToken() {", "-\treturn 1", "+\treturn 2", " }", "+func newToken() {"]}
    call = Call("Edit", {}, record={"originalFile": before, "structuredPatch": [hunk]})
    assert {needles for (needles,) in told(list(facts_of("s", call)), "function")} == {"parseToken", "newToken"}


def test_what_stands_after_a_function_is_not_in_it() -> None:
    before = "func parseToken() {\n}\n\nvar limit = 3\n"
    hunk = {"oldStart": 4, "lines": ["-var limit = 3", "+var limit = 4"]}
    call = Call("Edit", {}, record={"originalFile": before, "structuredPatch": [hunk]})
    assert list(facts_of("s", call)) == []


def test_only_turns_that_changed_something_are_drawn_from() -> None:
    run = Call("Bash", {"command": "make all"}, "2 warnings")
    looked, changed = RawTurn("a", "look", calls=[run]), RawTurn("b", "change it", calls=[run, EDIT])
    assert {fact.session for facts in pools([looked, changed], random.Random(1)).values() for fact in facts} == {"b"}


def test_the_same_seed_draws_the_same_and_another_one_does_not() -> None:
    turns = [
        RawTurn(f"s{number}", "", calls=[EDIT, Call("Bash", {"command": f"make target{number}"}, "")])
        for number in range(50)
    ]
    assert draw(turns, 10, 1) == draw(turns, 10, 1) != draw(turns, 10, 2)
    assert len(draw(turns, 10, 1)) == 10
