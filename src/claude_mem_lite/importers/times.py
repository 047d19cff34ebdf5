"""Times as others wrote them, with care: what is none, and what cannot be true, counts as no time."""

from datetime import UTC, datetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SANE = (datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


def read_time(written: str) -> datetime | None:
    """A time in UTC, which is also meant where no zone is written."""
    try:
        at = datetime.fromisoformat(written)
        return sane(at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def sane(at: datetime) -> datetime | None:
    return at if _SANE[0] <= at < _SANE[1] else None
