"""Times as people write and read them: `2026-03-01`, `7d`, `2 weeks ago`, `monday`; `3 days ago`."""

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta

import click

from claude_mem_lite.text import time_ago

_SPAN = re.compile(
    r"^(?:(?P<number>\d{1,5})\s*|(?:an?|one|last)\s+)"
    r"(?P<unit>m|mins?|minutes?|h|hours?|d|days?|w|weeks?|mo|months?|y|years?)(?:\s+ago)?$"
)
_MINUTES = {"mi": 1, "h": 60, "d": 60 * 24, "w": 60 * 24 * 7}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
EXAMPLES = "for example 2026-03-01, 2026-03-01T14:30, 12h, 7d, '2 weeks ago', '3 months ago', yesterday or monday"


def parse_when(text: str, now: datetime, *, end_of_day: bool) -> datetime:
    """Return the UTC moment of a typed time; a day means its first or last moment. Raise ValueError for other text."""
    written = " ".join(text.lower().split())
    if written == "now":
        return now
    if span := _SPAN.match(written):
        return _back(now, int(span["number"] or 1), span["unit"])
    day = _named_day(written.removeprefix("last "), now.astimezone().date())
    if day is None and len(written) == len("2026-03-01"):
        day = date.fromisoformat(written)
    if day is None:
        return datetime.fromisoformat(written.upper()).astimezone(UTC)
    return datetime.combine(day, time.max if end_of_day else time.min).astimezone(UTC)


def _back(now: datetime, number: int, unit: str) -> datetime:
    unit = "mi" if unit == "m" else unit
    if unit.startswith(("mo", "y")):
        return _months_back(now, number * (12 if unit.startswith("y") else 1))
    return now - timedelta(minutes=number * next(size for name, size in _MINUTES.items() if unit.startswith(name)))


def _months_back(now: datetime, number: int) -> datetime:
    """Return the same day of an earlier month, or the last day of a shorter month: a month before 31 March is the end
    of February."""
    here = now.astimezone()
    year, month = divmod(here.year * 12 + here.month - 1 - number, 12)
    if year < 1:
        raise ValueError("before the first year")
    day = min(here.day, calendar.monthrange(year, month + 1)[1])
    # Naive on the way: on that day the clocks of this place may have been set otherwise.
    return here.replace(year=year, month=month + 1, day=day, tzinfo=None).astimezone(UTC)


def _named_day(written: str, today: date) -> date | None:
    """Return today, yesterday, or the last day of a name, including today."""
    if written in ("today", "yesterday"):
        return today - timedelta(days=written == "yesterday")
    for number, name in enumerate(_DAYS):
        if written in (name, name[:3]):
            return today - timedelta(days=(today.weekday() - number) % 7)
    return None


def ago(written: object, now: datetime) -> str:
    """Return the age of an ISO time in the largest unit that fits; any other text unchanged."""
    if not written:
        return "never"
    try:
        moment = datetime.fromisoformat(str(written))
    except ValueError:
        return str(written)
    return time_ago(moment if moment.tzinfo else moment.replace(tzinfo=UTC), now)


def clock(written: object) -> str:
    """Return an ISO time in local time, `2026-03-01 14:30`; any other text unchanged."""
    try:
        return datetime.fromisoformat(str(written)).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return str(written)


def since(written: str) -> str:
    """Return a typed moment as ISO 8601 in UTC; a day means its first moment."""
    return _moment(written, end_of_day=False)


def until(written: str) -> str:
    """Return a typed moment as ISO 8601 in UTC; a day means its last moment."""
    return _moment(written, end_of_day=True)


def _moment(written: str, *, end_of_day: bool) -> str:
    try:
        return parse_when(written, datetime.now(UTC), end_of_day=end_of_day).isoformat()
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"{written!r} is not a time; {EXAMPLES}") from error
