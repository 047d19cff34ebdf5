"""Injections of a session, with those still in flight: two hooks that run in parallel must not get the same memory,
and two hooks of one event get one answer."""

import sqlite3
import threading
import time
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.agents.adapters import NUMBERED_WITHIN_S, duplicate_within_s, identity
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.event_names import event_of
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.models import HOOK_TRIGGERS, JsonObject, text
from claude_mem_lite.store import session_context
from claude_mem_lite.store.session_context import DeliveredAnswer
from claude_mem_lite.values import frozen

# A hook prints at once or not at all; the confirmation waits for the job thread, which may be busy for a while.
_UNPRINTED_S = 5.0
_PRINTED_S = 600.0
_MAX_FILES = 5_000
_MAX_SEEN = 2_000


@frozen
class SessionInjections:
    """Memories that a session knows at this moment."""

    ids: frozenset[str]
    tokens: int
    """Tokens of the budget that prompts, failures and files have used."""
    was_compacted: bool
    waiting: frozenset[str]
    """Names of the answers that were in flight."""
    answers: tuple[DeliveredAnswer, ...] = ()
    """Answers that arrived."""

    def left(self, budget_tokens: int) -> int:
        return max(budget_tokens - self.tokens, 0)


@frozen
class _InFlight:
    session: str
    ids: frozenset[str]
    tokens: int
    at: datetime
    expiry: Deadline


class InFlightInjections:
    """Answers that are built, but not yet recorded as printed. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[str, _InFlight] = {}
        self._files: dict[tuple[str, str], datetime] = {}

    def known(self, db: sqlite3.Connection, session: str) -> SessionInjections:
        """Return the memories that a session was given, will get in a moment, or made itself."""
        with self._lock:  # before the database: an answer that arrives meanwhile is recorded there
            waiting = self._of(session)
        context = session_context.of_session(db, session)
        arrived = {answer.spool_name for answer in context.answers}
        fresh = [
            answer
            for name, answer in waiting.items()
            if name not in arrived and (context.compacted_at is None or answer.at > context.compacted_at)
        ]
        return SessionInjections(
            context.ids.union(*(answer.ids for answer in fresh)),
            context.tokens(*HOOK_TRIGGERS) + sum(answer.tokens for answer in fresh),
            context.compacted_at is not None,
            frozenset(waiting),
            context.answers,
        )

    def claim(
        self, name: str, session: str, ids: Collection[str], tokens: int, at: datetime, known: SessionInjections
    ) -> bool:
        """Note an answer as in flight; return False when another one was sent meanwhile, perhaps with the same ids."""
        with self._lock:
            if self._of(session).keys() - known.waiting:
                return False
            self._answers[name] = _InFlight(session, frozenset(ids), tokens, at, Deadline.after(_UNPRINTED_S))
            return True

    def send(self, name: str, session: str, ids: Collection[str], at: datetime) -> None:
        """Note a start context as in flight: without use of the budget, and whatever else is in flight."""
        with self._lock:
            self._answers[name] = _InFlight(session, frozenset(ids), 0, at, Deadline.after(_UNPRINTED_S))

    def note_printed(self, name: str) -> None:
        """Note that a hook has printed an answer: the answer counts even before the database records it."""
        with self._lock:
            if answer := self._answers.get(name):
                self._answers[name] = replace(answer, expiry=Deadline.after(_PRINTED_S))

    def is_new_file(self, db: sqlite3.Connection, session: str, file: str) -> bool:
        """Return whether this worker gave a session no memory for a file yet; `file` is a path in the checkout."""
        with self._lock:
            at = self._files.get((session, file))
        compacted_at = session_context.compacted_at(db, session) if at else None
        return at is None or (compacted_at is not None and compacted_at > at)

    def note_file(self, session: str, file: str, at: datetime) -> None:
        """Note that a session was given memories for a file."""
        with self._lock:
            if len(self._files) >= _MAX_FILES:
                self._files.clear()
            self._files[session, file] = at

    def _of(self, session: str) -> dict[str, _InFlight]:
        self._answers = {name: answer for name, answer in self._answers.items() if not answer.expiry.is_past()}
        return {name: answer for name, answer in self._answers.items() if answer.session == session}


class DuplicateHookGuard:
    """Recently answered events. Any thread may ask."""

    def __init__(
        self, open_inbox: Callable[[], sqlite3.Connection], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._open_inbox = open_inbox
        self._seconds = seconds
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, ...], tuple[str, float]] = {}
        self._began = seconds()

    def is_duplicate(self, name: str, payload: JsonObject) -> bool:
        """Return whether another hook reported the event of an adapted payload a moment ago; if not, note the event."""
        key = identity(name, payload)
        if key is None:
            return False
        now, within_s = self._seconds(), duplicate_within_s(name, payload)
        with self._lock:
            if len(self._seen) >= _MAX_SEEN:
                self._seen = {other: seen for other, seen in self._seen.items() if now - seen[1] <= NUMBERED_WITHIN_S}
            first, at = self._seen.get(key, (name, now))
            if now - at > within_s:
                first = name
            if first == name:
                self._seen[key] = name, now
        # The worker before may have answered the other hook.
        return first != name or (now - self._began <= within_s and self._was_taken_in(name, payload, key, within_s))

    def _was_taken_in(self, name: str, payload: JsonObject, key: tuple[str, ...], within_s: float) -> bool:
        event = text(payload.get("hook_event_name")) or event_of(name)
        with closing(self._open_inbox()) as db:
            near = inbox.near(db, name, text(payload.get("session_id")), event, within_s)
        return any(row.name < name and self._is_same(row, key) for row in near)

    @staticmethod
    def _is_same(row: inbox.Row, key: tuple[str, ...]) -> bool:
        try:
            return identity(row.name, row.parse_payload()) == key
        except PayloadError:
            return False
