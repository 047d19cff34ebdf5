"""Responses about memories: whole records, their relations, the state of their code, and answers to agents."""

from collections.abc import Collection
from dataclasses import field

from claude_mem_lite.models import SymbolChange, Tally
from claude_mem_lite.responses.encoding import Response, response


@response
class StoredMemory(Response):
    """Memory as stored: the fields of `models.Memory`, times as text."""

    id: str
    kind: str
    title: str
    summary: str
    created_at: str
    last_seen_at: str
    scope: str
    project: str
    status: str = ""
    detail: str = ""
    facts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    symbols: tuple[SymbolChange, ...] = ()
    anchors: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    session: str = ""
    prompt: str = ""
    branch: str = ""
    commit: str = ""
    origin: str = ""
    author: str = ""
    trust: float = 0.0
    confidence: float = 0.0
    times_seen: int = 0
    pinned: bool = False
    superseded_by: str | None = None
    made_by: str = ""
    prompt_version: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0


@response
class MemoryBrief(Response):
    """Memory shown beside another memory."""

    id: str
    kind: str
    title: str
    status: str
    origin: str
    author: str
    pinned: bool
    created_at: str
    last_seen_at: str


@response
class MemoryRelations(Response):
    """Other memories that replace, are replaced by or contradict a memory; its retirement and its injections."""

    retired_at: str | None = None
    retired_cause: str | None = None
    retired_because: str = ""
    replaced_by: MemoryBrief | None = None
    replaced: tuple[MemoryBrief, ...] = ()
    conflicts: tuple[MemoryBrief, ...] = ()
    given: Tally = field(default_factory=Tally)
    """Number of sessions that got the memory, by outcome."""


@response
class CodeFreshness(Response):
    """Freshness verdict for the code of a memory, with the reasons."""

    verdict: str = ""
    reasons: tuple[str, ...] = ()


@response
class MemoryState(Response):
    """State of a memory in the checkout of a folder."""

    freshness: CodeFreshness | None = None
    """None for a memory without an anchor to code of the project, or when time ran out."""
    elsewhere: str = ""
    """Branch of the memory, when the checkout does not contain the work of that branch."""


@response
class MemoryRecord(MemoryRelations, StoredMemory):
    """Memory with its relations, and with its state if that was checked."""

    freshness: CodeFreshness | None = None
    elsewhere: str | None = None
    """None when the state was not checked."""

    def omitted_fields(self) -> Collection[str]:
        return () if self.elsewhere is not None else ("freshness", "elsewhere")


@response
class MemoryList(Response):
    """Memories, newest first."""

    memories: tuple[MemoryRecord, ...]


@response
class RememberedMemory(MemoryRecord):
    """Memory stated by the user, with notes on its storage."""

    is_guessed: bool = False
    """The worker guessed the kind."""
    is_repeat: bool = False
    """The memory was known."""
    is_redacted: bool = False
    """The worker removed a secret."""
    has_private: bool = False
    """The worker removed a private passage."""
    is_excluded: bool = False
    """The configuration excludes the folder."""
    guard: str = ""
    """Id of the guard that the memory is proposed as."""


@response
class SavedNote(Response):
    """Memory saved by an agent."""

    id: str
    kind: str
    status: str
    title: str
    scope: str
    asked_scope: str
    """Wider scope that the agent asked for, and did not get."""
    origin: str
    times_seen: int
    is_redacted: bool
    has_private: bool


@response
class SavedMemory(MemoryRelations, SavedNote):
    """Memory saved by an agent, with its relations."""


@response
class QuarantinedMemory(StoredMemory):
    """Memory in quarantine."""

    reason: str = ""


@response
class QuarantineList(Response):
    """Memories in quarantine, newest first."""

    memories: tuple[QuarantinedMemory, ...]


@response
class ApprovedMemories(Response):
    """Ids of memories released from quarantine."""

    approved: tuple[str, ...]


@response
class DroppedMemories(Response):
    """Ids of quarantined memories after their deletion."""

    dropped: tuple[str, ...]


@response
class ForgottenMemories(Response):
    """Ids of forgotten memories and turns."""

    forgotten: tuple[str, ...]


@response
class StaleMemory(MemoryBrief):
    """Memory with changed or missing code, or retired for such a reason."""

    branch: str
    verdict: str
    """`changed`, `gone` or `retired`."""
    reasons: tuple[str, ...]


@response
class StaleResponse(Response):
    """Stale memories of the project of a folder."""

    project: str
    excluded: bool
    memories: tuple[StaleMemory, ...] = ()
    checked: int = 0
    unchecked: int = 0
    """Memories that were not checked in time."""


@response
class AgentLocation(Response):
    """Project of an agent, and the working session of the folder."""

    project: str
    session: str


@response
class AgentContext(Response):
    """Answer to a query of an agent."""

    text: str
    tokens: int
    items: tuple[str, ...]
    """Ids of memories and sessions."""
    name: str
    """Spool name of the receipt to confirm, or ''."""


@response
class SentResponse(Response):
    """Confirmation of a printed receipt."""

    sent: bool


@response
class ForgottenMemory(Response):
    """Memory forgotten by an agent."""

    id: str
    kind: str
    title: str


@response
class ForgottenByAgent(Response):
    """Memories forgotten by an agent, and ids of all removed records."""

    forgotten: tuple[ForgottenMemory, ...]
    others: int
    """Number of memories that repeated the named ones."""
    ids: tuple[str, ...]
