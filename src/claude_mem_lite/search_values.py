"""Values of a search: conditions, hits, and memories scored on an absolute scale."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from claude_mem_lite.models import Kind, Memory, Origin, Passage, Status
from claude_mem_lite.values import frozen


@frozen
class Filters:
    """Conditions on hits besides relevance; None and empty mean no condition."""

    project: str | None = None
    """Memories in force in this project: its own and universal ones."""
    kinds: tuple[Kind, ...] = ()
    scope: str | None = None
    """Memories of exactly this scope: `universal`, `language:NAME` or `project:ID`."""
    file: str | None = None
    """Memories about this file: a path, or the end of a path."""
    branch: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    statuses: tuple[Status, ...] = ("active",)
    origins: tuple[Origin, ...] = ()
    with_passages: bool = True
    """Include raw text where the conditions allow."""

    def admits_passages(self) -> bool:
        """Return whether raw text can match: raw text has no kind, scope, file, branch, origin or
        status."""
        if not self.with_passages or self.kinds or self.scope or self.file or self.branch or self.origins:
            return False
        return not self.statuses or "active" in self.statuses


@frozen
class Hit:
    """Search result with its score and reasons."""

    found: Memory | Passage
    score: float
    why: tuple[str, ...]
    alike: tuple[str, ...] = ()
    """Ids of nearly equal hits that were merged into this hit."""
    is_certain: bool | None = None
    """False for a hit that is only the nearest available; None after a search without reasons."""
    matched: Mapping[str, float] = field(default_factory=dict)
    """Matched words of the query, with the rarity of each; empty after a search without reasons."""
    share: float = 0.0
    """Share of the matched words among all query words, weighted by rarity."""
    cosine: float | None = None
    """Similarity in meaning to the query; None if unknown or not requested."""


@frozen
class ScoredMemory:
    """Candidate memory for a question, scored on an absolute scale."""

    memory: Memory
    words: float
    """BM25 over the logarithm of the number of memories: about the same in a young home and in an old one."""
    cosine: float | None
    """None if the meaning of question or memory is unknown."""
