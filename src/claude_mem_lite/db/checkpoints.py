"""Checkpoints of the open databases. The job loop makes each of them, none is left to SQLite: before one the file is
compared with its mark, since pages of the log would hide an older copy that somebody has written into it."""

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
"""Pages in a log that are not in its database yet; SQLite's own limit."""
# Of the index of a log, https://sqlite.org/walformat.html: how many pages it has, and how many of them are in the file.
_INDEX_BYTES, _FRAMES, _BACKFILLED = 100, slice(16, 20), slice(96, 100)


class Checkpoints:
    """The checkpoints of one worker. Closed after its databases: see `file_marks.FileMark`."""

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
        """Bring a log that has grown into its database; as far as it goes while somebody reads."""
        for path, db in self._databases.items():
            if _waiting_frames(self._indexes[path]) >= MAX_FRAMES:
                self._make(path, db)

    def make_all(self) -> None:
        """Bring both logs into their databases, each with another mark: what was copied before does not have it."""
        for path, db in self._databases.items():
            self._make(path, db)

    def changed_schemas(self) -> list[Watched]:
        """The databases whose schema was changed, by somebody else, since this was called last."""
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
        with suppress(sqlite3.OperationalError):  # a full disk: the log keeps all of it, and it is tried again
            db.execute("pragma wal_checkpoint(passive)").fetchone()
        self._conclude(path)

    def _prepare(self, path: Path) -> None:
        """Give a file another mark with the checkpoint to come; sqlite3.DatabaseError when it was overwritten."""
        if self._files.is_overwritten(path):
            raise damaged(f"{path.name} was overwritten")
        self._files.mark_anew(path, self._databases[path])

    def _conclude(self, path: Path) -> None:
        """Have no copy of before the checkpoint pass for the file any more, also when this worker is killed."""
        if not self._files.is_overwritten(path):
            self._files.rewrite_record()


def _schema_of(db: sqlite3.Connection) -> int:
    """The number of the schema, which every change of it raises."""
    return int(db.execute("pragma schema_version").fetchone()[0])


def _waiting_frames(index: int) -> int:
    found = os.pread(index, _INDEX_BYTES, 0)
    frames, backfilled = (int.from_bytes(found[part], sys.byteorder) for part in (_FRAMES, _BACKFILLED))
    return frames - backfilled
