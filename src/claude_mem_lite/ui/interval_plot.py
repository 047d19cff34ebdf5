"""Geometry of the plot of one interval: an effect on an axis whose middle means "no difference".

`experiment.html` draws it. A ratio has a logarithmic axis from a tenth to ten times, a share a plain one from -100 to
100 points."""

import math

from claude_mem_lite.responses.experiment import ComparedOutcome
from claude_mem_lite.ui.plots import WIDTH, Label
from claude_mem_lite.values import frozen

HEIGHT = 46
_SIDE = 26
_AXIS_Y, _TEXT_Y = 14, 42
_MAX_RATIO = 10.0
_RATIOS = {0.1: "x0.1", 0.2: "x0.2", 0.5: "x0.5", 1.0: "same", 2.0: "x2", 5.0: "x5", 10.0: "x10"}
_SHARES = {-1.0: "-100 %", -0.5: "-50 %", 0.0: "same", 0.5: "+50 %", 1.0: "+100 %"}


@frozen
class IntervalPlot:
    """Positions on the axis; an end is open where the interval goes on beyond the axis."""

    y: float
    low: float
    effect: float
    high: float
    is_low_open: bool
    is_high_open: bool
    ticks: tuple[Label, ...]
    none_at: float
    """Position of "no difference"."""


def interval_plot(outcome: ComparedOutcome) -> IntervalPlot | None:
    """Return the plot of an outcome; None without an effect or without an interval."""
    if outcome.effect is None or (outcome.low is None and outcome.high is None):
        return None
    is_share = outcome.scale == "share"

    def at(value: float) -> float:
        step = value if is_share else math.log(max(value, 1e-9)) / math.log(_MAX_RATIO)
        return round(WIDTH / 2 + (WIDTH / 2 - _SIDE) * min(max(step, -1.0), 1.0), 2)

    least, most = (-1.0, 1.0) if is_share else (1 / _MAX_RATIO, _MAX_RATIO)
    is_low_open = outcome.low is None or outcome.low < least
    is_high_open = outcome.high is None or outcome.high > most
    names = _SHARES if is_share else _RATIOS
    return IntervalPlot(
        y=_AXIS_Y,
        low=at(least if outcome.low is None else outcome.low),
        effect=at(outcome.effect),
        high=at(most if outcome.high is None else outcome.high),
        is_low_open=is_low_open,
        is_high_open=is_high_open,
        ticks=tuple(Label(at(value), _TEXT_Y, name) for value, name in names.items()),
        none_at=WIDTH / 2,
    )
