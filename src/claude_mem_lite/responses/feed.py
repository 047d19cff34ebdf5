"""Responses for the page: changes, feed, and the history of a memory."""

from collections.abc import Mapping

from claude_mem_lite.responses.encoding import Response, response
from claude_mem_lite.responses.memories import MemoryBrief


@response
class ChangeCounts(Response):
    """Counters that move with every change."""

    memory: int
    inbox: Mapping[str, int]


@response
class FolderProject(Response):
    """Project of a folder."""

    project: str
    has_memories: bool


@response
class FeedMemory(MemoryBrief):
    """Short form of a memory, with its turn and the freshness verdict of its code."""

    summary: str
    files: tuple[str, ...]
    session: str
    project: str
    scope: str
    times_seen: int
    confidence: float
    made_by: str
    superseded_by: str | None
    turn: str | None = None
    verdict: str = ""
    """Empty when the state of the code is unknown."""


@response
class FeedTurn(Response):
    """Turn of a memory, with the beginning of its prompt."""

    id: str
    asked: str
    created_at: str


@response
class FeedSession(Response):
    """Session of a memory."""

    id: str
    headline: str
    project: str
    branch: str
    status: str
    started_at: str
    last_event_at: str
    turns: int


@response
class FeedResponse(Response):
    """Memories, newest first, with their turns and sessions by id."""

    memories: tuple[FeedMemory, ...]
    turns: Mapping[str, FeedTurn]
    sessions: Mapping[str, FeedSession]
    next: str | None
    """Cursor of the next page; None at the end."""


@response
class MemoryProject(Response):
    """Project of a memory."""

    id: str
    name: str
    root: str
    """Last known folder, or ''."""


@response
class MemoryInjection(Response):
    """Injection of a memory into a session."""

    receipt: str
    session: str
    moment: str
    given_at: str
    reason: str
    score: float | None
    outcome: str | None


@response
class MemorySession(Response):
    """Session in which a memory was made."""

    id: str
    headline: str


@response
class MemorySighting(MemorySession):
    """Session that saw a memory, with the last time."""

    at: str


@response
class MemoryHistory(Response):
    """History of a memory: its project, session and turn, its injections and sightings."""

    id: str
    project: MemoryProject
    given: tuple[MemoryInjection, ...]
    given_total: int
    used: int
    ignored: int
    unknown: int
    held_because: str
    """Reason for the quarantine, or ''."""
    session: MemorySession | None
    turn: FeedTurn | None
    seen_in: tuple[MemorySighting, ...]
