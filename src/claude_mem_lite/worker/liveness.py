"""When somebody last wanted something of the worker, or looked on: it stays for them, and puts off what can wait.

Whether the package that a worker runs from was replaced on disk, by an upgrade say, or removed.

The job loop asks before each pass, and so does who imports the API: what a worker imports later would be of another
version than the rest of it, or not be there.

Noticing damage while the worker runs: whatever fails because a database is damaged is logged, and seen here.

The worker then ends; the next one looks at its databases thoroughly before it opens them."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

import claude_mem_lite
from claude_mem_lite.db.integrity import is_damage
from claude_mem_lite.paths import state_of


class Activity:
    """Any thread may note or ask."""

    def __init__(self) -> None:
        self._active_at = self._watched_at = time.monotonic()

    def note_request(self) -> None:
        """Somebody wants something: a reason to stay."""
        self._active_at = time.monotonic()

    def note_watching(self) -> None:
        """Somebody looks on: a reason to stay, but not to put off what is done when all is quiet."""
        self._watched_at = time.monotonic()

    def idle_s(self) -> float:
        """For how long nobody wanted anything or looked on."""
        return time.monotonic() - max(self._active_at, self._watched_at)

    def quiet_s(self) -> float:
        """For how long nobody wanted anything."""
        return time.monotonic() - self._active_at


GONE_AFTER_S = 10.0
"""An upgrade takes a moment in which the package is missing. If it takes longer, events wait for the next worker."""


class Package:
    def __init__(
        self, path: Path = Path(claude_mem_lite.__file__), monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = path
        self._monotonic = monotonic
        self._found = state_of(path)
        self._missing_since: float | None = None

    def is_intact(self) -> bool:
        """Whether what is imported now fits what was imported before."""
        return state_of(self._path) == self._found

    def is_replaced(self) -> bool:
        """Not while it is missing: without a package no other worker would come up."""
        now = state_of(self._path)
        return now is not None and now != self._found

    def is_gone(self) -> bool:
        """Whether it was missing for too long to be the moment of an upgrade."""
        if state_of(self._path) is not None:
            self._missing_since = None
            return False
        now = self._monotonic()
        if self._missing_since is None:
            self._missing_since = now
        return now - self._missing_since > GONE_AFTER_S


PACKAGE = "claude_mem_lite"


class DamageWatch(logging.Handler):
    """Calls `suspect` when a failure is logged that SQLite blames on the file."""

    def __init__(self, suspect: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._suspect = suspect

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and is_damage(record.exc_info[1]):
            self._suspect()

    def __enter__(self) -> "DamageWatch":
        logging.getLogger(PACKAGE).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger(PACKAGE).removeHandler(self)
