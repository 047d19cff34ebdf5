"""Mark in the header of a database file, to detect an older copy that a program such as `cp` writes into the open file.

The mark is SQLite's `user_version`: a random number that each checkpoint of the worker replaces, so an older copy
has an older mark. A copy by `vacuum into` is recognised by its format, because it has no log. The job loop compares
marks before it takes or acknowledges an event, and a starting worker compares with the last record."""

import os
import secrets
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.models import JsonValue

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_FORMAT, _MARK = slice(18, 20), slice(60, 64)
_WITH_LOG = b"\x02\x02"


class FileMark:
    """Mark of one open database file. The job thread renews the mark; any thread may compare it.

    Close the handle only after SQLite has closed the file: closing releases every lock of this process on the file."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._lock = threading.Lock()
        mark = _read(self._handle)
        self.known = frozenset() if mark is None else frozenset({mark})
        """Valid marks of the file. Empty when the file had no header yet, so that an older copy cannot be detected."""
        self._next = mark

    def is_overwritten(self) -> bool:
        """Return True if the file is not the one that the worker has written. Costs one read of 100 bytes."""
        with self._lock:
            mark = _read(self._handle)
            if mark is not None and mark == self._next:
                self.known = frozenset({mark})  # written by a checkpoint, and no older copy has this mark
            return bool(self.known) and mark not in self.known

    def next_mark(self, db: sqlite3.Connection) -> int | None:
        """Return the mark to write into the log before a checkpoint; None while the last mark has not reached the
        file."""
        with self._lock:
            current = _read(self._handle)
            if current is None or (current != self._next and of(db) == self._next):
                return None
            self._next = _new_mark(current)
            self.known = frozenset({current, self._next})
            return self._next

    def close(self) -> None:
        os.close(self._handle)


def of(db: sqlite3.Connection) -> int:
    """Return the mark that a database has or will have after the next checkpoint; 0 for a database without a mark."""
    return int(db.execute("pragma user_version").fetchone()[0])


def put(db: sqlite3.Connection, mark: int) -> None:
    """Write a mark in a transaction of its own. On a full disk or a lock the former mark stays."""
    with suppress(sqlite3.OperationalError):
        db.execute(f"pragma user_version={mark}")


def renew(db: sqlite3.Connection) -> None:
    """Write a new mark when a worker ends. Closing the database brings the mark into the file. Errors are ignored."""
    with suppress(sqlite3.Error):
        put(db, _new_mark(of(db)))


def is_other_file(path: Path, marks: JsonValue | None) -> bool:
    """Return True if a database has none of the marks that the last worker recorded. Only for files that nobody has
    open."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.pread(handle, len(_MAGIC), 0) != _MAGIC:
            return False  # not a database at all: another check reports that
        return isinstance(marks, list) and bool(marks) and _read(handle) not in marks
    finally:
        os.close(handle)


def _read(handle: int) -> int | None:
    """Return the mark of a file; None for a file that is not a database with a log."""
    header = os.pread(handle, _HEADER_BYTES, 0)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC) or header[_FORMAT] != _WITH_LOG:
        return None
    return int.from_bytes(header[_MARK], signed=True)


def _new_mark(former: int) -> int:
    """Return a random number of 31 bits, neither 0 (a database without a mark) nor the former mark."""
    new = 1 + secrets.randbelow(2**31 - 1)
    return new if new != former else _new_mark(former)
