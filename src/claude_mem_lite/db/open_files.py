"""Identities and marks of the files that a worker has open, compared with the files at their paths.

SQLite keeps writing to a database that was deleted or replaced, and joins a log to any database beside it. The job
loop compares before it takes or acknowledges an event; a starting worker compares with the record of the last
worker."""

import json
import os
import secrets
import sqlite3
import stat
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from claude_mem_lite import private_files
from claude_mem_lite.db.file_swap import read_json
from claude_mem_lite.db.integrity import not_a_file
from claude_mem_lite.models import JsonValue, text
from claude_mem_lite.paths import Home, identity, is_closed

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_FORMAT, _MARK = slice(18, 20), slice(60, 64)
_WITH_LOG = b"\x02\x02"
LOG, SHARED_MEMORY, JOURNAL = "-wal", "-shm", "-journal"
_LINEAGE, _MARKS = "lineage", "marks"
_OWNER = stat.S_IRUSR | stat.S_IWUSR


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
            if current is None or (current != self._next and mark_of(db) == self._next):
                return None
            self._next = _new_mark(current)
            self.known = frozenset({current, self._next})
            return self._next

    def close(self) -> None:
        os.close(self._handle)


def mark_of(db: sqlite3.Connection) -> int:
    """Return the mark that a database has or will have after the next checkpoint; 0 for a database without a mark."""
    return int(db.execute("pragma user_version").fetchone()[0])


def put_mark(db: sqlite3.Connection, mark: int) -> None:
    """Write a mark in a transaction of its own. On a full disk or a lock the former mark stays."""
    with suppress(sqlite3.OperationalError):
        db.execute(f"pragma user_version={mark}")


def renew_mark(db: sqlite3.Connection) -> None:
    """Write a new mark when a worker ends. Closing the database brings the mark into the file. Errors are ignored."""
    with suppress(sqlite3.Error):
        put_mark(db, _new_mark(mark_of(db)))


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


class OpenFiles:
    """Files of one home as a worker opened them. A comparison takes ten `stat` calls and two short reads, 40 µs.

    Closed after the databases: see `FileMark`."""

    def __init__(self, home: Home) -> None:
        self._root = home.root
        self._home = identity(home.root)
        databases = (home.memory_db, home.inbox_db)
        logs = [beside(path, suffix) for path in databases for suffix in (LOG, SHARED_MEMORY)]
        watched = (*databases, *logs, home.worker_lock)
        self._files = {path: file_id for path in watched if (file_id := identity(path)) is not None}
        self._sizes = dict.fromkeys(databases, 0)
        self._journals = [beside(path, JOURNAL) for path in databases]
        self._marks = {path: FileMark(path) for path in databases if path in self._files}
        self._record: tuple[Path, str] | None = None

    def is_home_replaced(self) -> bool:
        """Return True if the path of the home leads to another folder, or nowhere."""
        return identity(self._root) != self._home

    def trouble(self) -> str:
        """Return a description of the first file that is not as it was opened; '' while all are."""
        if self.is_home_replaced():
            return f"{self._root} was moved or replaced"
        for path, known in self._files.items():
            size = self._sizes.get(path, 0)  # read before `stat`: another thread may see the file grow
            try:
                status = os.stat(path)
            except OSError:
                return f"{path.name} was removed"
            if (status.st_dev, status.st_ino) != known:
                return f"{path.name} was replaced"
            if path in self._sizes:
                if status.st_size < size:  # none of our code ever shortens a database
                    return f"{path.name} was cut"
                self._sizes[path] = status.st_size
                if self.is_overwritten(path):
                    return f"{path.name} was overwritten"
            if status.st_mode & _OWNER != _OWNER and is_closed(path):
                return f"{path.name} cannot be read and written any more"
        # SQLite would roll back stored data with a journal, and would block readers meanwhile.
        journals = (path for path in self._journals if os.path.lexists(path))
        return next((f"{path.name} was put beside its database" for path in journals), "")

    def is_overwritten(self, *paths: Path) -> bool:
        """Return True if another file was written into one of these databases, or into any database."""
        return any(self._marks[path].is_overwritten() for path in paths or self._marks)

    def mark_anew(self, path: Path, db: sqlite3.Connection) -> None:
        """Give a database a new mark for the next checkpoint. The record is written first, so that a worker killed
        in between leaves no file with an unknown mark."""
        mark = self._marks[path].next_mark(db)
        if mark is not None:
            self.rewrite_record()
            put_mark(db, mark)

    def write_record(self, path: Path, lineage: str) -> None:
        """Record identities, marks and the lineage of memory.db for the next worker, because this worker may be
        killed before it notices a replaced file. On a full disk the record is skipped."""
        self._record = path, lineage
        self.rewrite_record()

    def close(self) -> None:
        for mark in self._marks.values():
            mark.close()

    def rewrite_record(self) -> None:
        """Write the current marks into the record. Called by the job thread only."""
        if self._record is None or self.is_home_replaced():
            return
        path, lineage = self._record
        marks = {known.name: sorted(mark.known) for known, mark in self._marks.items()}
        record = {_LINEAGE: lineage, _MARKS: marks} | {
            known.name: list(file_id) for known, file_id in self._files.items()
        }
        with suppress(OSError):
            private_files.replace(path, json.dumps(record).encode(), is_synced=False)


def beside(database: Path, suffix: str) -> Path:
    return database.with_name(database.name + suffix)


def recorded_lineage(record: Path) -> str:
    """Return the lineage of the memory.db that the last worker had open; '' after a clean end, or without a record."""
    return text((read_json(record) or {}).get(_LINEAGE))


def foreign_logs(database: Path, record: Path) -> list[Path]:
    """Return the logs beside a database that SQLite must not join to the database. Such a log belongs to a former
    database, by the record of the worker that wrote the log, or is no plain file. A journal is always foreign:
    databases with a log have none."""
    logs = [path for suffix in (LOG, SHARED_MEMORY, JOURNAL) if os.path.lexists(path := beside(database, suffix))]
    odd = [path for path in logs if not_a_file(path) or path == beside(database, JOURNAL)]
    known: Mapping[str, JsonValue] = read_json(record) or {}
    log = beside(database, LOG)
    is_log_known = log in logs and _is_known(log, known)
    # In a home that was copied as a whole, neither file is known, and both belong together.
    marks = known.get(_MARKS)
    own = marks.get(database.name) if isinstance(marks, dict) else None
    is_database_known = _is_known(database, known) and not is_other_file(database, own)
    return logs if is_log_known and not is_database_known else odd


def _is_known(path: Path, known: Mapping[str, JsonValue]) -> bool:
    file_id = identity(path)
    return file_id is not None and known.get(path.name) == list(file_id)
