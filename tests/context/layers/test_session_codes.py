"""A session summary on one dense line."""

from claude_mem_lite.compress.rules.session_summary import summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.context.layers.session_codes import codes
from claude_mem_lite.models import SessionSummary
from tests.support.turns import PYTEST_FAILED, bash_failed, turn


def test_each_field_has_its_code() -> None:
    summary = SessionSummary(
        completed="Added a cart. Added checkout.",
        key_decisions=("Keep UTC in the database.",),
        notes="Still failing: pytest fails: test_cart. The shop was slow that day.",
        next_steps=("Write docs", "Add refunds."),
    )
    assert codes(summary) == (
        "impl: Added a cart; Added checkout | dec: Keep UTC in the database"
        " | block: Still failing: pytest fails: test_cart | next: Write docs; Add refunds"
    )


def test_empty_fields_are_left_out() -> None:
    assert codes(SessionSummary(request="Add a cart", next_steps=("Write docs",))) == "next: Write docs"
    assert codes(SessionSummary(request="Add a cart")) == ""


def test_entries_are_short_and_few() -> None:
    long = "Added one more page to the shop, because the old one had no room for prices, " * 5
    pages = ("home", "cart", "order", "refund", "login", "help")
    summary = SessionSummary(completed=" ".join(f"Added the {page} page." for page in pages), next_steps=(long,) * 9)
    impl, following = codes(summary).split(" | ")
    assert impl == "impl: Added the order page; Added the refund page; Added the login page; Added the help page"
    assert len(following) < 700


def test_what_still_fails_is_a_block() -> None:
    said = "test_fresh_is_valid in tests/test_session.py fails."
    one = turn("run the tests", bash_failed("pytest", PYTEST_FAILED), closing=said)
    assert codes(summarize(None, one, fold(one))).startswith(
        "block: Still failing: pytest fails: tests/test_session.py"
    )
