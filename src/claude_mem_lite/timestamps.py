"""Times as text in databases and files, sorted like the times; and the clock, an argument that tests replace."""

from collections.abc import Callable
from datetime import UTC, datetime


def time_to_text(time: datetime) -> str:
    """Return UTC, always with microseconds, so that texts sort like the times."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def text_to_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)
