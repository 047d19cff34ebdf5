"""Imports and exports."""

from collections.abc import Mapping
from dataclasses import field

from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.base import Response, response


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
