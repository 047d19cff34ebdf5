"""Imports, exports, and rebuilds of memories of an older version."""

from collections.abc import Mapping
from dataclasses import field, fields
from datetime import datetime
from typing import Literal

from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.encoding import Response, response


@response
class ExportPage(Response):
    """Part of an export."""

    memories: tuple[JsonObject, ...] = ()
    total: int | None = None
    """Number of memories in the whole export; only in the first page."""
    next: int | None = None
    """Cursor of the next page; None in the last page."""


@response
class ImportStart(Response):
    """Default project and time of imported memories, and the unknown scopes with the reason."""

    project: str = ""
    at: str = ""
    unknown: Mapping[str, str] = field(default_factory=dict)


@response
class ImportedMemories(Response):
    """Counts of a batch of imported memories."""

    imported: int = 0
    known: int = 0
    different: tuple[str, ...] = ()
    """Ids of memories that are stored with another content, and keep it."""
    forgotten: int = 0
    redacted: int = 0
    quarantined: int = 0
    disbelieved: int = 0
    """Memories that claimed to be the user's word, or pinned, and were stored as imported."""
    projects: tuple[str, ...] = ()


@response
class Finished(Response):
    """Confirmation that an import is complete."""

    finished: bool = True


@response
class PastTurns(Response):
    """Names of past turns outside an import, or imported only on request."""

    known: tuple[str, ...] = ()
    """Turns that are stored already."""
    excluded: tuple[str, ...] = ()
    """Turns of a folder that is excluded now."""
    off: tuple[str, ...] = ()
    """Turns of a time in which memory was off."""
    excluded_then: tuple[str, ...] = ()
    """Turns of a time in which their folder was excluded."""


@response
class ImportedTurns(Response):
    """Counts of a batch of imported turns."""

    turns: int = 0
    memories: int = 0
    ended: int = 0
    """Memories, new or old, that the turns retired or replaced."""
    unsure_lessons: int = 0
    """Lesson candidates of all sessions that wait for a verdict."""


@response
class KnownSession(Response):
    """Project and working folder of a stored session."""

    project: str = ""
    cwd: str = ""


@response
class KnownOfClaudeMem(Response):
    """Known sessions and projects of claude-mem's database."""

    sessions: Mapping[str, KnownSession] = field(default_factory=dict)
    """Sessions that hooks saw, by id."""
    imported: Mapping[str, KnownSession] = field(default_factory=dict)
    """Sessions of an earlier import, by id."""
    projects: Mapping[str, str] = field(default_factory=dict)
    """Project ids by names that only one project has."""
    forgotten: tuple[str, ...] = ()
    """Ids of forgotten sessions."""


@response
class ImportedSessions(Response):
    """Number of new sessions, and of sessions that moved to another project."""

    imported: int = 0
    moved: int = 0


@response
class ImportedRows(Response):
    """Counts of a batch of claude-mem's rows, and the project of each row; '' where the row is not stored."""

    imported: int = 0
    known: int = 0
    forgotten: int = 0
    quarantined: int = 0
    redacted: int = 0
    projects: tuple[str, ...] = ()


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
