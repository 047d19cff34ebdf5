"""The database of claude-mem, another product's, as a copy to read from.

Not even a lock is taken on the original and nothing is made beside it: SQLite would do both, also when asked only to
read. So the copy must be found consistent without one."""

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
# What a file of somebody else may cost: what it defines can look for a row without end, or make one of any size.
# The steps take some 10 s. A limit in seconds would count the time that whoever takes the rows needs.
_MAX_STEPS, _STEPS_A_LOOK = 1_000_000_000, 1_000_000
_MAX_VALUE_BYTES = 128 * 2**20
State = tuple[object, ...]


def own_database(environment: Mapping[str, str]) -> Path:
    """Where claude-mem keeps the database of this user."""
    chosen = environment.get("CLAUDE_MEM_DATA_DIR")
    return (Path(chosen) if chosen else Path.home() / ".claude-mem") / NAME


@contextmanager
def open_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of the database, which is gone afterwards; MemoryLiteError when there is none to read."""
    with tempfile.TemporaryDirectory(prefix="claude-mem-lite-") as folder:
        copy = Path(folder, NAME)
        try:
            _check(path)
            _copy(path, copy)
        except OSError as error:
            raise unreadable(path, error) from None
        with closing(sqlite3.connect(copy)) as db:
            _limit(db)
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            yield db


def _limit(db: sqlite3.Connection) -> None:
    """Have a query end with sqlite3.OperationalError that gives no row for long."""
    looks = 0

    def is_too_much() -> bool:
        nonlocal looks
        looks += 1
        return looks > _MAX_STEPS // _STEPS_A_LOOK

    def row(cursor: sqlite3.Cursor, values: tuple[object, ...]) -> sqlite3.Row:
        nonlocal looks
        looks = 0
        return sqlite3.Row(cursor, values)

    db.set_progress_handler(is_too_much, _STEPS_A_LOOK)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    db.row_factory = row


def _check(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise MemoryLiteError(f"{path} is no SQLite database", "name the file claude-mem.db of claude-mem")


def _copy(path: Path, copy: Path) -> None:
    """Copy the database with what is not yet in its file. Its worker may be writing meanwhile, which shows afterwards.

    The log is copied last: as long as it was not begun anew, it holds every page that was brought into the file since
    its beginning, and a last part that is incomplete does not count."""
    for _ in range(_MAX_TRIES):
        before = _state(path)
        shutil.copyfile(path, copy)
        for suffix in ("-journal", "-wal"):
            _copy_if_there(_beside(path, suffix), _beside(copy, suffix))
        if _state(path) == before:
            return
    raise MemoryLiteError(f"{path} was written to all the time", "try again when claude-mem has less to do")


def _state(path: Path) -> State:
    """What stays the same while a copy can be made of a database."""
    journal = _stat(_beside(path, "-journal"))
    with suppress(FileNotFoundError), _beside(path, "-wal").open("rb") as log:
        header = log.read(_WAL_HEADER_BYTES)
        if len(header) == _WAL_HEADER_BYTES:
            return journal, header, path.stat().st_ino
    return journal, _stat(path)


def _stat(path: Path) -> State:
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _copy_if_there(path: Path, copy: Path) -> None:
    copy.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        shutil.copyfile(path, copy)


def _beside(path: Path, suffix: str) -> Path:
    return Path(f"{os.fspath(path)}{suffix}")
