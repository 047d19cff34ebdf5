"""What reading costs: the start context, with ten thousand memories in one project."""

import random
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial

from benchmarks.figures import Figure, p95
from benchmarks.stage import Stage, stage
from claude_mem_lite.context.builder import build
from claude_mem_lite.context.occasion import Occasion
from claude_mem_lite.db.connection import atomic, open_for_reading, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.models import KINDS, Event, Memory, SessionSummary
from claude_mem_lite.places import find_place
from claude_mem_lite.store import memories as memory_table
from claude_mem_lite.store import sessions as session_table
from claude_mem_lite.store.ids import short_id

MEMORIES = 10_000
SESSIONS = 500
BUILDS = 200


def measure() -> Iterator[Figure]:
    with stage() as made:
        fill(made, memories=MEMORIES, sessions=SESSIONS)
        place = find_place(str(made.folder))
        connect = partial(open_for_reading, made.home.memory_db)
        taken = []
        for _ in range(BUILDS):
            began = time.perf_counter()
            build(connect, Occasion(place, datetime.now(UTC)), 2000)
            taken.append((time.perf_counter() - began) * 1000)
        yield Figure(
            f"start context, {MEMORIES} memories, p95", round(p95(taken), 1), "ms", 200, note=f"{BUILDS} builds"
        )


def fill(made: Stage, *, memories: int, sessions: int) -> None:
    """Memories of made-up words: their number matters here, not what they say."""
    random_words = random.Random(7)
    words = [f"{a}{b}" for a in ("load", "parse", "cache", "route", "token") for b in ("er", "ing", "Table", "_file")]
    place = find_place(str(made.folder))
    now = datetime.now(UTC)

    def text(number: int) -> str:
        return " ".join(random_words.choices(words, k=number))

    with closing(open_for_writing(made.home.memory_db)) as db:
        migrate(db, MEMORY_MIGRATIONS, now)
        with atomic(db):
            for number in range(sessions):
                event = Event(f"n{number}", "Stop", f"s{number}", now - timedelta(hours=number), str(made.folder))
                session_table.touch(db, event, place)
                session_table.set_summary(db, f"s{number}", SessionSummary(headline=text(12), completed=text(30)), now)
            for number in range(memories):
                at = now - timedelta(minutes=number)
                memory = Memory(
                    id=short_id(str(number)),
                    kind=KINDS[number % len(KINDS)],
                    title=text(8),
                    summary=text(30),
                    created_at=at,
                    last_seen_at=at,
                    scope=f"project:{place.project}",
                    project=place.project,
                    session=f"s{number % sessions}",
                )
                memory_table.add(db, memory, str(number), now)
