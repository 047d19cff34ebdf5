"""Figures of benchmarks: intervals of shares."""

import pytest

from claude_mem_lite.evaluation.intervals import share_interval


def test_the_interval_of_a_share_is_wilsons() -> None:
    assert share_interval(50, 1000) == pytest.approx((0.0381, 0.0653), abs=1e-4)
    assert share_interval(9, 10) == pytest.approx((0.596, 0.982), abs=1e-3)


def test_a_share_without_hits_or_without_misses_has_an_interval_too() -> None:
    assert share_interval(0, 12) == pytest.approx((0.0, 0.2425), abs=1e-4)
    assert share_interval(12, 12) == pytest.approx((0.7575, 1.0), abs=1e-4)


def test_the_share_of_no_case_may_be_any() -> None:
    assert share_interval(0, 0) == (0.0, 1.0)
