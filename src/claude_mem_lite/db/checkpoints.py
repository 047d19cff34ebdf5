"""Checkpoints of the open databases, made by the job loop and never by SQLite itself.

Each checkpoint first compares the file with its mark: pages of the log would hide an older copy that another program
has written into the file."""

import os
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from claude_mem_lite.db.connection import Watched, damaged
from claude_mem_lite.db.open_files import SHARED_MEMORY, OpenFiles, beside

MAX_FRAMES = 1000
"""Limit of log pages that are not in the database yet, equal to SQLite's own limit."""
# Fields of the WAL index (https://sqlite.org/walformat.html): number of log pages, and number of copied pages.
_INDEX_BYTES, _FRAMES, _BACKFILLED = 100, slice(16, 20), slice(96, 100)


class Checkpoints:
    """Checkpoints of one worker. Closed after the databases: see `file_marks.FileMark`."""

    def __init__(self, files: OpenFiles, databases: Mapping[Path, Watched]) -> None:
        self._files = files
        self._databases = databases
        self._indexes = {path: os.open(beside(path, SHARED_MEMORY), os.O_RDONLY | os.O_CLOEXEC) for path in databases}
        self._schemas = {path: _schema_of(db) for path, db in databases.items()}
        for path, db in databases.items():
            db.execute("pragma wal_autocheckpoint=0")
            db.before_checkpoint = partial(self._prepare, path)
            db.after_checkpoint = partial(self._conclude, path)

    def make_due(self) -> None:
        """Copy a log that has grown into its database, as far as active readers allow."""
        for path, db in self._databases.items():
            if _waiting_frames(self._indexes[path]) >= MAX_FRAMES:
                self._make(path, db)

    def make_all(self) -> None:
        """Copy both logs into their databases and renew both marks, so that earlier copies have an outdated mark."""
        for path, db in self._databases.items():
            self._make(path, db)

    def changed_schemas(self) -> list[Watched]:
        """Return the databases whose schema another program has changed since the last call."""
        changed = []
        for path, db in self._databases.items():
            if (schema := _schema_of(db)) != self._schemas[path]:
                self._schemas[path] = schema
                changed.append(db)
        return changed

    def close(self) -> None:
        for handle in self._indexes.values():
            os.close(handle)

    def _make(self, path: Path, db: Watched) -> None:
        self._prepare(path)
        with suppress(sqlite3.OperationalError):  # disk full: the log keeps the pages until the next attempt
            db.execute("pragma wal_checkpoint(passive)").fetchone()
        self._conclude(path)

    def _prepare(self, path: Path) -> None:
        """Renew the mark of a file before a checkpoint; raise sqlite3.DatabaseError if the file was overwritten."""
        if self._files.is_overwritten(path):
            raise damaged(f"{path.name} was overwritten")
        self._files.mark_anew(path, self._databases[path])

    def _conclude(self, path: Path) -> None:
        """Record the new mark after a checkpoint, so that older copies are recognised even if the worker is killed."""
        if not self._files.is_overwritten(path):
            self._files.rewrite_record()


def _schema_of(db: sqlite3.Connection) -> int:
    """Return SQLite's schema version, a number that every schema change increments."""
    return int(db.execute("pragma schema_version").fetchone()[0])


def _waiting_frames(index: int) -> int:
    header = os.pread(index, _INDEX_BYTES, 0)
    frames, backfilled = (int.from_bytes(header[part], sys.byteorder) for part in (_FRAMES, _BACKFILLED))
    return frames - backfilled
