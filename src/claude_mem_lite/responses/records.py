"""Responses of search, timeline, sessions and single records."""

from collections.abc import Collection
from dataclasses import field

from claude_mem_lite.models import SessionSummary
from claude_mem_lite.responses.encoding import Response, response
from claude_mem_lite.responses.memories import CodeFreshness, MemoryRecord

RAW_KINDS = ("turn", "session")
"""Kinds of passages: raw text of sessions."""
_OF_MEMORIES = ("author", "made_by", "trust")
_OF_MEMORY_HITS = (*_OF_MEMORIES, "status", "pinned", "freshness", "elsewhere", "retired_because")


@response
class FoundItem(Response):
    """Memory or passage: the fields that search and timeline share."""

    id: str = ""
    kind: str = ""
    origin: str = ""
    author: str = ""
    made_by: str = ""
    trust: float = 0.0
    title: str = ""
    summary: str = ""
    session: str = ""
    created_at: str = ""


@response
class SearchHit(FoundItem):
    """Memory or passage found by a search."""

    project: str = ""
    score: float = 0.0
    certain: bool | None = None
    alike: tuple[str, ...] = ()
    """Ids of hits with nearly the same text, folded into the hit."""
    status: str = ""
    pinned: bool = False
    freshness: CodeFreshness | None = None
    elsewhere: str = ""
    retired_because: str = ""
    why: tuple[str, ...] = ()

    @property
    def is_uncertain(self) -> bool:
        """Return whether the hit is only near to the query."""
        return self.certain is False

    @property
    def is_raw(self) -> bool:
        return self.kind in RAW_KINDS

    def omitted_fields(self) -> Collection[str]:
        return _OF_MEMORY_HITS if self.is_raw else ()


@response
class SearchResponse(Response):
    """Hits, best first."""

    hits: tuple[SearchHit, ...]


@response
class TimelineItem(FoundItem):
    """Memory or turn in a timeline."""

    is_center: bool = False
    """The request names the item."""

    def omitted_fields(self) -> Collection[str]:
        return _OF_MEMORIES if self.kind in RAW_KINDS else ()


@response
class SessionHeadline(Response):
    """Session of a timeline."""

    id: str
    headline: str


@response
class TimelineResponse(Response):
    """Memories and turns in order of time, with their sessions."""

    items: tuple[TimelineItem, ...]
    session: str
    sessions: tuple[SessionHeadline, ...]


@response
class TurnRecord(Response):
    """Turn with its whole text: the fields of `models.Passage`."""

    id: str
    kind: str
    title: str
    text: str
    session: str
    project: str
    created_at: str
    asked: str = ""
    answered: str = ""
    log: str = ""


@response
class SessionRecord(Response):
    """Session with its summary: the fields of `models.Session`, and more."""

    id: str
    project: str
    cwd: str
    status: str
    started_at: str
    last_event_at: str
    branch: str = ""
    commit: str = ""
    source: str = ""
    ended_at: str | None = None
    turns: int = 0
    summary: SessionSummary = field(default_factory=SessionSummary)
    headline_worth: float = 0.0
    title: str = ""
    codes: str = ""
    score: float | None = None
    """None unless a query ranks the sessions."""
    kind: str = ""
    """`session` for a single record, empty in a list."""
    session: str = ""
    """Id for a single record, empty in a list."""

    def omitted_fields(self) -> Collection[str]:
        without_score = ("score",) if self.score is None else ()
        return without_score if self.kind else (*without_score, "kind", "session")


@response
class SessionList(Response):
    """Sessions, newest first or best first."""

    sessions: tuple[SessionRecord, ...]


Record = MemoryRecord | TurnRecord | SessionRecord
