"""Whether the package that a worker runs from was replaced on disk, by an upgrade say, or removed.

The job loop asks before each pass, and so does who imports the API: what a worker imports later would be of another
version than the rest of it, or not be there."""

import time
from collections.abc import Callable
from pathlib import Path

import claude_mem_lite
from claude_mem_lite.paths import state_of

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
