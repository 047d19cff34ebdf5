"""What a home remembers, read from its databases: texts, sizes, and a search over memories and summaries."""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.ranking import Rank, added
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import KINDS, Memory, Session, SessionSummary
from claude_mem_lite.paths import Home
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories as memory_table
from claude_mem_lite.store import sessions as session_table
from claude_mem_lite.store.index import fts
from claude_mem_lite.store.memory_queries import listed
from claude_mem_lite.text import query_words

EVERYTHING = 1_000_000
Tables = dict[str, list[tuple[object, ...]]]
# When a row was stored and worked on, in which order, at which try and by which transaction: how many those are depends
# on how much waited to be indexed at once.
_MOMENTS = frozenset(
    """stored_at told_at applied_at received_at finished_at lease_until available_at attempts seq
    inbox.id inbox.work progress.done retirements.at first_ns last_ns""".split()  # noqa: SIM905
)


@contextmanager
def remembered(home: Home) -> Iterator[sqlite3.Connection]:
    with closing(open_for_reading(home.memory_db)) as db:
        yield db


def all_memories(db: sqlite3.Connection) -> list[Memory]:
    return listed(db, Filters(), EVERYTHING)


def all_sessions(db: sqlite3.Connection) -> list[Session]:
    return session_table.newest(db, limit=EVERYTHING)


def memory_text(memory: Memory) -> str:
    """All that is stored of a memory and can be read: what search finds it by, and `show` shows."""
    symbols = (f"{symbol.file} {symbol.name}" for symbol in memory.symbols)
    told = (memory.title, memory.summary, memory.detail, *memory.facts, *memory.files, *symbols, *memory.tags)
    return "\n".join(filter(None, told))


def summary_text(summary: SessionSummary) -> str:
    """All fields of a session's summary."""
    told = []
    for field in fields(summary):
        value = getattr(summary, field.name)
        told += [value] if isinstance(value, str) else list(value)
    return "\n".join(filter(None, told))


def last_moment(db: sqlite3.Connection) -> datetime:
    """The moment of the last session, to search at: so that the day of a run changes nothing."""
    newest = session_table.newest(db, limit=1)
    return newest[0].last_event_at if newest else datetime.now(UTC)


def memory_finder(db: sqlite3.Connection) -> Callable[[str, str | None, int], list[Memory]]:
    """The product's own search for memories, without raw text: query, project and limit -> best first."""
    search, now = Search(StaticTable(), VectorIndex()), last_moment(db)

    def find(query: str, project: str | None, limit: int) -> list[Memory]:
        hits = search.search(db, query, Filters(project=project, kinds=KINDS), now, limit)
        return [hit.found for hit in hits if isinstance(hit.found, Memory)]

    return find


def text_finder(db: sqlite3.Connection) -> Callable[[str, str | None, int], list[tuple[str, str]]]:
    """The product's own search, what is kept of turns too: query, project and limit -> session and text, best first."""
    search, now = Search(StaticTable(), VectorIndex()), last_moment(db)

    def find(query: str, project: str | None, limit: int) -> list[tuple[str, str]]:
        found = [hit.found for hit in search.search(db, query, Filters(project=project), now, limit)]
        return [(one.session, memory_text(one) if isinstance(one, Memory) else one.text) for one in found]

    return find


def sessions_by_memories(db: sqlite3.Connection) -> Rank:
    """Sessions ranked by memories and summaries alone: summaries are put beside the memories, in a copy."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.row_factory = sqlite3.Row
    db.backup(copy)
    for session in all_sessions(db):
        remember.add(copy, _as_memory(session), session.id, session.last_event_at)

    def rank(text: str) -> list[str]:
        scores = dict(fts.search(copy, query_words(text), Filters(), 400))
        found = memory_table.by_seq(copy, list(scores))
        return added((memory.session, scores[seq]) for seq, memory in found.items())

    return rank


def _as_memory(session: Session) -> Memory:
    summary = session.summary
    prose = (summary.request, summary.investigated, summary.learned, summary.completed, summary.notes)
    return Memory(
        id=f"summary-{session.id}",
        kind="note",
        title=summary.headline,
        summary="\n".join(filter(None, prose)),
        facts=(*summary.key_decisions, *summary.next_steps),
        files=(*summary.files_edited, *summary.files_read),
        created_at=session.last_event_at,
        last_seen_at=session.last_event_at,
        scope=f"project:{session.project}",
        project=session.project,
        session=session.id,
    )


def duplicates(found: Sequence[Memory]) -> int:
    """Memories that say what another one of their project says: the same words in title and summary."""
    said = Counter((memory.project, *_words(f"{memory.title}\n{memory.summary}")) for memory in found)
    return sum(times - 1 for times in said.values())


def near_duplicates(found: Sequence[Memory], share: float = 0.8) -> int:
    """Memories of which an earlier one of their kind and project has at least this share of all words of both."""
    seen: list[tuple[str, str, set[str]]] = []
    near = 0
    for memory in reversed(found):
        words = set(_words(f"{memory.title}\n{memory.summary}"))
        near += any(
            kind == memory.kind and project == memory.project and len(words & other) >= share * len(words | other)
            for kind, project, other in seen
        )
        seen.append((memory.kind, memory.project, words))
    return near


def tables(path: Path) -> Tables:
    """The rows of every table without the moments of storing, to compare two homes."""
    with closing(open_for_reading(path)) as db:
        names = [row["name"] for row in db.execute("select name from sqlite_master where type = 'table'")]
        return {name: _rows(db, name) for name in names if "_fts_" not in name and not name.startswith("sqlite_")}


def _rows(db: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    names = [row["name"] for row in db.execute(f"pragma table_info({table})")]
    columns = [name for name in names if not _MOMENTS & {name, f"{table}.{name}"}]
    return sorted((tuple(row) for row in db.execute(f"select {', '.join(columns)} from {table}")), key=repr)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
