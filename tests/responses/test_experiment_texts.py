"""Tests of `responses/experiment.py`: the difference of an outcome in words."""

import pytest

from claude_mem_lite.responses.experiment import ComparedOutcome, difference_text


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.2, 4.5, "x0.97 (x0.20 to x4.50)"),
        (None, 4.5, "x0.97 (up to x4.50)"),
        (0.2, None, "x0.97 (from x0.20)"),
        (None, None, "x0.97 (may be any)"),
    ],
)
def test_an_interval_without_an_end_says_so(low: float | None, high: float | None, expected: str) -> None:
    assert difference_text(ComparedOutcome(scale="ratio", effect=0.97, low=low, high=high)) == expected


def test_a_share_differs_in_points_and_an_outcome_without_values_in_nothing() -> None:
    assert difference_text(ComparedOutcome(scale="share", effect=-0.1, low=-1.0, high=1.0)) == "-10% (-100% to +100%)"
    assert difference_text(ComparedOutcome(scale="share")) == ""
