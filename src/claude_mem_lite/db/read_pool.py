"""Pool of read-only connections.

A new connection has to read the schema and every page again, and to compile each statement: a quarter of the time of
an answer among 100,000 memories."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from claude_mem_lite.db.connection import damaged, open_for_reading
from claude_mem_lite.db.integrity import is_damage
from claude_mem_lite.paths import identity

MAX_IDLE = 10
"""Number of connections that a start context uses in parallel."""


class Readers:
    """Pool of read-only connections, for any thread. Closing a connection returns it to the pool."""

    def __init__(self, path: Path, report_corruption: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._file = identity(path)
        self._report_corruption = report_corruption
        self._lock = threading.Lock()
        self._idle: list[_PooledConnection] = []
        self._is_closed = False

    def open(self) -> sqlite3.Connection:
        """Return a connection for one thread and one answer. Raise sqlite3.DatabaseError if the file is not the one
        that the worker has open, because its content is not what was stored."""
        self._require_file()
        with self._lock:
            if self._idle:
                return self._idle.pop()
        connection = self._connect()
        connection.release = self._release
        return connection

    def open_apart(self) -> sqlite3.Connection:
        """Return a connection outside the pool, for a caller whose query may still run when the connection is
        closed."""
        self._require_file()
        return self._connect()

    def release(self) -> None:
        """Close the idle connections."""
        with self._lock:
            while self._idle:
                self._idle.pop().close_for_good()

    def close(self) -> None:
        """Close the pool. Connections in use are closed when their users close them."""
        self._is_closed = True
        self.release()

    def _connect(self) -> "_PooledConnection":
        connection = open_for_reading(self._path, _PooledConnection)
        assert isinstance(connection, _PooledConnection)
        connection.report_corruption = self._report_corruption
        try:
            # Check again before the first read: SQLite would join the open log to another database.
            self._require_file()
        except sqlite3.DatabaseError:
            connection.close_for_good()
            raise
        return connection

    def _require_file(self) -> None:
        if identity(self._path) != self._file:
            self._report_corruption()
            raise damaged(f"{self._path.name} was removed or replaced")

    def _release(self, used: "_PooledConnection") -> None:
        with self._lock:
            if used in self._idle:  # closed twice
                return
            if len(self._idle) < MAX_IDLE and not used.in_transaction and not self._is_closed:
                self._idle.append(used)
                return
        used.close_for_good()


class _PooledConnection(sqlite3.Connection):
    """Connection that returns to its pool when closed."""

    release: "Callable[[_PooledConnection], None] | None" = None
    report_corruption: "Callable[[], None] | None" = None

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        try:
            return super().execute(*statement)
        except sqlite3.DatabaseError as error:
            if self.report_corruption is not None and is_damage(error):
                self.report_corruption()
            raise

    def close(self) -> None:
        if self.release is None:
            self.close_for_good()
        else:
            self.release(self)

    def close_for_good(self) -> None:
        super().close()
