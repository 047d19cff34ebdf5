"""Values, stores and a model for tests, made by hand."""

import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType

from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.errors import ModelError
from claude_mem_lite.models import Completion, Event, JsonObject, Kind, Memory, Place, Provider, SessionSummary, Usage
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memories, sessions

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHOP = Place(project="example.org/me/shop", name="shop", root="/nowhere/shop", branch="main", commit="abc")


class Store:
    """A real memory.db with short ways to fill it."""

    def __init__(self, path: Path) -> None:
        self.db: sqlite3.Connection = open_for_writing(path)
        migrate(self.db, MEMORY_MIGRATIONS, NOW)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with closing(self.db):
            pass

    def remember(self, title: str, *, turn: str = "", place: Place = SHOP, **more: object) -> Memory:
        """Store a memory; what is not said is as rules would have made it a day ago."""
        at = NOW - timedelta(days=1)
        kind: Kind = "bugfix"
        made = Memory(
            id=memories.memory_id(title, place.project, turn),
            kind=kind,
            title=title,
            summary=f"{title}, because it was asked for.",
            created_at=at,
            last_seen_at=at,
            scope=f"project:{place.project}",
            project=place.project,
            session="s1",
        )
        made = replace(made, **more)  # type: ignore[arg-type]
        with atomic(self.db):
            return memories.add(self.db, made, turn or title, made.created_at)

    def session(
        self, id_: str, summary: SessionSummary, *, place: Place = SHOP, at: datetime = NOW - timedelta(hours=2)
    ) -> None:
        """Store a session that ended with this summary."""
        with atomic(self.db):
            sessions.touch(self.db, Event(f"{id_}-end", "Stop", id_, at, "/nowhere/shop"), place)
            sessions.set_summary(self.db, id_, summary, at)


@dataclass(slots=True)
class FakeProvider:
    """A model that gives the answers put in line, the last one again and again, and keeps what it was asked.

    While `held` it answers nothing."""

    answers: list[str | ModelError]
    name: str = "anthropic/claude-haiku-4-5-20251001"
    usage: Usage = Usage(2_000, 300, 0.0035)  # noqa: RUF009  frozen
    asked: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.released.set()

    def check(self) -> None:
        pass

    def complete(self, system: str, user: str, schema: JsonObject, max_tokens: int) -> Completion:  # noqa: ARG002
        with self._one_at_a_time:
            self.asked.append(user)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.released.wait(60)
        if isinstance(answer, ModelError):
            raise answer
        return Completion(answer, self.usage)

    def hold(self) -> None:
        self.released.clear()

    def release(self) -> None:
        self.released.set()

    def make(self, config: Config, home: Home, environment: Mapping[str, str]) -> Provider | None:  # noqa: ARG002
        """Stands in for the choice by configuration, and obeys it as far as `rules` goes."""
        return None if config.provider == "rules" else self
