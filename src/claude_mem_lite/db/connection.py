"""Open SQLite the one right way. Only the worker opens for writing; readers get their own connections.

The error for a database that SQLite can read, and that nobody can have written so."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote


def damaged(what: str) -> sqlite3.DatabaseError:
    """An error that counts as damage of the file, as SQLite's own do."""
    error = sqlite3.DatabaseError(what)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    error.sqlite_errorname = "SQLITE_CORRUPT"
    return error


BUSY_TIMEOUT_S = 5.0


class Watched(sqlite3.Connection):
    """A connection of the worker that writes: its file is compared with what was written before each checkpoint."""

    before_checkpoint: Callable[[], None] | None = None
    """Raises sqlite3.DatabaseError when the file is another one; None while nobody compares."""
    after_checkpoint: Callable[[], None] | None = None


class Counting(Watched):
    """A connection that counts the transactions that changed something, in the database and with each of them.

    What a count stands for is there when the count is: a database that lost its last writes tells so."""

    done: int | None = None
    """How many there were so far; None while nobody counts."""

    def count_one(self) -> int:
        """Count the transaction under way as one more; it holds once that is committed."""
        question = "update progress set done = max(done, :done) + 1 returning done"
        row = self.execute(question, {"done": self.done}).fetchone()
        if row is None:
            raise damaged("the count of its changes is gone")
        return int(row["done"])


def open_for_writing(path: Path, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """A connection that may write: WAL, every commit on disk, deleted words overwritten, file 0600."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    connection = _connect(path, kind)
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=full")
    connection.execute("pragma secure_delete=on")
    return connection


def open_for_reading(path: Path, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """A connection that cannot write, for answers given beside the writer."""
    connection = _connect(path, kind)
    connection.execute("pragma query_only=on")
    return connection


def open_to_hold(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing: while it is open, and when it is the last to be closed, closing leaves a log
    as it is. The file must be there, with its log."""
    connection = sqlite3.connect(uri_of(path, mode="ro"), uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("select 1 from sqlite_master").fetchone()
    return connection


@contextmanager
def atomic(connection: sqlite3.Connection) -> Iterator[None]:
    """All writes inside happen together or not at all."""
    connection.execute("begin immediate")
    changes, counted = connection.total_changes, None
    try:
        yield
        if isinstance(connection, Counting) and connection.done is not None and connection.total_changes > changes:
            counted = connection.count_one()
    except BaseException:
        # A full disk may have rolled back already.
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    connection.execute("commit")
    if counted is not None:
        assert isinstance(connection, Counting)
        connection.done = counted


def empty_log(connection: sqlite3.Connection, wait_s: float = BUSY_TIMEOUT_S) -> bool:
    """Have what was written reach the database file, and the log beside it emptied: it holds what is overwritten.

    False when somebody was reading all the time; then it is to be tried again."""
    if isinstance(connection, Watched) and connection.before_checkpoint is not None:
        connection.before_checkpoint()
    connection.execute(f"pragma busy_timeout={int(wait_s * 1000)}")
    (busy, _, _) = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    connection.execute(f"pragma busy_timeout={int(BUSY_TIMEOUT_S * 1000)}")
    if isinstance(connection, Watched) and connection.after_checkpoint is not None:
        connection.after_checkpoint()
    return not busy


def uri_of(path: Path, mode: str = "rw") -> str:
    """An existing database as SQLite opens it: one that was deleted must not seem to be a new, empty one."""
    # Two slashes at the beginning of a path would make its first folder the name of a machine.
    return f"file:///{quote(os.fsencode(path.absolute())).lstrip('/')}?mode={mode}"


def _connect(path: Path, kind: type[sqlite3.Connection]) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri_of(path),
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        factory=kind,
    )
    connection.row_factory = sqlite3.Row
    connection.execute("pragma foreign_keys=on")
    return connection
