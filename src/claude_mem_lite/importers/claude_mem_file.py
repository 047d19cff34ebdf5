"""Copy of claude-mem's database to read from.

The original gets no lock and no file beside it: SQLite would make both, even for reading. So consistency of the copy is
checked without a lock."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from claude_mem_lite.errors import MemoryLiteError, unreadable

NAME = "claude-mem.db"
_MAGIC = b"SQLite format 3\x00"
_WAL_HEADER_BYTES = 32
_MAX_TRIES = 8
# Limits against a malicious file, whose views can search without end or make values of any size. The steps take some 10
# s. A limit in seconds would include the time of the consumer of the rows.
MAX_STEPS = 1_000_000_000
_CHECKS = 1_000
_MAX_VALUE_BYTES = 128 * 2**20
State = tuple[object, ...]


def own_database(environment: Mapping[str, str]) -> Path:
    """Return the path of this user's claude-mem database."""
    chosen = environment.get("CLAUDE_MEM_DATA_DIR")
    return (Path(chosen) if chosen else Path.home() / ".claude-mem") / NAME


@contextmanager
def open_copy(path: Path, max_steps: int = MAX_STEPS) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a temporary copy of the database; MemoryLiteError if the database cannot be read."""
    with tempfile.TemporaryDirectory(prefix="claude-mem-lite-") as folder:
        copy = Path(folder, NAME)
        try:
            _check(path)
            _copy(path, copy)
        except OSError as error:
            raise unreadable(path, error) from None
        with closing(sqlite3.connect(copy)) as db:
            _limit(db, max_steps)
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            yield db


def _limit(db: sqlite3.Connection, max_steps: int) -> None:
    """Make a query without a row for too long fail with sqlite3.OperationalError."""
    checks = 0

    def is_too_much() -> bool:
        nonlocal checks
        checks += 1
        return checks > _CHECKS

    def row(cursor: sqlite3.Cursor, values: tuple[object, ...]) -> sqlite3.Row:
        nonlocal checks
        checks = 0
        return sqlite3.Row(cursor, values)

    db.set_progress_handler(is_too_much, max_steps // _CHECKS)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    db.row_factory = row


def _check(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise MemoryLiteError(f"{path} is no SQLite database", "name the file claude-mem.db of claude-mem")


def _copy(path: Path, copy: Path) -> None:
    """Copy the database with its logs. claude-mem's worker may write meanwhile, which is detected afterwards.

    The log is copied last: unless restarted, the log holds every page moved into the file since its start, and an
    incomplete last frame does not count."""
    for _ in range(_MAX_TRIES):
        before = _state(path)
        shutil.copyfile(path, copy)
        for suffix in ("-journal", "-wal"):
            _copy_optional(_beside(path, suffix), _beside(copy, suffix))
        if _state(path) == before:
            return
    raise MemoryLiteError(f"{path} was written to all the time", "try again when claude-mem has less to do")


def _state(path: Path) -> State:
    """Return values that stay the same while the database can be copied."""
    journal = _stat(_beside(path, "-journal"))
    with suppress(FileNotFoundError), _beside(path, "-wal").open("rb") as log:
        header = log.read(_WAL_HEADER_BYTES)
        if len(header) == _WAL_HEADER_BYTES:
            return journal, header, path.stat().st_ino
    return journal, _stat(path)


def _stat(path: Path) -> State:
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _copy_optional(path: Path, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        shutil.copyfile(path, copy)


def _beside(path: Path, suffix: str) -> Path:
    return Path(f"{os.fspath(path)}{suffix}")
