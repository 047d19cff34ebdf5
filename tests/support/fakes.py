"""Values, stores, a model and an embedder for tests, made by hand."""

import hashlib
import re
import sqlite3
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic, open_for_reading, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.errors import ModelError
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import Event, JsonObject, Kind, Location, Memory, SessionSummary
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import CallLimits, Completion, Provider, Usage
from claude_mem_lite.store import sessions, turns
from claude_mem_lite.store.ids import short_id

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHOP = Location(project="example.org/me/shop", name="shop", root="/nowhere/shop", branch="main", commit="abc")


@cache
def _empty() -> bytes:
    """The file of a memory.db that holds nothing yet: to copy it takes a tenth of what its migrations take."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with closing(open_for_writing(path)) as db:
            migrate(db, MEMORY_MIGRATIONS, NOW)
        return path.read_bytes()


@dataclass(slots=True)
class SetSeconds:
    """Clock of a `Deadline`, moved by the test."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


class Store:
    """A real memory.db with short ways to fill it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.exists():
            path.touch(mode=0o600)
            path.write_bytes(_empty())
        self.db: sqlite3.Connection = open_for_writing(path)
        migrate(self.db, MEMORY_MIGRATIONS, NOW)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with closing(self.db):
            pass

    def connect(self) -> sqlite3.Connection:
        """One more connection, for reading."""
        return open_for_reading(self._path)

    def remember(self, title: str, *, turn: str = "", place: Location = SHOP, **more: object) -> Memory:
        """Store a memory; what is not said is as rules would have made it a day ago."""
        at = NOW - timedelta(days=1)
        kind: Kind = "bugfix"
        made = Memory(
            id=short_id(title, place.project, turn),
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
            return remember.add(self.db, made, turn or title, made.created_at)

    def session(
        self, id_: str, summary: SessionSummary, *, place: Location = SHOP, at: datetime = NOW - timedelta(hours=2)
    ) -> None:
        """Store a session that ended with this summary."""
        with atomic(self.db):
            sessions.touch(self.db, Event(f"{id_}-end", "Stop", id_, at, place.root or SHOP.root), place)
            sessions.set_summary(self.db, id_, summary, at)

    def turn(
        self,
        key: str,
        asked: str,
        answered: str,
        *,
        session: str = "s1",
        place: Location = SHOP,
        at: datetime = NOW - timedelta(hours=2),
    ) -> None:
        """Store a turn of a session."""
        event = Event(key, "Stop", session, at, place.root)
        with atomic(self.db):
            sessions.touch(self.db, event, place)
            turns.add_turn(self.db, key, event, asked, answered)


@dataclass(slots=True)
class FakeProvider:
    """A model that gives the answers put in line, the last one again and again, and keeps what it was asked.

    While `held` it answers nothing."""

    answers: list[str | ModelError]
    name: str = "anthropic/claude-haiku-4-5-20251001"
    usage: Usage = Usage(2_000, 300, 0.0035)  # noqa: RUF009  frozen
    limits: CallLimits = CallLimits()  # noqa: RUF009  frozen
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


@dataclass(slots=True)
class FakeEmbedder:
    """Texts are near to each other by the words they share; `means` says which words mean another.

    While broken it embeds nothing, and never a text that has an unbearable word."""

    name: str = "fake-1"
    means: dict[str, str] = field(default_factory=dict)
    unbearable: str = ""
    is_broken: bool = False
    asked: list[str] = field(default_factory=list)
    times_let_go: int = 0

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self.is_broken:
            raise OSError("the table is not there")
        words = [re.findall(r"\w+", text.lower()) for text in texts]
        if self.unbearable and any(self.unbearable in each for each in words):
            raise ValueError("a text that cannot be embedded")
        self.asked += texts
        return [self._vector(each) for each in words]

    def release(self) -> None:
        self.times_let_go += 1

    def _vector(self, words: Sequence[str]) -> bytes:
        total = sum((_signs(self.means.get(word, word)) for word in words), np.zeros(256, dtype=np.int64))
        length = float((total * total).sum()) ** 0.5
        if not length:
            return b"\0" * 256
        vector: NDArray[np.int8] = np.clip(np.rint(508 * total / length), -127, 127).astype(np.int8)
        return vector.tobytes()


@cache
def _signs(word: str) -> NDArray[np.int64]:
    """1 or -1 for each bit of a word's digest."""
    bits = np.unpackbits(np.frombuffer(hashlib.sha256(word.encode()).digest(), dtype=np.uint8))
    return 2 * bits.astype(np.int64) - 1
