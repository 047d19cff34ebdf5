"""Fills a home with made-up memories through the product's own store functions, and tells how long that took.

Memories and turns go in by thousands a transaction, without a look for what says the same, and after each `Indexing`
works until nothing waits, as it does in the background. The last hundred memories go in one by one, as the worker
stores them."""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.synthetic import BATCH, NOW, Language, SyntheticTurn, batch
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import Event, Location, Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.store import memories, sessions, turns

ONE_BY_ONE = 100
# What each table is counted as, with its indexes and the tables that FTS5 keeps for it.
_PARTS = {
    "memories_fts": "words",
    "passages_fts": "words",
    "memories": "memories",
    "sightings": "memories",
    "prompts": "turns",
    "passages": "turns",
    "sessions": "turns",
    "vectors": "vectors",
    "sketches": "vectors",
}


@dataclass(frozen=True, slots=True)
class Filled:
    """How long filling took, and what lies on the disk now."""

    memories: int
    timed: int
    """How many of them were stored in the times below: fewer when an earlier run was broken off."""
    store_s: float
    index_s: float
    add_ms: tuple[float, ...]
    """Each of the last memories, with its commit."""
    bytes: int
    parts: dict[str, int]
    """Bytes by what they are for; empty where SQLite cannot tell."""


def fill(folder: Path, size: int) -> Filled:
    """Make the home in a folder, or the rest of it; one that is whole is told of as when it was made."""
    told = folder / "filled.json"
    if told.exists():
        kept = json.loads(told.read_text())
        return Filled(**{**kept, "add_ms": tuple(kept["add_ms"])})
    home = Home(folder)
    home.make()
    with closing(open_for_writing(home.memory_db)) as db:
        migrate(db, MEMORY_MIGRATIONS, NOW)
        indexing = Indexing(db, StaticTable())
        indexing.begin()
        language = Language()
        store_s = index_s = 0.0
        start = memories.count(db)
        adding: list[float] = []
        for first in range(start, size, BATCH):
            made, turned = batch(language, first, min(BATCH, size - first), size)
            alone = max(first + len(made) - (size - ONE_BY_ONE), 0)
            began = time.perf_counter()
            _store(db, made[: len(made) - alone], turned)
            stored = time.perf_counter()
            adding += _add(db, made[len(made) - alone :])
            added = time.perf_counter()
            while indexing.step():
                pass
            store_s += stored - began
            index_s += time.perf_counter() - added
        if indexing.problem or indexing.waiting(db):
            raise SystemExit(f"not all could be indexed: {indexing.problem or 'some documents still wait'}")
        db.execute("pragma wal_checkpoint(truncate)")
        parts = _sizes(db)
    whole = home.memory_db.stat().st_size
    filled = Filled(size, size - start, store_s, index_s, tuple(adding), whole, parts)
    told.write_text(json.dumps(asdict(filled)))
    return filled


def _store(db: sqlite3.Connection, made: Sequence[Memory], turns: Sequence[SyntheticTurn]) -> None:
    with atomic(db):
        for turn in turns:
            _store_turn(db, turn)
        for memory in made:
            memories.put(db, memory, f"turn of {memory.id}", memory.created_at)


def _store_turn(db: sqlite3.Connection, turn: SyntheticTurn) -> None:
    location = Location(turn.project, turn.project.rpartition("/")[2], f"/{turn.project}", "main")
    event = Event(turn.key, "Stop", turn.session, turn.at, f"/{turn.project}")
    sessions.touch(db, event, location)
    turns.add_turn(db, turn.key, event, turn.asked, turn.answered)


def _add(db: sqlite3.Connection, made: Sequence[Memory]) -> Iterator[float]:
    """The milliseconds that each takes: a look for what says the same, the memory and its words, and the commit."""
    for memory in made:
        began = time.perf_counter()
        with atomic(db):
            remember.add(db, memory, f"turn of {memory.id}", memory.created_at)
        yield (time.perf_counter() - began) * 1000


def _sizes(db: sqlite3.Connection) -> dict[str, int]:
    tables = {row["name"]: row["tbl_name"] for row in db.execute("select name, tbl_name from sqlite_master")}
    try:
        rows = db.execute("select name, pgsize from dbstat where aggregate = true").fetchall()
    except sqlite3.OperationalError:  # an SQLite without it
        return {}
    parts = Counter[str]()
    for row in rows:
        table = tables.get(row["name"], "")
        owner = next((name for name in _PARTS if table == name or table.startswith(f"{name}_")), "")
        parts[_PARTS.get(owner, "other")] += row["pgsize"]
    return dict(parts)
