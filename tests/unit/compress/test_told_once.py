"""What is told of a turn is so, and is told once: no step to come as done, no echo of the user, no title twice."""

import pytest

from claude_mem_lite.compress.language.sentence_kinds import states_decision, states_next_step
from claude_mem_lite.compress.rules.fixes import is_over
from claude_mem_lite.compress.rules.summary import summarize
from claude_mem_lite.compress.rules.turns import fold
from claude_mem_lite.models import SessionSummary, Turn
from tests.unit.compress.build import AUTH, PYTEST_FAILED, PYTEST_PASSED, bash, bash_failed, edit, read, turn, write

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
        ("TODO add a retry with a pause to Push in queue.go.", "Add a retry with a pause to Push", "retry"),
        ("Outstanding - measure how long Push takes with a full queue.", "Measure how long", "long"),
        (
            "## Next steps\nAdd a retry to Push, with a pause between two tries.",
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


def test_what_deals_with_to_dos_is_no_step_to_come() -> None:
    assert not states_next_step("Added a todo filter to the list of orders.")
    assert after(turn("go", QUEUE, closing="Added a todo filter to the list of orders.")).completed == (
        "Added a todo filter to the list of orders."
    )


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
    assert [draft.kind for draft in fold(told).drafts] == ["feature", "preference"]


def test_a_decision_that_only_repeats_the_lesson_is_the_lesson() -> None:
    told = turn("Use pnpm, not npm, for the packages.", QUEUE, closing="We will use pnpm for all packages.")
    assert [draft.kind for draft in fold(told).drafts] == ["feature", "correction"]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("OK, I decided to use SQLite because it needs no server.", "Use SQLite because it needs no server"),
        ("We will use SQLite, because it needs no server.", "Use SQLite, because it needs no server"),
    ],
)
def test_a_decision_of_the_agents_own_stays_one(said: str, title: str) -> None:
    (decision,) = [
        draft for draft in fold(turn("Which storage?", QUEUE, closing=said)).drafts if draft.kind != "feature"
    ]
    assert (decision.kind, decision.title) == ("decision", title)


def test_a_report_after_an_acknowledgement_is_a_report() -> None:
    closing = "Noted, I removed the npm lockfile from the repository."
    assert (
        after(turn("I prefer pnpm", QUEUE, closing=closing)).headline == "Remove the npm lockfile from the repository"
    )


FAILING = turn(
    "run the tests",
    bash_failed("pytest", PYTEST_FAILED),
    closing="One test fails because times of milliseconds are compared with times of seconds.",
)


def test_a_test_that_passes_later_in_the_session_is_not_told_as_failing() -> None:
    assert "One test fails" in after(FAILING).learned
    fixed = turn("fix it", FIX, bash("pytest", PYTEST_PASSED), closing="Compared seconds with seconds in is_valid.")
    summary = after(FAILING, fixed)
    assert "fails" not in f"{summary}"
    assert after(FAILING, turn("and again", bash("pytest", PYTEST_PASSED), closing="All green.")).notes == ""


def test_a_test_that_fails_on_is_told_as_failing() -> None:
    tried = turn("fix it", FIX, bash_failed("pytest", PYTEST_FAILED), closing="Changed is_valid, in vain.")
    assert "One test fails" in after(FAILING, tried).learned
    other = turn("lint it", bash("ruff check .", "All checks passed!"), closing="All green.")
    assert after(FAILING, other).notes.startswith("Still failing: pytest fails")


@pytest.mark.parametrize(
    ("title", "passed", "over"),
    [
        ("pytest fails: test_sum", ("pytest",), True),
        ("pytest tests/test_cart.py -q fails: test_sum", ("pytest tests",), True),
        ("pytest tests/test_cart.py -q fails: test_sum", ("pytest",), False),
        ("pytest fails: test_sum", ("pytest tests/test_cart.py",), False),
        ("make test fails: test_sum", ("make",), False),
        ("npm test fails: test_sum", ("npm run build",), False),
    ],
)
def test_a_failure_is_over_when_its_command_or_a_wider_one_passes(
    title: str, passed: tuple[str, ...], *, over: bool
) -> None:
    assert is_over(title, passed) is over


def test_a_summary_does_not_say_its_title_again_when_there_is_more_to_say() -> None:
    closing = "Added `Push` to queue.go. It sends one order at a time to the broker and waits for its answer."
    (draft,) = fold(turn("add a queue", QUEUE, closing=closing)).drafts
    assert draft.title == "Add Push to queue.go"
    assert draft.summary == "It sends one order at a time to the broker and waits for its answer."
    (alone,) = fold(turn("add a queue", QUEUE, closing="Added `Push` to queue.go.")).drafts
    assert alone.summary


def test_a_failure_names_its_cause_once() -> None:
    (draft,) = fold(FAILING).drafts
    assert draft.title == "pytest fails: tests/test_session.py::test_fresh_is_valid"
    assert draft.summary.startswith("pytest failed (1 failed, 13 passed): AssertionError: assert False.")


def test_what_was_decided_is_not_told_as_completed_too() -> None:
    closing = (
        "Added `Push` to queue.go.\n\nChose RabbitMQ over Redis for the queue of orders, because Redis loses some."
    )
    summary = after(turn("add a queue", QUEUE, closing=closing))
    assert summary.completed == "Added Push to queue.go."
    assert len(summary.key_decisions) == 1


@pytest.mark.parametrize(
    ("closing", "headline"),
    [
        ("`discounted` rounds prices to whole cents now.", "`discounted` rounds prices to whole cents now"),
        ("Now `count` returns the number of all items.", "`count` returns the number of all items"),
        ("total() returns whole cents now, for all orders.", "total() returns whole cents now, for all orders"),
        ("Converted prices with `migrate` in src/db.py.", "Convert prices with `migrate` in src/db.py"),
    ],
)
def test_names_in_code_keep_their_case_and_are_told_from_words(closing: str, headline: str) -> None:
    assert after(turn("go on", FIX, closing=closing)).headline == headline


def test_a_finding_that_begins_with_a_name_in_code_keeps_it() -> None:
    closing = "`count` in src/cart.py counts every item twice because it walks both the list and its index."
    asked = turn("why is the sum wrong?", read("src/cart.py"), closing=closing)
    assert after(asked).learned.startswith("`count` in src/cart.py")


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


def test_a_commit_that_adds_what_was_asked_for_is_no_bugfix() -> None:
    commit = bash("git commit -m 'Add a queue'", "[main 1234567] Add a queue for orders\n 1 file changed")
    asked = "Add a queue for orders and fix the tests that need it."
    (draft,) = fold(turn(asked, QUEUE, commit, closing="Committed.")).drafts
    assert draft.kind == "feature"


def test_work_is_not_called_by_a_rule_that_was_laid_down() -> None:
    told = turn("Keep your answers short.", QUEUE, closing="OK.")
    assert after(told).headline == "Create queue.go"
