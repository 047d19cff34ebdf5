"""What reading costs: the start context of a running worker, with ten thousand memories in one project."""

import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import numpy as np

from benchmarks.figures import Figure, p95
from benchmarks.stage import Stage, stage
from benchmarks.synthetic import Language, topic_of
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import KINDS, Event, Memory, SessionSummary
from claude_mem_lite.store import sessions as session_table
from claude_mem_lite.store.ids import short_id

MEMORIES = 10_000
SESSIONS = 500
BUILDS = 200
INDEXED_S = 600.0


def measure() -> Iterator[Figure]:
    with stage() as made:
        fill(made, memories=MEMORIES, sessions=SESSIONS)
        made.start_worker()
        made.client.drain(INDEXED_S)
        taken, told = [], []
        for _ in range(BUILDS):
            began = time.perf_counter()
            answer = made.client.context(str(made.folder), None)
            taken.append((time.perf_counter() - began) * 1000)
            told.append(answer.tokens)
        made.stop_worker()
    note = f"{BUILDS} questions to a running worker, with search by words and meaning, {min(told)} tokens at least"
    yield Figure(f"start context, {MEMORIES} memories, p95", round(p95(taken), 1), "ms", 200, note=note)


def fill(made: Stage, *, memories: int, sessions: int) -> None:
    """Memories of made-up words as frequent as words are: what search takes depends on how many have each."""
    language, draws = Language(), np.random.default_rng(7)
    location = find_location(str(made.folder))
    now = datetime.now(UTC)

    def texts(session: int, *lengths: int) -> list[str]:
        (words,) = language.draw(draws, [topic_of(session)], sum(lengths))
        ends = np.cumsum(lengths).tolist()
        return [" ".join(words[end - length : end]) for length, end in zip(lengths, ends, strict=True)]

    with closing(open_for_writing(made.home.memory_db)) as db:
        migrate(db, MEMORY_MIGRATIONS, now)
        with atomic(db):
            for number in range(sessions):
                event = Event(f"n{number}", "Stop", f"s{number}", now - timedelta(hours=number), str(made.folder))
                session_table.touch(db, event, location)
                headline, completed = texts(number, 12, 30)
                told = SessionSummary(headline=headline, completed=completed)
                session_table.set_summary(db, f"s{number}", told, now)
            for number in range(memories):
                at = now - timedelta(minutes=number)
                title, summary = texts(number % sessions, 8, 30)
                memory = Memory(
                    id=short_id(str(number)),
                    kind=KINDS[number % len(KINDS)],
                    title=title,
                    summary=summary,
                    created_at=at,
                    last_seen_at=at,
                    scope=f"project:{location.project}",
                    project=location.project,
                    session=f"s{number % sessions}",
                )
                remember.add(db, memory, str(number), now)
