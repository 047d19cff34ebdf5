"""What was asked -> values that search understands."""

import re
from datetime import UTC, datetime, timedelta

from claude_mem_lite.errors import MemoryLiteError

_AGO = re.compile(r"^(?P<number>\d{1,6})\s*(?P<unit>minute|min|hour|h|day|d|week|w|month|year)s?(?:\s+ago)?$")
_UNIT = {"min": "minute", "h": "hour", "d": "day", "w": "week"}
_LENGTH = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}


def parse_when(text: str, now: datetime) -> datetime:
    """A moment from words: `2026-11-03`, a full ISO time, `yesterday`, `3 days ago`, `2h`."""
    wanted = text.strip().lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if wanted in ("today", "yesterday"):
        return midnight - timedelta(days=wanted == "yesterday")
    ago = _AGO.match(wanted)
    if ago:
        return now - int(ago["number"]) * _LENGTH[_UNIT.get(ago["unit"], ago["unit"])]
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise MemoryLiteError(f"{text!r} is no date", "try 2026-11-03, yesterday or '3 days ago'") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
