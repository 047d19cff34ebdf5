"""Tests of `compress/toolcalls/fix_pairing.py`, `compress/toolcalls/test_selection.py` and
`compress/toolcalls/fix_pairing.py`: runs that prove a failure gone: the same command, or a command that runs at
least the same tests."""

from dataclasses import replace

import pytest

from claude_mem_lite.compress.toolcalls.fix_pairing import VerifiedFix, is_over, pair
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.models import Event
from tests.support.turns import AUTH, bash, bash_failed, edit, write

TEST = "tests/shop/test_cart.py::test_total"
FIX = edit("src/auth.py", AUTH, "now * 1000", "now")


def pytest_failed(*tests: str, passed: int = 3) -> str:
    lines = [f"FAILED {test} - AssertionError: expected 3 francs" for test in tests or (TEST,)]
    return "\n".join((*lines, f"{len(lines)} failed, {passed} passed in 0.31s"))


def fixes(*events: Event) -> list[VerifiedFix]:
    return pair([step for event in events for step in read_steps(event)])[0]


def is_proved(failing: Event, passing: Event, between: Event = FIX) -> bool:
    return bool(fixes(failing, between, passing))


def ran_in(folder: str, event: Event) -> Event:
    return replace(event, cwd=folder)


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("pytest", "pytest"),
        ("pytest -q", "pytest -x --tb=short"),
        ("pytest tests/shop/test_cart.py", "pytest tests/shop"),
        ("pytest tests/shop/test_cart.py", "pytest tests/"),
        ("pytest tests/shop/test_cart.py", "pytest ./tests/shop/test_cart.py --cov=src --cov-report term"),
        (f"pytest {TEST}", "pytest tests/shop/test_cart.py"),
        ("pytest -k total", "pytest"),
        ("pytest --deselect tests/test_slow.py", "pytest"),
        ("python -m pytest tests/shop", "uv run pytest tests"),
        ("cd src && pytest", "cd src && pytest -v"),
        ("pytest 2>&1 | tail -5", "timeout 60 pytest 2>&1 | tail -20"),
    ],
)
def test_what_runs_the_failing_test_proves_it(failing: str, passing: str) -> None:
    assert is_proved(bash_failed(failing, pytest_failed()), bash(passing, "4 passed in 0.2s"))


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        ("pytest tests/shop", "pytest tests/zephyr"),
        ("pytest tests/shop", "pytest tests/shop/test_other.py"),
        ("pytest tests/shop", "pytest tests/shop_floor"),
        ("pytest", "pytest tests/zephyr"),
        ("pytest", "pytest --deselect tests/shop/test_cart.py"),
        ("pytest", "pytest --ignore=tests/shop"),
        ("pytest", "pytest -k 'not total'"),
        ("pytest", "pytest -k empty"),
        ("pytest", "pytest -m fast"),
        ("pytest -m slow", "pytest"),
        ("pytest", "pytest -p no:cart"),
        ("cd shop && pytest", "cd billing && pytest"),
        ("pytest", "git stash && pytest"),
        ("pytest", "git checkout main && pytest"),
        ("pytest", "npm test"),
        ("pytest", "make check"),
        ("make test RACE=1", "make test"),
        ("python run_tests.py", "python run_tests.py zephyr"),
        ("python run_tests.py shop", "python run_tests.py"),
        ("./run_tests.sh", "./run_tests.sh zephyr"),
        ("docker compose exec web pytest", "docker compose exec db pytest tests"),
        ("pytest", "pytest --collect-only"),
    ],
)
def test_what_may_leave_the_failing_test_out_proves_nothing(failing: str, passing: str) -> None:
    assert not is_proved(bash_failed(failing, pytest_failed()), bash(passing, "192 passed in 0.2s"))


@pytest.mark.parametrize(
    "printed",
    ["4 passed", "tests/shop/test_cart.py ....", "3 passed, 1 skipped in 0.2s", "3 passed in 0.2s"],
    ids=["a pipe hides the totals", "cut off", "skipped instead", "taken out instead"],
)
def test_a_run_of_which_nobody_knows_that_the_test_passed_proves_nothing(printed: str) -> None:
    assert not is_proved(bash_failed("pytest", pytest_failed()), bash("pytest | head -3", printed))


@pytest.mark.parametrize(
    ("failing", "test", "passing", "shown"),
    [
        ("pytest tests/shop", TEST, "pytest", "3 passed in 0.2s"),
        (f"pytest {TEST}", TEST, "pytest", "tests/shop/test_cart.py ....   [100%]\n3 passed in 0.2s"),
        (f"pytest {TEST}", TEST, "pytest tests", "3 passed in 0.2s"),
        (f"pytest {TEST}", TEST, "pytest tests", "30 passed, 1 skipped in 0.2s"),
        (f"pytest {TEST}", TEST, "pytest tests", "30 passed, 1 xfailed in 0.2s"),
        ("pytest", TEST, "pytest", "4 passed, 1 xfailed in 0.2s"),
        ("pytest -k total", TEST, "pytest", "30 passed, 1 skipped in 0.2s"),
        ("pytest", TEST, "pytest tests/shop", "3 passed, 1 skipped in 0.2s"),
        ("pytest", TEST, "pytest -k total", "3 passed, 1 xfailed, 20 deselected in 0.2s"),
    ],
)
def test_a_run_that_may_have_left_the_test_out_or_shows_fewer_passing_proves_nothing(
    failing: str, test: str, passing: str, shown: str
) -> None:
    assert not is_proved(bash_failed(failing, pytest_failed(test)), bash(passing, shown))


def test_a_test_of_vitest_that_is_still_to_be_written_is_not_put_right() -> None:
    failing = " FAIL  src/cart.test.ts > adds\n  Tests  1 failed | 3 passed (4)"
    told = [
        is_proved(bash_failed("npx vitest run", failing), bash("npx vitest run", f"  Tests  {totals} (5)"))
        for totals in ("5 passed", "4 passed | 1 todo")
    ]
    assert told == [True, False]


def test_what_a_command_deselects_itself_is_not_taken_out() -> None:
    unbuilt = "ERROR tests/shop/test_cart.py - ImportError: cannot import name 'total'\n1 error in 0.2s"
    assert is_proved(bash_failed("pytest -k total", unbuilt), bash("pytest -k total", "4 passed, 9 deselected in 0.2s"))


def test_a_run_of_less_than_what_failed_proves_nothing() -> None:
    failing = bash_failed("pytest", pytest_failed(TEST, "tests/test_tax.py::test_rate"))
    assert not is_proved(failing, bash(f"pytest {TEST}", "1 passed in 0.2s"))


def test_when_not_all_failing_tests_are_known_all_that_failed_must_be_run() -> None:
    failing = bash_failed("pytest tests/shop", f"FAILED {TEST} - AssertionError: expected 3\n9 failed, 1 passed in 1s")
    assert not is_proved(failing, bash(f"pytest {TEST}", "1 passed in 0.2s"))
    assert is_proved(failing, bash("pytest tests", "10 passed in 0.2s"))


GO_FAILED = "--- FAIL: TestTotal (0.00s)\n    cart_test.go:9: got 2, want 3\nFAIL\nFAIL\tshop.example/cart\t0.1s\nFAIL"
GO_OK = "ok  \tshop.example/cart\t0.1s"
CARGO_FAILED = "test cart::tests::total ... FAILED\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored"
CARGO_OK = "test result: ok. 4 passed; 0 failed; 0 ignored"


@pytest.mark.parametrize(
    ("failing", "printed", "passing", "shown", "proved"),
    [
        ("go test ./cart", GO_FAILED, "go test ./...", GO_OK, True),
        ("go test ./... -run Total", GO_FAILED, "go test -count=1 ./...", GO_OK, True),
        ("go test ./...", GO_FAILED, "go test ./cart", GO_OK, False),
        ("go test ./...", GO_FAILED, "go test ./... -run TestEmpty", GO_OK, False),
        ("go test ./...", GO_FAILED, "go test ./... -run TestTotal", f"{GO_OK} [no tests to run]", False),
        (
            "go test ./...",
            GO_FAILED,
            "go test -v ./tax",
            "--- PASS: TestTotal (0.0s)\nok  \tshop.example/tax\t1s",
            False,
        ),
        ("go test -race ./...", GO_FAILED, "go test ./...", GO_OK, False),
        ("go test ./cart", GO_FAILED, "go test", GO_OK, False),
        ("cargo test total", CARGO_FAILED, "cargo test", CARGO_OK, True),
        ("cargo test", CARGO_FAILED, "cargo test --bin shop", CARGO_OK, False),
        ("cargo test", CARGO_FAILED, "cargo test tax::", CARGO_OK, False),
        ("mise run test", GO_FAILED, "mise run test", GO_OK, True),
        ("mise run test", GO_FAILED, "mise run lint", "", False),
    ],
)
def test_other_runners_are_known_by_how_they_select(
    failing: str, printed: str, passing: str, shown: str, proved: bool
) -> None:
    assert is_proved(bash_failed(failing, printed), bash(passing, shown)) is proved


LINT_FAILED = "src/auth.py:3:1: F401 `os` imported but unused"


@pytest.mark.parametrize(
    ("failing", "passing", "proved"),
    [
        ("ruff check .", "ruff check .", True),
        ("ruff check .", "ruff check src", False),
        ("ruff check .", "ruff format .", False),
        ("ruff check .", "ruff check --fix .", False),
        ("ruff check . && mypy .", "mypy .", False),
        ("go build ./...", "go build ./cmd", False),
        ("make", "make -n", False),
        ("npm run build", "npm run build 2>&1 | tail -3", True),
        ("npm run build", "npm run build | grep -c error", False),
        ("npm run build", "npm run build 2>&1 | head -20", False),
    ],
)
def test_builds_and_linters_are_proved_by_the_same_command(failing: str, passing: str, proved: bool) -> None:
    assert is_proved(bash_failed(failing, LINT_FAILED), bash(passing, "")) is proved


@pytest.mark.parametrize("shown", ["", " | tail -40", " | head -40", " | grep -v warning", " | cat"])
def test_a_program_whose_exit_code_is_hidden_proves_nothing_by_what_it_printed(shown: str) -> None:
    failing = bash_failed("./preflight --all", "Error: fixer ended with 1")
    printed = "docs/cart.md:72:11: link to prices.md does not exist\n\nFound 12 faults in 5 files"
    assert is_proved(failing, bash(f"./preflight --all 2>&1{shown}", printed)) is (shown == "")


def test_a_runner_that_crashed_is_known_by_its_command() -> None:
    crashed = bash_failed("bun run ci", "Error: Cannot find module './cart'")
    assert is_proved(crashed, bash("bun run ci", "4 passed in 0.2s"))
    assert not is_proved(crashed, bash("bun run e2e", "4 passed in 0.2s"))


def test_another_interpreter_does_not_prove_that_a_missing_module_was_installed() -> None:
    failing = bash_failed("pytest", "ModuleNotFoundError: No module named 'lxml'")
    assert not is_proved(failing, bash(".venv/bin/pytest", "4 passed in 0.2s"), bash("pip install lxml", "ok"))
    assert is_proved(failing, bash("pytest", "4 passed in 0.2s"), bash("pip install lxml", "ok"))


@pytest.mark.parametrize(
    "between",
    [
        bash("./pre-commit --fix", "fixed 2 files"),
        bash("bun run tsc:check", "ok"),
        bash("python3 - <<'EOF'\nprint(1)\nEOF", "1"),
        bash("for f in a b; do echo $f; done", "a"),
        write("README.md", "# Shop\n"),
    ],
    ids=["a formatter", "a check", "typed code", "a loop", "prose"],
)
def test_what_cannot_have_made_a_test_pass_is_not_told_as_its_fix(between: Event) -> None:
    assert not is_proved(bash_failed("pytest", pytest_failed()), bash("pytest", "4 passed in 0.2s"), between)


def test_edits_that_were_put_away_or_set_back_are_not_told_as_the_fix() -> None:
    failing, passing = bash_failed("pytest", pytest_failed()), bash("pytest", "4 passed in 0.2s")
    away = bash("git stash", "Saved")
    assert not fixes(failing, FIX, away, passing)
    assert not fixes(failing, FIX, bash("git checkout -- src/auth.py"), passing)
    assert not fixes(failing, FIX, bash("git reset --hard"), passing)


def test_what_fails_again_is_not_told_as_passing() -> None:
    failing, passing = bash_failed("pytest", pytest_failed()), bash("pytest", "4 passed in 0.2s")
    assert not fixes(failing, FIX, passing, failing)
    other = bash_failed("pytest", pytest_failed("tests/test_tax.py::test_rate"))
    assert not fixes(failing, FIX, passing, other)


def test_the_folder_of_a_command_is_known_before_and_after_it_changed_to_it() -> None:
    failing = ran_in("/home/dev/shop", bash_failed("cd web && npm test", "Tests: 1 failed, 3 passed"))
    passing = ran_in("/home/dev/shop/web", bash("cd web && npm test", "Tests: 4 passed"))
    elsewhere = ran_in("/home/dev/shop/api", bash("npm test", "Tests: 4 passed"))
    assert is_proved(failing, passing)
    assert not is_proved(failing, elsewhere)


@pytest.mark.parametrize(
    ("failing", "passed", "over"),
    [
        ("pytest tests/shop", "pytest", True),
        ("pytest -k total", "pytest", True),
        ("cargo test total", "cargo test", True),
        ("pytest tests/shop", "pytest tests", True),
        ("pytest", "pytest tests/shop", False),
        ("pytest tests/shop", "pytest -k total", False),
        ("go test ./cart", "go test ./...", True),
        ("go test ./cart", "go test", False),
        ("cargo test --features tax", "cargo test", False),
        ("ruff check --select F .", "ruff check .", False),
        ("npm run build", "npm run", False),
    ],
)
def test_a_failure_is_over_once_the_same_and_more_has_passed(failing: str, passed: str, over: bool) -> None:
    assert is_over(f"{failing} fails: expected 3 francs", [passed]) is over
