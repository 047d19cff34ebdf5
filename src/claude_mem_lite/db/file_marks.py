"""Mark in the header of a database file: an older copy that a program writes into the open file, as `cp` does, has
another one. The job loop compares it before it takes or acknowledges anything, and a start with the last record.

The mark is SQLite's `user_version`, a random number that each checkpoint of the worker replaces: a copy that was made
before has the former one. A copy by `vacuum into` is known by its format: it has no log."""

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
    """Mark of one open database file. The job thread renews it, any thread may compare it.

    Its handle is closed after SQLite has closed the file: that releases every lock of this process on it."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._lock = threading.Lock()
        found = _read(self._handle)
        self.known = frozenset() if found is None else frozenset({found})
        """The marks that the file may have; none when it had no header yet, and nothing tells an older copy."""
        self._next = found

    def is_overwritten(self) -> bool:
        """Whether the file is not the one that the worker has written; one read of 100 bytes."""
        with self._lock:
            found = _read(self._handle)
            if found is not None and found == self._next:
                self.known = frozenset({found})  # a checkpoint brought it, and no copy of before has it
            return bool(self.known) and found not in self.known

    def next_mark(self, db: sqlite3.Connection) -> int | None:
        """The mark to be put into the log before a checkpoint; None while the last one has not reached the file."""
        with self._lock:
            found = _read(self._handle)
            if found is None or (found != self._next and of(db) == self._next):
                return None
            self._next = _new_mark(found)
            self.known = frozenset({found, self._next})
            return self._next

    def close(self) -> None:
        os.close(self._handle)


def of(db: sqlite3.Connection) -> int:
    """The mark that a database has or is about to get; 0 when it never got one."""
    return int(db.execute("pragma user_version").fetchone()[0])


def put(db: sqlite3.Connection, mark: int) -> None:
    """Write a mark, as a transaction of its own. A full disk, or somebody who writes, leaves the former one."""
    with suppress(sqlite3.OperationalError):
        db.execute(f"pragma user_version={mark}")


def renew(db: sqlite3.Connection) -> None:
    """Write another mark, for a worker that ends: closing the database brings it into the file. It ends anyhow."""
    with suppress(sqlite3.Error):
        put(db, _new_mark(of(db)))


def is_other_file(path: Path, marks: JsonValue | None) -> bool:
    """Whether a database has none of the marks that the last worker recorded; for files that nobody has open."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.pread(handle, len(_MAGIC), 0) != _MAGIC:
            return False  # no database at all, which is for others to see
        return isinstance(marks, list) and bool(marks) and _read(handle) not in marks
    finally:
        os.close(handle)


def _read(handle: int) -> int | None:
    """The mark of a file; None when it is no database with a log."""
    header = os.pread(handle, _HEADER_BYTES, 0)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC) or header[_FORMAT] != _WITH_LOG:
        return None
    return int.from_bytes(header[_MARK], signed=True)


def _new_mark(former: int) -> int:
    """A random number of 31 bits, neither 0, which a database without a mark has, nor the former one."""
    new = 1 + secrets.randbelow(2**31 - 1)
    return new if new != former else _new_mark(former)
