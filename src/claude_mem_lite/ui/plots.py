"""Geometry of small plots. `plots.html` draws a plot as SVG, with the numbers as a table.

The module makes no HTML: the template escapes all text.
"""

import math
from collections.abc import Callable, Sequence

from claude_mem_lite.text import counted
from claude_mem_lite.values import frozen

WIDTH = 400
_HEIGHT = 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 8, 22
_NAMES = 132
"""Width of the names before horizontal bars."""
_ROW = 20
_MAX_ROWS_OF_AXIS = 4
_MAX_DATES = 5
_MAX_NAME_LENGTH = 17
_SHARE_OF_BAR = 0.8
_MIN_DAYS = 3
"""Plots of fewer days are shown as numbers."""
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_TEXT_DOWN = 4


@frozen
class Unit:
    """Format of numbers: short at an axis, in full in a table. A whole unit has no fractions at the axis."""

    short: Callable[[float], str]
    full: Callable[[float], str]
    is_whole: bool = True


def _short_count(number: float) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def dollars(amount: float) -> str:
    """Return an amount in whole cents; an amount below a cent with all digits, because many calls cost less."""
    return f"${amount:.6f}".rstrip("0") if 0.000_001 <= amount < 0.01 else f"${amount:,.2f}"


COUNT = Unit(_short_count, lambda number: f"{number:,.0f}")
DOLLARS = Unit(lambda number: f"${number:g}", dollars, is_whole=False)
SHARE = Unit(lambda number: f"{number:.0%}", lambda number: f"{number:.0%}", is_whole=False)


@frozen
class Series:
    """Values by day, under a name; None for a day without a value."""

    name: str
    values: Sequence[float | None]


@frozen
class Bar:
    x: float
    y: float
    width: float
    height: float
    series: int
    tooltip: str


@frozen
class Dot:
    x: float
    y: float
    tooltip: str


@frozen
class Label:
    """Words beside a place of an axis."""

    x: float
    y: float
    text: str
    anchor: str = "middle"
    whole: str = ""
    """All of a text that is cut."""


@frozen
class AxisLine:
    """Thin line of an axis, horizontal or vertical."""

    x1: float
    y1: float
    x2: float
    y2: float


@frozen
class Plot:
    """Shapes and labels of a plot, and the same numbers as a table."""

    key: str
    title: str
    about: str
    height: float
    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    is_empty: bool = False
    few_rows: tuple[tuple[str, ...], ...] = ()
    """Rows of the days with values, if the days are too few for a plot."""
    bars: tuple[Bar, ...] = ()
    lines: tuple[str, ...] = ()
    """Points of each unbroken line."""
    dots: tuple[Dot, ...] = ()
    rules: tuple[AxisLine, ...] = ()
    labels: tuple[Label, ...] = ()
    legend: tuple[str, ...] = ()


def bars_by_day(key: str, title: str, days: Sequence[str], series: Sequence[Series], unit: Unit = COUNT) -> Plot:
    """Return a plot with a stacked bar for each day."""
    sums = [sum(one.values[at] or 0 for one in series) for at in range(len(days))]
    steps = _steps(max(sums, default=0), unit)
    bars: list[Bar] = []
    for at, day in enumerate(days):
        below = 0.0
        for number, one in enumerate(series):
            value = one.values[at] or 0
            if value > 0:
                top, bottom = _y(below + value, steps[-1]), _y(below, steps[-1])
                x, width = _column(at, len(days))
                bars.append(Bar(x, top, width, round(bottom - top, 2), number, f"{day}: {one.name} {unit.full(value)}"))
            below += value
    body = tuple((day, *(unit.full(one.values[at] or 0) for one in series)) for at, day in enumerate(days))
    return Plot(
        key=key,
        title=title,
        about=_about_days(days, sums, unit),
        height=_HEIGHT,
        head=("Day", *(one.name for one in series)),
        body=body,
        is_empty=not any(sums),
        few_rows=_few([row for row, total in zip(body, sums, strict=True) if total]),
        bars=tuple(bars),
        rules=_rules(steps),
        labels=(*_scale(steps, unit), *_dates(days)),
        legend=tuple(one.name for one in series) if len(series) > 1 else (),
    )


def shares_by_day(key: str, title: str, days: Sequence[str], series: Series) -> Plot:
    """Return a plot with a line from 0 to 100 %, broken at days without a value."""
    known = [(at, value) for at, value in enumerate(series.values) if value is not None]
    dots = {
        at: Dot(_middle(at, len(days)), _y(value, 1.0), f"{days[at]}: {series.name} {SHARE.full(value)}")
        for at, value in known
    }
    body = tuple((days[at], SHARE.full(value)) for at, value in known)
    return Plot(
        key=key,
        title=title,
        about=_about_line(days, known),
        height=_HEIGHT,
        head=("Day", series.name),
        body=body,
        is_empty=not known,
        few_rows=_few(body),
        lines=tuple(" ".join(f"{dots[at].x},{dots[at].y}" for at in run) for run in _runs(list(dots))),
        dots=tuple(dots.values()),
        rules=_rules(_QUARTERS),
        labels=(*_scale(_QUARTERS, SHARE), *_dates(days)),
    )


def _few(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(rows) if len(rows) < _MIN_DAYS else ()


def bars_by_name(key: str, title: str, what: str, rows: Sequence[tuple[str, float]], unit: Unit = COUNT) -> Plot:
    """Return a plot with a horizontal bar for each name, in the given order."""
    most = max((value for _, value in rows), default=0)
    room = WIDTH - _NAMES - _LEFT
    bars, labels = [], []
    for at, (name, value) in enumerate(rows):
        y, width = _TOP + at * _ROW, round(room * value / most, 2) if most else 0
        shown = name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 1]}…"
        bars.append(Bar(_NAMES, y, width, round(_ROW * _SHARE_OF_BAR, 2), 0, f"{name}: {unit.full(value)}"))
        middle = y + _ROW * _SHARE_OF_BAR / 2 + _TEXT_DOWN
        labels.append(Label(_NAMES - 6, middle, shown, "end", name if shown != name else ""))
        labels.append(Label(_NAMES + width + 5, middle, unit.full(value), "start"))
    first = f" Most: {rows[0][0]} with {unit.full(rows[0][1])}." if rows else ""
    return Plot(
        key=key,
        title=title,
        about=f"{counted(len(rows), 'bar')}, one for each {what.lower()}.{first}" if most else "Nothing is stored yet.",
        height=2 * _TOP + len(rows) * _ROW,
        head=(what, title),
        body=tuple((name, unit.full(value)) for name, value in rows),
        is_empty=not most,
        bars=tuple(bars),
        labels=tuple(labels),
    )


def budget_bar(parts: Sequence[tuple[str, int]], budget: int) -> tuple[Bar, ...]:
    """Return the pieces of a bar of WIDTH that shows the parts of a budget, in the given order, without empty parts."""
    whole = max(budget, sum(size for _, size in parts), 1)
    bars, taken = [], 0
    for number, (name, size) in enumerate(parts):
        if size:
            tooltip = f"{name}: {size:,} tokens"
            bars.append(Bar(round(WIDTH * taken / whole, 2), 0, round(WIDTH * size / whole, 2), 1, number, tooltip))
        taken += size
    return tuple(bars)


def _steps(most: float, unit: Unit) -> tuple[float, ...]:
    """Return a few round numbers from 0 to at least the highest value, for the axis."""
    if most <= 0:
        return (0.0, 1.0)
    rough = most / _MAX_ROWS_OF_AXIS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
    step = max(step, 1.0) if unit.is_whole else step
    return tuple(round(step * number, 9) for number in range(math.ceil(round(most / step, 6)) + 1))


def _y(value: float, top: float) -> float:
    return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top, 2)


def _column(at: int, count: int) -> tuple[float, float]:
    """Return start and width of the bar of a day."""
    step = (WIDTH - _LEFT - _RIGHT) / count
    return round(_LEFT + at * step + step * (1 - _SHARE_OF_BAR) / 2, 2), round(step * _SHARE_OF_BAR, 2)


def _middle(at: int, count: int) -> float:
    x, width = _column(at, count)
    return round(x + width / 2, 2)


def _rules(steps: Sequence[float]) -> tuple[AxisLine, ...]:
    return tuple(AxisLine(_LEFT, y, WIDTH - _RIGHT, y) for y in (_y(step, steps[-1]) for step in steps))


def _scale(steps: Sequence[float], unit: Unit) -> list[Label]:
    return [Label(_LEFT - 5, _y(step, steps[-1]) + _TEXT_DOWN, unit.short(step), "end") for step in steps]


def _dates(days: Sequence[str]) -> list[Label]:
    """Return the dates under the axis, as many as fit, including the last day."""
    every = max(math.ceil(len(days) / _MAX_DATES), 1)
    return [Label(_middle(at, len(days)), _HEIGHT - 6, days[at][5:]) for at in range(len(days) - 1, -1, -every)]


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Return the sequences of consecutive numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _about_days(days: Sequence[str], sums: Sequence[float], unit: Unit) -> str:
    if not days or not any(sums):
        return "Nothing in these days."
    most = max(sums)
    return (
        f"A bar for each day from {days[0]} to {days[-1]}. {unit.full(sum(sums))} in all, "
        f"the most on {days[sums.index(most)]}: {unit.full(most)}."
    )


def _about_line(days: Sequence[str], known: Sequence[tuple[int, float]]) -> str:
    if not known:
        return "Nothing in these days."
    at, last = known[-1]
    return f"A line over the days from {days[0]} to {days[-1]}. The last is {SHARE.full(last)} on {days[at]}."
