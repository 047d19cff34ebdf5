"""Times as they are written in databases and files of ours: texts that sort as the times do."""

from datetime import UTC, datetime


def time_to_text(moment: datetime) -> str:
    """UTC with microseconds always, so that texts sort as the times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def text_to_time(text: str) -> datetime:
    return datetime.fromisoformat(text)
