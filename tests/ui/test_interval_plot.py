"""Tests of `ui/interval_plot.py`: positions of an effect and its interval on their axis."""

from dataclasses import replace

import pytest

from claude_mem_lite.responses.experiment import ComparedOutcome
from claude_mem_lite.ui.interval_plot import IntervalPlot, interval_plot
from claude_mem_lite.ui.plots import WIDTH

RATIO = ComparedOutcome(name="turns", scale="ratio", effect=1.0, low=0.5, high=2.0)
SHARE = ComparedOutcome(name="corrections", scale="share", effect=0.0, low=-0.5, high=0.25)


def drawn(outcome: ComparedOutcome) -> IntervalPlot:
    found = interval_plot(outcome)
    assert found is not None
    return found


def test_no_difference_is_in_the_middle_and_half_as_far_as_twice() -> None:
    plot = drawn(RATIO)
    assert plot.effect == plot.none_at == WIDTH / 2
    assert plot.effect - plot.low == pytest.approx(plot.high - plot.effect, abs=0.02)


def test_a_share_is_on_a_plain_axis() -> None:
    plot = drawn(SHARE)
    assert plot.effect - plot.low == pytest.approx(2 * (plot.high - plot.effect), abs=0.02)


@pytest.mark.parametrize(("low", "high"), [(0.001, 2.0), (None, 2.0)])
def test_an_end_beyond_the_axis_is_open_at_the_edge(low: float | None, high: float) -> None:
    plot = drawn(replace(RATIO, low=low, high=high))
    assert (plot.is_low_open, plot.is_high_open) == (True, False)
    assert plot.low == plot.ticks[0].x


def test_without_an_effect_or_an_interval_there_is_nothing_to_draw() -> None:
    assert interval_plot(replace(RATIO, effect=None)) is None
    assert interval_plot(replace(RATIO, low=None, high=None)) is None
