"""Memories of a turn are true and unique: no open step as done, no repeated lesson of the user, no title twice."""

import pytest

from claude_mem_lite.compress.prose.sentence_types import states_decision
from claude_mem_lite.compress.rules.session_summary import summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.compress.toolcalls.fix_pairing import is_over
from claude_mem_lite.models import SessionSummary, Turn
from tests.support.turns import AUTH, PYTEST_FAILED, PYTEST_PASSED, bash, bash_failed, edit, turn, write

QUEUE = write("queue.go", "package queue\n\nfunc Push(order int) {\n\tsend(order)\n}\n")
FIX = edit("src/auth.py", AUTH, "now * 1000", "now")


def after(*turns: Turn) -> SessionSummary:
    summary: SessionSummary | None = None
    for one in turns:
        summary = summarize(summary, one, fold(one))
    assert summary is not None
    return summary


@pytest.mark.parametrize(
    ("closing", "step", "word"),
    [
        (
            "Decided to use RabbitMQ because Redis loses orders.\n\nTODO: add a retry to Push.",
            "Add a retry to Push.",
            "retry",
        ),
        ("Still open: a retry with a pause between two tries in Push.", "A retry with a pause", "retry"),
        ("Left: wire the metrics of Push to the dashboard.", "Wire the metrics of Push", "metrics"),
        ("TODO: add a retry with a pause to Push in queue.go.", "Add a retry with a pause to Push", "retry"),
        (
            "## Next steps\n- Add a retry to Push, with a pause between two tries.",
            "Add a retry to Push, with a pause",
            "retry",
        ),
        ("- TODO: add a retry to Push, with a pause between two tries", "Add a retry to Push, with a pause", "retry"),
    ],
)
def test_a_step_to_come_is_never_told_as_done(closing: str, step: str, word: str) -> None:
    made = turn("which queue?", QUEUE, closing=closing)
    summary = after(made)
    (named,) = summary.next_steps
    assert named.startswith(step)
    told = [summary.headline, summary.completed, *(f"{one.title} {one.summary}" for one in fold(made).drafts)]
    assert not [text for text in told if word in text.split()], told


@pytest.mark.parametrize(
    "said",
    [
        "Understood, I will use pnpm and never push without asking.",
        "Got it, we will use pnpm from now on.",
        "Will do, I will use pnpm.",
        "Noted: I will stick to pnpm for all packages.",
        "OK, I'll use pnpm and keep the commits small.",
        "Okay, we'll go with pnpm from now on.",
        "I will use pnpm from now on.",
        "From now on I will use pnpm.",
        "I will always use pnpm and keep commits small.",
    ],
)
def test_saying_back_what_the_user_said_is_no_decision(said: str) -> None:
    assert not states_decision(said)
    told = turn("I prefer pnpm over npm", QUEUE, closing=said)
    summary = after(told)
    assert summary.key_decisions == ()
    assert "pnpm" not in summary.completed
    assert [draft.kind for draft in fold(told).drafts] == ["preference"]


FAILING = turn(
    "run the tests",
    bash_failed("pytest", PYTEST_FAILED),
    closing="test_fresh_is_valid in tests/test_session.py fails because milliseconds are compared with seconds.",
)


def test_a_test_that_passes_later_in_the_session_is_not_told_as_failing() -> None:
    fixed = turn("fix it", FIX, bash("pytest", PYTEST_PASSED), closing="Compared seconds with seconds in is_valid.")
    assert "fails" not in f"{after(FAILING, fixed)}"
    assert after(FAILING, turn("and again", bash("pytest", PYTEST_PASSED), closing="All green.")).notes == ""


def test_a_test_that_fails_on_is_told_as_failing() -> None:
    other = turn("lint it", bash("ruff check .", "All checks passed!"), closing="All green.")
    assert after(FAILING, other).notes.startswith("Still failing: pytest fails")


@pytest.mark.parametrize(
    ("title", "passed", "over"),
    [
        ("pytest fails: test_sum", ("pytest",), True),
        ("pytest tests/test_cart.py -q fails: test_sum", ("pytest tests",), True),
        ("pytest tests/test_cart.py -q fails: test_sum", ("pytest",), True),
        ("pytest fails: test_sum", ("pytest tests/test_cart.py",), False),
        ("make test fails: test_sum", ("make",), False),
        ("npm test fails: test_sum", ("npm run build",), False),
    ],
)
def test_a_failure_is_over_when_its_command_or_a_wider_one_passes(
    title: str, passed: tuple[str, ...], *, over: bool
) -> None:
    assert is_over(title, passed) is over


def test_the_request_is_told_without_greeting_and_without_what_was_taught() -> None:
    asked = turn("Hi! I prefer small commits. Please add a queue for orders.", QUEUE)
    assert after(asked).request == "Please add a queue for orders."


@pytest.mark.parametrize("hello", ["hello", "Hi there!", "Guten Morgen, hallo zusammen 👋", "hey" + " " * 20_000])
def test_a_greeting_is_no_request_and_no_headline(hello: str) -> None:
    greeted = turn(hello, closing="Hello! How can I help you today?")
    assert (after(greeted).headline, after(greeted).request) == ("", "")
    asked = after(greeted, turn("why is the sum in src/cart.py wrong?", closing="I do not know yet."))
    assert "sum" in asked.headline
    assert asked.request == "why is the sum in src/cart.py wrong?"
