"""What a session was given, with what is on its way to it: two hooks that run side by side do not get the same."""

import sqlite3
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.models import HOOK_MOMENTS
from claude_mem_lite.store import session_context
from claude_mem_lite.store.session_context import DeliveredAnswer

# A hook prints at once or not at all; its confirmation waits for the job thread, which may be busy for a while.
_UNPRINTED_S = 5.0
_PRINTED_S = 600.0
_MAX_FILES = 5_000


@dataclass(frozen=True, slots=True)
class Known:
    """What a session knows at this moment."""

    ids: frozenset[str]
    tokens: int
    """What prompts, failures and files have taken of its budget."""
    was_compacted: bool
    waiting: frozenset[str]
    """The answers that were on their way when this was asked."""
    answers: tuple[DeliveredAnswer, ...] = ()
    """Those that arrived."""

    def left(self, budget_tokens: int) -> int:
        return max(budget_tokens - self.tokens, 0)


@dataclass(frozen=True, slots=True)
class _Answer:
    session: str
    ids: frozenset[str]
    tokens: int
    at: datetime
    until: float


class OnTheirWay:
    """Answers that were made and of which the database does not know yet that they arrived. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[str, _Answer] = {}
        self._files: dict[tuple[str, str], datetime] = {}

    def known(self, db: sqlite3.Connection, session: str) -> Known:
        """What a session was given, may be given in a moment, or made itself."""
        with self._lock:  # first what is on its way: what arrives meanwhile is in the database
            waiting = self._of(session)
        told = session_context.of_session(db, session)
        arrived = {one.spool_name for one in told.answers}
        fresh = [
            one
            for name, one in waiting.items()
            if name not in arrived and (told.compacted_at is None or one.at > told.compacted_at)
        ]
        return Known(
            told.ids.union(*(one.ids for one in fresh)),
            told.tokens(*HOOK_MOMENTS) + sum(one.tokens for one in fresh),
            told.compacted_at is not None,
            frozenset(waiting),
            told.answers,
        )

    def claim(self, name: str, session: str, ids: Collection[str], tokens: int, at: datetime, known: Known) -> bool:
        """Send an answer on its way; False when another was sent meanwhile, and this one may repeat it."""
        with self._lock:
            if self._of(session).keys() - known.waiting:
                return False
            self._answers[name] = _Answer(session, frozenset(ids), tokens, at, time.monotonic() + _UNPRINTED_S)
            return True

    def send(self, name: str, session: str, ids: Collection[str], at: datetime) -> None:
        """Send the context of a start on its way: it takes nothing of the budget, and waits for no other answer."""
        with self._lock:
            self._answers[name] = _Answer(session, frozenset(ids), 0, at, time.monotonic() + _UNPRINTED_S)

    def note_printed(self, name: str) -> None:
        """The hook has printed an answer: it counts, although the database may hear of it later."""
        with self._lock:
            if one := self._answers.get(name):
                self._answers[name] = replace(one, until=time.monotonic() + _PRINTED_S)

    def may_tell_of(self, db: sqlite3.Connection, session: str, file: str) -> bool:
        """Whether a session was told nothing of a file yet, as this worker knows; by its path in the checkout."""
        with self._lock:
            at = self._files.get((session, file))
        compacted_at = session_context.compacted_at(db, session) if at else None
        return at is None or (compacted_at is not None and compacted_at > at)

    def note_file(self, session: str, file: str, at: datetime) -> None:
        """A session was told of a file."""
        with self._lock:
            if len(self._files) >= _MAX_FILES:
                self._files.clear()
            self._files[session, file] = at

    def _of(self, session: str) -> dict[str, _Answer]:
        now = time.monotonic()
        self._answers = {name: one for name, one in self._answers.items() if one.until > now}
        return {name: one for name, one in self._answers.items() if one.session == session}
