"""Titles of commits and errors, and the verbs of work in their forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.prose import titles
from claude_mem_lite.compress.prose.verbs import impersonal, past, reported
from claude_mem_lite.models import MAX_TITLE_LENGTH


@pytest.mark.parametrize(
    ("subject", "title", "prefix"),
    [
        ("fix(cart): add prices as numbers", "Add prices as numbers (cart)", "fix"),
        ("feat!: drop Python 3.8.", "Drop Python 3.8", "feat"),
        ("Fix(cart): add prices as numbers", "Add prices as numbers (cart)", "fix"),
        ("FEAT: drop Python 3.8", "Drop Python 3.8", "feat"),
        ("Parser: accept tabs", "Parser: accept tabs", ""),
        ("Add a cart", "Add a cart", ""),
    ],
)
def test_a_commit_loses_its_prefix(subject: str, title: str, prefix: str) -> None:
    assert titles.from_commit(subject) == (title, prefix)


@pytest.mark.parametrize(
    ("sentence", "instruction"),
    [
        ("I've added a --json flag to the list command.", "Add a --json flag to the list command."),
        ("Removed the retry logic.", "Remove the retry logic."),
        ("The cart holds items.", ""),
        ("When a cart is closed the timer stops.", ""),
    ],
)
def test_a_report_becomes_an_instruction(sentence: str, instruction: str) -> None:
    assert reported(sentence) == instruction


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
        ("We've also removed the cart.", "Removed the cart."),
        ("I decided to keep UTC.", "Decided to keep UTC."),
        ("I have a cart.", "I have a cart."),
        ("The cart is new.", "The cart is new."),
    ],
)
def test_a_sentence_is_told_without_who_did_it(sentence: str, told: str) -> None:
    assert impersonal(sentence) == told


@given(st.text(), st.integers(min_value=1, max_value=30))
def test_no_title_passes_the_limit_or_ends_with_a_period(text: str, words: int) -> None:
    title = titles.cut(text, words)
    assert len(title) <= MAX_TITLE_LENGTH
    assert not title.endswith(".")
