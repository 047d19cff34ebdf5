"""Rebuild of memories of an older version."""

from dataclasses import fields
from datetime import datetime
from typing import Literal

from claude_mem_lite.responses.base import Response, response


@response
class StaleSession(Response):
    """Session with turns of an older version, and their number."""

    id: str = ""
    turns: int = 0


@response
class StaleSessions(Response):
    """Sessions with stale turns, oldest first."""

    sessions: tuple[StaleSession, ...]


@response
class StaleTurn(Response):
    """Turn with memories of an older version, and the fields to find the turn in a transcript."""

    turn: str = ""
    prompt_id: str = ""
    began_at: str = ""
    is_left: bool = False
    """True if an earlier rebuild found neither events nor a transcript of the turn."""
    kept_bytes: int = 0
    """Size of the turn's events in the inbox; 0 when they are gone."""

    def start_time(self) -> datetime:
        """Return the time at which the turn began."""
        return datetime.fromisoformat(self.began_at)


@response
class StaleTurns(Response):
    """Stale turns of a session, in order."""

    turns: tuple[StaleTurn, ...]


@response
class RebuildCounts(Response):
    """Number of rebuilt turns, of unchanged turns, and of memories by result."""

    turns: int = 0
    left: int = 0
    kept: int = 0
    reworded: int = 0
    new: int = 0
    taken_back: int = 0
    unsure: int = 0
    """New lesson candidates."""

    def __add__(self, other: "RebuildCounts") -> "RebuildCounts":
        names = [each.name for each in fields(RebuildCounts)]
        return RebuildCounts(*(getattr(self, name) + getattr(other, name) for name in names))


@response
class MemoryChange(Response):
    """Effect of a rebuild on one memory, with its present or former title."""

    change: Literal["new", "reworded", "taken back"]
    id: str
    title: str


@response
class RebuildReport(RebuildCounts):
    """Effect of a rebuild of some turns."""

    changes: tuple[MemoryChange, ...] = ()


@response
class SummaryRow(Response):
    """Unfinished summary of a session, as stored."""

    session: str
    turn: str
    summary: str


@response
class DryRunReport(RebuildReport):
    """Effect of a rebuild in a dry run."""

    so_far: SummaryRow | None = None
    """Unfinished summary that the next dry run of the session continues from."""
