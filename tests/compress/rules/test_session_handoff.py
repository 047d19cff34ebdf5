"""What a session leaves open is told in one memory, as a fact and not as an order."""

from dataclasses import replace

import pytest

from claude_mem_lite.compress.compose.next_steps import subjects_of
from claude_mem_lite.compress.rules.session_handoff import handoff
from claude_mem_lite.compress.rules.session_summary import summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.models import Draft, SessionSummary, Turn
from tests.support.turns import AUTH, PYTEST_FAILED, PYTEST_PASSED, bash, bash_failed, edit, todos, turn, write

FIX = edit("src/auth.py", AUTH, "now * 1000", "now")
WITH_STEPS = turn(
    "Add a cart to the shop",
    write("src/cart.py", "class Cart:\n    pass\n"),
    closing="I've added a `Cart` class in `src/cart.py`.\n\n## Next steps\n- Add checkout\n- Write docs",
)


def left_by(*turns: Turn, branch: str = "") -> Draft | None:
    summary: SessionSummary | None = None
    left = None
    listed: list[str] = []
    for one in turns:
        digest = fold(one)
        summary = summarize(summary, one, digest, listed_before=listed)
        listed += digest.tasks
        left = handoff(summary, digest, branch)
    return left


def test_next_steps_are_left_open() -> None:
    left = left_by(WITH_STEPS, branch="carts")
    assert left is not None
    assert (left.kind, left.title) == ("handoff", "Left open: Add checkout (and 1 more)")
    assert left.summary == "Open when it stopped: Add checkout; Write docs."
    assert left.facts == ("Branch: carts", "Edited last: src/cart.py")
    assert left.files == ("src/cart.py",)


def test_open_to_dos_are_left_open() -> None:
    left = left_by(turn("add refunds", todos(("Model refunds", "completed"), ("Show refunds", "in_progress"))))
    assert left is not None
    assert left.title == "Left open: Show refunds"


def test_a_command_that_still_fails_is_left_open_with_its_error() -> None:
    left = left_by(
        turn(
            "run the tests",
            bash_failed("pytest", PYTEST_FAILED),
            closing="test_fresh_is_valid in tests/test_session.py fails.",
        )
    )
    assert left is not None
    assert left.title.startswith("Left open: Still failing: pytest fails: tests/test_session.py::test_fresh_is_valid")
    assert "Failed last: Failing test: tests/test_session.py::test_fresh_is_valid: AssertionError: assert False" in (
        left.facts
    )


@pytest.mark.parametrize(
    "error",
    [
        'error: Script not found "generate:prices"',
        "error: a hook denied this tool",
        "sh: 1: vitest: command not found",
        "error: unknown command 'lnt' for 'shop'",
    ],
)
def test_a_command_that_was_called_wrong_or_not_let_run_is_not_left_open(error: str) -> None:
    assert left_by(turn("check it", bash_failed("bun run build", error), closing="It does not run.")) is None


def test_nothing_is_left_open_once_all_is_done() -> None:
    fixed = turn("go on", bash_failed("pytest", PYTEST_FAILED), FIX, bash("pytest", PYTEST_PASSED))
    finished = turn("do the rest", FIX, closing="I added checkout and the docs. Nothing else is left to do.")
    assert left_by(turn("run the tests", bash_failed("pytest", PYTEST_FAILED)), fixed) is None
    assert left_by(WITH_STEPS, finished) is None
    assert left_by(turn("what does Cart do?", closing="It holds items.")) is None


def test_a_step_is_done_when_a_later_turn_of_the_session_says_so_of_what_it_ran() -> None:
    first = turn("add a cart", FIX, closing="Added it. Next: migrate the staging database to the new cart table.")
    ran = bash("./migrate staging", "done")
    said = "Migrated the staging database to the new cart table."
    assert left_by(first, turn("go on", ran, closing=said)) is None
    assert left_by(first, turn("go on", closing=said)) is not None
    denied = "Did not migrate the staging database to the new cart table."
    assert left_by(first, turn("go on", ran, closing=denied)) is not None


LISTED = turn("add refunds", todos(("Model refunds", "completed"), ("Show refunds in the till", "in_progress")))


@pytest.mark.parametrize(
    "later",
    [
        turn("go on", FIX),
        turn("go on", closing="The refunds are in the till now."),
        turn("go on", todos(("Print a receipt", "completed"))),
    ],
)
def test_an_entry_of_a_list_is_open_only_until_a_later_turn_does_or_says_anything(later: Turn) -> None:
    assert left_by(LISTED) is not None
    assert left_by(LISTED, turn("wait")) is not None
    assert left_by(LISTED, later) is None


@pytest.mark.parametrize(
    "entry", ["Wait for CI", "Merge PR", "Run tests and lint", "Ask clarifying questions", "Task 4: Write design doc"]
)
def test_an_entry_that_any_work_has_is_not_left_open(entry: str) -> None:
    assert left_by(turn("add refunds", todos((entry, "pending")))) is None
    assert left_by(turn("add refunds", todos((f"{entry} of the refunds", "pending")))) is not None


def test_a_step_whose_file_was_edited_later_is_doubtful_and_not_told() -> None:
    first = turn(
        "add a cart", write("cart.py", "x = 1\n"), closing="Added it. Next: move the clock out of src/auth.py."
    )
    assert left_by(first) is not None
    assert left_by(first, turn("go on", write("till.py", "x = 1\n"), closing="Wrote the till.")) is not None
    assert left_by(first, turn("go on", FIX, closing="Compares seconds.")) is None


def test_the_subject_of_a_commit_is_read_without_its_type_and_size() -> None:
    told = "Commit 1a2b3c4 on main: feat(till): print sums of a day (2 files changed, 3 insertions(+))"
    plain = "Commit 1a2b3c4: Print receipts (again)"
    made = [Draft("feature", "x", "y", facts=("Edited till.py", told)), Draft("feature", "x", "y", facts=(plain,))]
    assert subjects_of(made) == ("print sums of a day", "Print receipts (again)")


@pytest.mark.parametrize("said", ["Added checkout.", "I've moved the clock.", "Fixed what was still open."])
def test_a_report_of_what_was_done_is_no_step_wherever_it_stands(said: str) -> None:
    assert left_by(turn("go on", FIX, closing=f"The cart is there.\n\n## Remaining\n- {said}")) is None


def test_what_is_left_behind_a_report_is_a_step() -> None:
    said = "Added the cart, but checkout still needs tests."
    assert left_by(turn("go on", FIX, closing=said)) is not None


LEFT = [
    "Still to do: add checkout.",
    "Remaining: add checkout.",
    "Not yet done: add checkout.",
    "- [ ] add checkout",
    "## Remaining work\n- add checkout",
    "The remaining steps are:\n- add checkout",
    "TODO: add checkout.",
]


@pytest.mark.parametrize("said", LEFT)
def test_a_step_is_open_where_the_agent_says_that_it_is_left(said: str) -> None:
    left = left_by(turn("go on", FIX, closing=f"Added the cart to src/auth.py.\n\n{said}"))
    assert left is not None
    assert left.title == "Left open: Add checkout"


@pytest.mark.parametrize(
    "said",
    [
        "Checkout still needs a page for refunds.",
        "The parser docs still need an example.",
        "The proxy still needs to be configured.",
        "The upload still needs testing on Windows.",
        "The guide still needs its old example replaced before the release.",
        "Deferred: the refund page.",
        "Two points of the review remain open: refunds and the tax.",
    ],
)
def test_a_step_is_open_where_a_sentence_says_so(said: str) -> None:
    assert left_by(turn("go on", FIX, closing=f"Added the cart to src/auth.py. {said}")) is not None


@pytest.mark.parametrize(
    "said",
    [
        "The change was small: added the enum to the import and replaced the TODO stub in total() with a sum.",
        "Resolved the last TODO of the cart.",
        "I'd lean toward the second way since the cart hasn't been merged yet.",
        "This still fails.",
        "The cart has not been committed.",
        "The remaining uses of total() are right.",
        "If you still need the old cart, keep it.",
        "The PR is still open.",
        "## Test plan\n- [ ] Try a refund by hand",
        "## Next steps\nWould you like me to add checkout?",
        "This is blocked by the missing key of the payment provider.",
        "TODO comments are gone from the parser.",
        "The server is not started by the hook.",
        "Python 3.8 still needs `typing_extensions`.",
        "Login still needs a password.",
        "The bug is still open upstream (#123).",
        "A bug of the driver is still open upstream.",
        "Deferred: constraints are checked at commit.",
    ],
)
def test_what_only_sounds_like_a_step_is_not_left_open(said: str) -> None:
    assert left_by(turn("go on", FIX, closing=f"Added it to src/auth.py.\n\n{said}")) is None


def test_a_prompt_whose_turn_broke_off_is_no_open_step() -> None:
    whole = turn("Move the session check to the middleware", FIX)
    assert left_by(replace(whole, events=whole.events[:-1])) is None


def test_a_question_that_was_answered_leaves_nothing_open() -> None:
    assert left_by(turn("what does Cart do?", closing="It holds items.")) is None


def test_a_handoff_has_whole_steps_alone() -> None:
    steps = [f"Import {' and '.join(f'carts of kind {number}' for number in range(at, at + 11))}" for at in range(5)]
    left = left_by(turn("go on", todos(*((step, "pending") for step in steps))))
    assert left is not None
    assert left.summary == f"Open when it stopped: {'; '.join(steps[:4])}."
