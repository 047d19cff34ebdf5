"""Words -> hits, by the word index alone. Every hit says why it was found."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.models import Hit, Kind, Memory
from claude_mem_lite.store import fts, memories
from claude_mem_lite.words import query_words

_CANDIDATES = 400
_RECENCY_WEIGHT = 0.05
_MOST_WORDS = 24


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit must be besides relevant; None and empty ask for nothing."""

    project: str | None = None
    kinds: tuple[Kind, ...] = ()
    file: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def search(db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int) -> list[Hit]:
    """The best active memories for a query, best first. Any text is a safe query."""
    words = query_words(query)[:_MOST_WORDS]
    scored = fts.search(db, words, filters.project, _CANDIDATES)
    if not scored:
        return []
    found = memories.by_seq(db, [seq for seq, _ in scored])
    top = max(score for _, score in scored) or 1.0
    hits = [
        _hit(found[seq], score, top, words, now)
        for seq, score in scored
        if seq in found and _passes(found[seq], filters)
    ]
    return sorted(hits, key=lambda hit: hit.score, reverse=True)[:limit]


def _passes(memory: Memory, filters: Filters) -> bool:
    return (
        memory.status == "active"
        and (not filters.kinds or memory.kind in filters.kinds)
        and (filters.since is None or memory.created_at >= filters.since)
        and (filters.until is None or memory.created_at <= filters.until)
        and (filters.file is None or _names_file(memory.files, filters.file))
    )


def _names_file(files: Sequence[str], wanted: str) -> bool:
    return any(file == wanted or file.endswith("/" + wanted) or wanted.endswith("/" + file) for file in files)


def _hit(memory: Memory, score: float, top: float, words: Sequence[str], now: datetime) -> Hit:
    days = max((now - memory.last_seen_at).total_seconds() / 86400, 0.0)
    recency = _RECENCY_WEIGHT / (1 + days / 30)
    text = " ".join((memory.title, memory.summary, memory.detail, *memory.facts, *memory.files)).lower()
    matched = [word for word in words if word in text]
    why = (
        f"words {score / top:.2f} ({', '.join(matched) or 'by their stems'})",
        f"recency {recency:.2f} ({days:.0f} days)",
    )
    return Hit(memory, round(score / top * (1 - _RECENCY_WEIGHT) + recency, 4), why)
