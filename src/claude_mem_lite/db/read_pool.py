"""Connections that cannot write, kept open for the next answer.

A new one has to read the schema and every page again, and to compile each statement: a quarter of the time of an answer
among 100,000 memories."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from claude_mem_lite.db.connection import damaged, open_for_reading
from claude_mem_lite.db.integrity import is_damage
from claude_mem_lite.paths import identity

MAX_KEPT = 10
"""As many as a start context uses side by side."""


class Readers:
    """Used by any thread. Whoever opens a connection closes it as any other; it is another's then."""

    def __init__(self, path: Path, note_damage: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._file = identity(path)
        self._note_damage = note_damage
        self._lock = threading.Lock()
        self._kept: list[_Kept] = []
        self._is_closed = False

    def open(self) -> sqlite3.Connection:
        """A connection for one thread and one answer; sqlite3.DatabaseError when the database is not the one that the
        worker has open: what is read then is not what was stored."""
        self._require_file()
        with self._lock:
            if self._kept:
                return self._kept.pop()
        made = self._connect()
        made.give_back = self._take_back
        return made

    def open_apart(self) -> sqlite3.Connection:
        """One that nobody has afterwards: for who may be asking it still when it is closed."""
        self._require_file()
        return self._connect()

    def let_go(self) -> None:
        """Close those that nobody uses."""
        with self._lock:
            while self._kept:
                self._kept.pop().close_for_good()

    def close(self) -> None:
        """Keep none any more; those that are in use are closed by who uses them."""
        self._is_closed = True
        self.let_go()

    def _connect(self) -> "_Kept":
        made = open_for_reading(self._path, _Kept)
        assert isinstance(made, _Kept)
        made.note_damage = self._note_damage
        try:
            # Once more, before anything is read: SQLite would join the log, which is open, to another database.
            self._require_file()
        except sqlite3.DatabaseError:
            made.close_for_good()
            raise
        return made

    def _require_file(self) -> None:
        if identity(self._path) != self._file:
            self._note_damage()
            raise damaged(f"{self._path.name} was removed or replaced")

    def _take_back(self, used: "_Kept") -> None:
        with self._lock:
            if used in self._kept:  # closed twice
                return
            if len(self._kept) < MAX_KEPT and not used.in_transaction and not self._is_closed:
                self._kept.append(used)
                return
        used.close_for_good()


class _Kept(sqlite3.Connection):
    """Closing it gives it back."""

    give_back: "Callable[[_Kept], None] | None" = None
    note_damage: "Callable[[], None] | None" = None

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        try:
            return super().execute(*statement)
        except sqlite3.DatabaseError as error:
            if self.note_damage is not None and is_damage(error):
                self.note_damage()
            raise

    def close(self) -> None:
        if self.give_back is None:
            self.close_for_good()
        else:
            self.give_back(self)

    def close_for_good(self) -> None:
        super().close()
