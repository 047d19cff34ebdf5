"""Factors by outcomes, against the numbers in docs/receipts.md."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.context.scoring import MAX_FACTOR, MIN_STATED, factor, start_factor
from claude_mem_lite.models import Tally
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "receipts.md").read_text("utf-8")
_ROW = re.compile(r"^\| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)
ROWS = [(int(used), int(ignored), *map(float, more)) for used, ignored, *more in _ROW.findall(PAGE)]
COUNTS = st.integers(0, 500)


@pytest.mark.parametrize(("used", "ignored", "quick", "slow"), ROWS)
def test_tallies_count_as_the_page_says(used: int, ignored: int, quick: float, slow: float) -> None:
    tally = Tally(used, ignored)
    assert [round(rule(tally), 2) for rule in (factor, start_factor)] == [quick, slow]


def test_the_page_shows_when_each_falls_silent() -> None:
    shown = {(used, ignored) for used, ignored, *_ in ROWS}
    assert {(0, 0), (0, 1), (0, 8), (0, 20)} <= shown


@pytest.mark.parametrize(("rule", "sessions"), [(factor, 8), (start_factor, 20)], ids=["need", "start"])
def test_what_is_never_used_is_silent_after_so_many_and_not_before(rule: object, sessions: int) -> None:
    assert callable(rule)
    assert rule(Tally(0, sessions - 1)) > 0
    assert rule(Tally(0, sessions)) == 0
    assert rule(Tally(1, sessions)) > 0


def test_nothing_known_is_neutral_and_one_giving_says_little() -> None:
    assert factor(Tally()) == start_factor(Tally()) == 1.0
    assert factor(Tally(0, 1)) > 0.9


def test_what_the_user_stated_sinks_but_never_falls_silent() -> None:
    assert factor(Tally(0, 500), is_stated=True) == start_factor(Tally(0, 500), is_stated=True) == MIN_STATED


@given(COUNTS, COUNTS)
def test_use_lifts_and_neglect_lowers_within_the_limits(used: int, ignored: int) -> None:
    for rule in (factor, start_factor):
        assert 0 <= rule(Tally(used, ignored)) <= MAX_FACTOR
        assert rule(Tally(used + 1, ignored)) >= rule(Tally(used, ignored)) >= rule(Tally(used, ignored + 1))


@given(COUNTS)
def test_something_that_is_used_as_often_as_expected_is_heard_for_ever(many: int) -> None:
    tally = Tally(3 * many, 17 * many)
    assert factor(tally) == start_factor(tally) == 1.0


@given(COUNTS, COUNTS)
def test_what_is_not_known_neither_lifts_nor_lowers(used: int, unknown: int) -> None:
    for rule in (factor, start_factor):
        assert rule(Tally(0, 0, unknown)) == 1.0
        assert 1.0 <= rule(Tally(used, 0, unknown)) <= rule(Tally(used, 0, 0))


def test_a_tenth_of_doubt_keeps_an_item_from_falling_silent() -> None:
    assert start_factor(Tally(0, 500, 0)) == 0.0
    assert start_factor(Tally(0, 500, 50)) > 0.0


@given(COUNTS, COUNTS, COUNTS)
def test_an_unknown_outcome_is_never_worse_than_an_ignored_one(used: int, ignored: int, unknown: int) -> None:
    for rule in (factor, start_factor):
        assert rule(Tally(used, ignored, unknown + 1)) >= rule(Tally(used, ignored + 1, unknown))
