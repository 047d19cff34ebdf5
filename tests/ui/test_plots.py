"""The geometry of plots: everything inside its frame, and the same numbers as a table."""

import pytest

from claude_mem_lite.ui.plots import (
    COUNT,
    DOLLARS,
    WIDTH,
    Plot,
    Series,
    bars_by_day,
    bars_by_name,
    budget_bar,
    dollars,
    shares_by_day,
)

DAYS = [f"2026-03-{day:02}" for day in range(1, 31)]


def is_inside(plot: Plot) -> bool:
    bars = all(one.x >= 0 and one.x + one.width <= WIDTH and 0 <= one.y <= plot.height for one in plot.bars)
    low = all(one.y + one.height <= plot.height for one in plot.bars)
    points = [(one.x, one.y) for one in plot.dots] + [(one.x, one.y) for one in plot.labels]
    return bars and low and all(0 <= x <= WIDTH and 0 <= y <= plot.height for x, y in points)


@pytest.mark.parametrize("most", [1, 3, 7, 10, 99, 1_000, 123_456, 4_000_000])
def test_bars_fit_whatever_the_numbers(most: int) -> None:
    values = [most * at // 29 for at in range(30)]
    plot = bars_by_day("key", "Title", DAYS, [Series("one", values), Series("two", values[::-1])])
    assert is_inside(plot)
    assert plot.body[0] == ("2026-03-01", "0", f"{most:,}")
    scale = [one.text for one in plot.labels if one.anchor == "end"]
    assert scale[0] == "0"
    assert 2 <= len(scale) <= 6
    assert len(set(scale)) == len(scale)


def test_pieces_of_a_bar_stand_on_each_other() -> None:
    plot = bars_by_day("key", "Title", DAYS[:1], [Series("used", [3]), Series("ignored", [1])])
    used, ignored = plot.bars
    assert ignored.y + ignored.height == pytest.approx(used.y, abs=0.02)
    assert used.height == pytest.approx(3 * ignored.height, abs=0.05)
    assert plot.legend == ("used", "ignored")


def test_small_amounts_of_money_keep_their_digits() -> None:
    plot = bars_by_day("key", "Spent", DAYS[:2], [Series("dollars", [0.0004, 0.002])], DOLLARS)
    assert [one.text for one in plot.labels if one.anchor == "end"] == ["$0", "$0.0005", "$0.001", "$0.0015", "$0.002"]
    assert plot.body[0][1] == "$0.0004"
    assert [dollars(0), dollars(0.5), dollars(1234.567)] == ["$0.00", "$0.50", "$1,234.57"]


def test_a_line_is_broken_where_nothing_is_known() -> None:
    plot = shares_by_day("key", "Rate", DAYS[:5], Series("used", [0.5, 1.0, None, 0.0, 0.25]))
    assert [len(points.split()) for points in plot.lines] == [2, 2]
    assert [row[1] for row in plot.body] == ["50%", "100%", "0%", "25%"]
    assert is_inside(plot)


def test_a_long_name_is_cut_but_told_in_full() -> None:
    plot = bars_by_name("key", "Memories", "Project", [("a-project-with-a-very-long-name", 12), ("short", 0)])
    assert plot.labels[0].text.endswith("…")
    assert plot.labels[0].whole == plot.body[0][0] == "a-project-with-a-very-long-name"
    assert is_inside(plot)


def test_one_bar_is_one() -> None:
    assert bars_by_name("key", "Memories", "Kind", [("rule", 3)]).about.startswith("1 bar, one for each kind.")
    assert bars_by_name("key", "Memories", "Kind", [("rule", 3), ("note", 1)]).about.startswith("2 bars, ")


def test_nothing_is_told_in_words() -> None:
    days = bars_by_day("key", "Title", DAYS, [Series("one", [0] * 30)])
    names = bars_by_name("key", "Title", "Kind", [])
    line = shares_by_day("key", "Title", DAYS, Series("one", [None] * 30))
    assert all(plot.is_empty and plot.about.startswith("Nothing") for plot in (days, names, line))


def test_a_budget_bar_ends_where_the_budget_does() -> None:
    pieces = budget_bar([("project", 300), ("empty", 0), ("frame", 100)], 800)
    assert [(one.x, one.width, one.series) for one in pieces] == [(0, 150, 0), (150, 50, 2)]
    over = budget_bar([("project", 300), ("frame", 100)], 200)
    assert over[-1].x + over[-1].width == WIDTH


def test_large_counts_are_short_at_the_axis() -> None:
    assert [COUNT.short(number) for number in (5, 1_500, 2_000_000)] == ["5", "1.5k", "2M"]
