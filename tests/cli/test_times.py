"""Times as typed on the command line, and ages as shown."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.cli.times import ago, clock, parse_when

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One hour ahead of UTC in winter."""
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("12h", datetime(2026, 3, 10, 0, 0, tzinfo=UTC)),
        ("7d", datetime(2026, 3, 3, 12, 0, tzinfo=UTC)),
        (" 2W ", datetime(2026, 2, 24, 12, 0, tzinfo=UTC)),
        ("3 days ago", datetime(2026, 3, 7, 12, 0, tzinfo=UTC)),
        ("1 hour", datetime(2026, 3, 10, 11, 0, tzinfo=UTC)),
        ("2026-03-01", datetime(2026, 2, 28, 23, 0, tzinfo=UTC)),
        ("2026-03-01T14:30", datetime(2026, 3, 1, 13, 30, tzinfo=UTC)),
        ("2026-03-01t14:30:00z", datetime(2026, 3, 1, 14, 30, tzinfo=UTC)),
        ("2026-03-01 14:30+02:00", datetime(2026, 3, 1, 12, 30, tzinfo=UTC)),
        ("today", datetime(2026, 3, 9, 23, 0, tzinfo=UTC)),
        ("Yesterday", datetime(2026, 3, 8, 23, 0, tzinfo=UTC)),
        ("now", NOW),
        ("30m", datetime(2026, 3, 10, 11, 30, tzinfo=UTC)),
        ("45 minutes ago", datetime(2026, 3, 10, 11, 15, tzinfo=UTC)),
        ("5 min", datetime(2026, 3, 10, 11, 55, tzinfo=UTC)),
        ("2 weeks ago", datetime(2026, 2, 24, 12, 0, tzinfo=UTC)),
        ("a week ago", datetime(2026, 3, 3, 12, 0, tzinfo=UTC)),
        ("an  hour ago", datetime(2026, 3, 10, 11, 0, tzinfo=UTC)),
        ("last month", datetime(2026, 2, 10, 12, 0, tzinfo=UTC)),
        ("3 months ago", datetime(2025, 12, 10, 12, 0, tzinfo=UTC)),
        ("2mo", datetime(2026, 1, 10, 12, 0, tzinfo=UTC)),
        ("1 year", datetime(2025, 3, 10, 12, 0, tzinfo=UTC)),
        ("14y", datetime(2012, 3, 10, 12, 0, tzinfo=UTC)),
        ("tuesday", datetime(2026, 3, 9, 23, 0, tzinfo=UTC)),
        ("Mon", datetime(2026, 3, 8, 23, 0, tzinfo=UTC)),
        ("last wednesday", datetime(2026, 3, 3, 23, 0, tzinfo=UTC)),
    ],
)
def test_a_moment_is_understood_in_the_users_own_time(written: str, moment: datetime) -> None:
    assert parse_when(written, NOW, end_of_day=False) == moment


@pytest.mark.parametrize(
    ("now", "written", "moment"),
    [
        (datetime(2026, 3, 31, 12, 0, tzinfo=UTC), "1 month ago", datetime(2026, 2, 28, 12, 0, tzinfo=UTC)),
        (datetime(2024, 2, 29, 12, 0, tzinfo=UTC), "1 year ago", datetime(2023, 2, 28, 12, 0, tzinfo=UTC)),
        (datetime(2026, 1, 31, 23, 30, tzinfo=UTC), "2 months ago", datetime(2025, 11, 30, 23, 30, tzinfo=UTC)),
    ],
)
def test_a_month_back_is_the_same_day_or_the_last_of_that_month(now: datetime, written: str, moment: datetime) -> None:
    assert parse_when(written, now, end_of_day=False) == moment


@given(st.integers(0, 99_999), st.sampled_from(["m", "min", "h", "d", "w", "mo", "months", "y", "years"]))
def test_any_span_is_a_moment_of_the_past_or_refused(number: int, unit: str) -> None:
    try:
        moment = parse_when(f"{number} {unit} ago", NOW, end_of_day=False)
    except (ValueError, OverflowError):
        assert number > 1_000
    else:
        assert moment <= NOW


@given(st.text(max_size=30))
def test_any_text_is_a_moment_or_refused(written: str) -> None:
    try:
        moment = parse_when(written, NOW, end_of_day=True)
    except (ValueError, OverflowError):
        return
    assert moment.tzinfo is not None


@pytest.mark.parametrize("written", ["2026-03-10", "today", "tue"])
def test_until_a_day_includes_that_day(written: str) -> None:
    assert parse_when(written, NOW, end_of_day=True) == datetime(2026, 3, 10, 22, 59, 59, 999999, tzinfo=UTC)


@pytest.mark.parametrize("written", ["", "soon", "2026-13-01", "7x", "-3d", "99999999d", "week", "d", "someday ago"])
def test_what_is_no_moment_is_refused(written: str) -> None:
    with pytest.raises(ValueError):
        parse_when(written, NOW, end_of_day=False)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2026-03-10T11:59:30+00:00", "just now"),
        ("2026-03-10T12:00:30+00:00", "just now"),
        ("2026-03-10T11:59:00+00:00", "1 minute ago"),
        ("2026-03-10T10:00:00+00:00", "2 hours ago"),
        ("2026-03-09T12:00:00", "1 day ago"),
        ("2025-03-10T12:00:00Z", "365 days ago"),
        (None, "never"),
        ("", "never"),
        ("some day", "some day"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(written: object, shown: str) -> None:
    assert ago(written, NOW) == shown


def test_a_moment_is_shown_as_a_clock_here_shows_it() -> None:
    assert clock("2026-03-10T11:59:30+00:00") == "2026-03-10 12:59"
    assert clock("some day") == "some day"
