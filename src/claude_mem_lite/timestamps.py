"""Times as they are written in databases and files of ours: texts that sort as the times do.

The time of day as the worker's parts are handed it; tests hand in a clock of their own."""

from collections.abc import Callable
from datetime import UTC, datetime


def time_to_text(moment: datetime) -> str:
    """UTC with microseconds always, so that texts sort as the times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def text_to_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)
