"""Which rows are of work that is in this checkout: work on branches that are not merged here is not."""

from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.db.connection import time_to_text

Hidden = Sequence[tuple[str, datetime | None]]
"""Branches whose work is not here, each with the moment up to which it is nevertheless: it was merged then."""

# An expression of SQLite is at most 1,000 deep; nobody has worked on so many branches that are not merged.
_MOST_BRANCHES = 500


def is_hidden(branch: str, at: datetime, hidden: Hidden) -> bool:
    """Whether work of this branch and moment is not here."""
    return any(branch == name and (since is None or at > since) for name, since in hidden)


def not_hidden(hidden: Hidden, moment: str) -> tuple[str, dict[str, str]]:
    """A condition on the columns `branch` and `moment`, with its values."""
    parts: list[str] = []
    values: dict[str, str] = {}
    for number, (branch, since) in enumerate(hidden[:_MOST_BRANCHES]):
        values[f"branch_{number}"] = branch
        values[f"since_{number}"] = time_to_text(since) if since else ""
        parts.append(f"(branch = :branch_{number} and {moment} > :since_{number})")
    return f"not ({' or '.join(parts)})" if parts else "true", values
