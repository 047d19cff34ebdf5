"""Titles: instruction-like, whole phrases, no final period."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.language import titles
from claude_mem_lite.compress.language.verbs import impersonal, past, resolved
from claude_mem_lite.models import LONGEST_TITLE


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        ("I've added a --json flag to the list command.", "Add a --json flag to the list command"),
        (
            "Removed the retry logic from cart.py and updated the tests.",
            "Remove the retry logic from cart.py and update the tests",
        ),
        ("The refund page has been completely removed.", "Remove the refund page"),
        ("Carts are now sorted by date.", "Sort carts by date"),
        ("Done. Renamed `total` to sum.", "Rename `total` to sum"),
        ("Fixed by replacing the list with a set in cart.py.", "Replace the list with a set in cart.py"),
        ("cart.py:12 - Added a guard for empty carts", "Add a guard for empty carts"),
    ],
)
def test_a_report_becomes_an_instruction(sentence: str, title: str) -> None:
    assert titles.from_report(sentence) == title


@pytest.mark.parametrize(
    "sentence",
    [
        "The cart holds items.",
        "Sorted prices are easier to compare.",
        "When a cart is closed the timer stops.",
        "Fixed.",
        "Fixed in cart.py.",
        "Given the numbers this is fine.",
    ],
)
def test_a_description_is_no_report(sentence: str) -> None:
    assert titles.from_report(sentence) == ""


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("can you please add a --json flag to the list command?", "Add a --json flag to the list command"),
        ("ok, let's rename total to sum. keep the old name as an alias", "Rename total to sum"),
        ("We should cache the exchange rates for an hour, they rarely change", "Cache the exchange rates for an hour"),
        ("Implement the following plan: Plan: Add a cart to the shop.", "Add a cart to the shop"),
    ],
)
def test_an_order_becomes_a_title(prompt: str, title: str) -> None:
    assert titles.from_prompt(prompt) == title


@pytest.mark.parametrize("prompt", ["yes", "why is it slow?", "hmm, it prints 3 carts", "make sure that it works", ""])
def test_what_is_no_order_becomes_none(prompt: str) -> None:
    assert titles.from_prompt(prompt) == ""


@pytest.mark.parametrize(
    ("subject", "title", "prefix"),
    [
        ("fix(cart): add prices as numbers", "Add prices as numbers (cart)", "fix"),
        ("feat!: drop Python 3.8.", "Drop Python 3.8", "feat"),
        ("Add a cart", "Add a cart", ""),
    ],
)
def test_a_commit_loses_its_prefix(subject: str, title: str, prefix: str) -> None:
    assert titles.from_commit(subject) == (title, prefix)


def test_a_long_sentence_is_cut_where_it_reads_as_a_whole() -> None:
    text = (
        "Raise the number of workers in the nightly import job from two to sixteen, which gives the remote"
        " service enough time to answer even when its queue is long"
    )
    assert titles.shorten(text) == "Raise the number of workers in the nightly import job from two to sixteen"


def test_a_title_weighs_what_it_tells() -> None:
    assert titles.weight("Add retries to fetch_rates in rates.py") > titles.weight("Fix the issue")
    assert titles.weight("Add it to the list") < 2


def test_an_instruction_can_be_told_as_past() -> None:
    assert [past(text) for text in ("Add a cart", "Write docs", "Fix it now", "The cart is new")] == [
        "Added a cart", "Wrote docs", "Fixed it now", "The cart is new",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Fix: I added a cart.", "Added a cart."),
        ("We've also removed the cart.", "Removed the cart."),
        ("Cause: sales_by_day took the wrong day.", "sales_by_day took the wrong day."),
        ("I decided to keep UTC.", "Decided to keep UTC."),
        ("I have a cart.", "I have a cart."),
        ("The cart is new.", "The cart is new."),
    ],
)
def test_a_sentence_is_told_without_label_and_without_who_did_it(sentence: str, told: str) -> None:
    assert impersonal(sentence) == told


@pytest.mark.parametrize(
    ("sentence", "instruction"),
    [
        ("I decided to keep the cart and to drop the till.", "Keep the cart and drop the till."),
        ("We agreed not to cache prices.", "Do not cache prices."),
        ("We'll use one lock per cart.", "Use one lock per cart."),
        ("SQLite instead of PostgreSQL.", ""),
    ],
)
def test_a_decision_becomes_an_instruction(sentence: str, instruction: str) -> None:
    assert resolved(sentence) == instruction


def test_no_title_of_an_error_ends_with_an_operator() -> None:
    assert titles.cut("assert total(cart) == 3", 3) == "assert total(cart)"


@given(st.text(), st.integers(min_value=1, max_value=30))
def test_no_title_passes_the_limit_or_ends_with_a_period(text: str, words: int) -> None:
    for title in (
        titles.shorten(text, words),
        titles.from_report(text),
        titles.from_statement(text),
        titles.from_prompt(text),
    ):
        assert len(title) <= LONGEST_TITLE
        assert not title.endswith(".")
