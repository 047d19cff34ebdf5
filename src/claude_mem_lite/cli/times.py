"""Times as people write and read them: `2026-03-01`, `7d`, `yesterday`; `3 days ago`."""

import re
from datetime import UTC, datetime, time, timedelta

import click

_SPAN = re.compile(r"^(\d{1,5})\s*(h|d|w|hours?|days?|weeks?)(\s+ago)?$")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}
EXAMPLES = "for example 2026-03-01, 2026-03-01T14:30, 12h, 7d, '2 weeks ago', today or yesterday"


def parse_when(text: str, now: datetime, *, end_of_day: bool) -> datetime:
    """The UTC moment a user means; a day means its first moment, or its last. ValueError when none is meant."""
    written = text.strip().lower()
    if span := _SPAN.match(written):
        return now - timedelta(hours=int(span[1]) * _HOURS[span[2][0]])
    days_back = {"today": 0, "yesterday": 1}.get(written)
    if days_back is not None:
        written = (now.astimezone() - timedelta(days=days_back)).date().isoformat()
    moment = datetime.fromisoformat(written.upper())
    if len(written) == len("2026-03-01") and end_of_day:
        moment = datetime.combine(moment.date(), time.max)
    return moment.astimezone(UTC)


def ago(written: object, now: datetime) -> str:
    """How long ago an ISO time was, in the largest unit that fits; as it is when it is no such time."""
    if not written:
        return "never"
    try:
        moment = datetime.fromisoformat(str(written))
    except ValueError:
        return str(written)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = max(int((now - moment).total_seconds()), 0)
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def since(written: str) -> str:
    """A moment on the command line as ISO 8601 in UTC; a day means its first moment."""
    return _moment(written, end_of_day=False)


def until(written: str) -> str:
    """A moment on the command line as ISO 8601 in UTC; a day means its last moment."""
    return _moment(written, end_of_day=True)


def _moment(written: str, *, end_of_day: bool) -> str:
    try:
        return parse_when(written, datetime.now(UTC), end_of_day=end_of_day).isoformat()
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"{written!r} is not a time; {EXAMPLES}") from error
