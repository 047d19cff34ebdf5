"""Whether the package that a worker runs from was replaced on disk, by an upgrade say.

The job loop asks before each pass: what a worker imports later would be of another version than the rest of it."""

from pathlib import Path

import claude_mem_lite
from claude_mem_lite.paths import state_of


class Package:
    def __init__(self, path: Path = Path(claude_mem_lite.__file__)) -> None:
        self._path = path
        self._found = state_of(path)

    def is_replaced(self) -> bool:
        """Not while it is missing: an upgrade takes a moment, and without a package no other worker would come up."""
        now = state_of(self._path)
        return now is not None and now != self._found
