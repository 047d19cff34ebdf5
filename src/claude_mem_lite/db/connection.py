"""Open SQLite the one right way. Only the worker opens for writing; readers get their own connections."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

BUSY_TIMEOUT_S = 5.0


def damaged(what: str) -> sqlite3.DatabaseError:
    """Return an error that counts as corruption of the file, as SQLite's own errors do."""
    error = sqlite3.DatabaseError(what)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    error.sqlite_errorname = "SQLITE_CORRUPT"
    return error


class Watched(sqlite3.Connection):
    """Writing connection of the worker. A hook compares the file with its mark before each checkpoint."""

    before_checkpoint: Callable[[], None] | None = None
    """Hook that raises sqlite3.DatabaseError when the file was replaced; None without checks."""
    after_checkpoint: Callable[[], None] | None = None


class Counting(Watched):
    """Connection that counts changing transactions, in the database and as part of each transaction.

    Count and changes are committed together, so a database that lost its last writes has a lower count."""

    done: int | None = None
    """Number of transactions so far; None while counting is off."""

    def count_transaction(self) -> int:
        """Increment the count within the current transaction and return the new count."""
        question = "update progress set done = max(done, :done) + 1 returning done"
        row = self.execute(question, {"done": self.done}).fetchone()
        if row is None:
            raise damaged("the count of its changes is gone")
        return int(row["done"])


def open_for_writing(path: Path, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Open for writing: WAL, every commit on disk, deleted text overwritten, file mode 0600."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    connection = _connect(path, kind)
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=full")
    connection.execute("pragma secure_delete=on")
    return connection


def open_for_reading(path: Path, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Open for reading only, beside the writer."""
    connection = _connect(path, kind)
    connection.execute("pragma query_only=on")
    # KB; of 2,000, the default, a worker with several readers held 10 MB more, and searched at most 5 % faster.
    connection.execute("pragma cache_size=-500")
    return connection


def open_to_hold(path: Path) -> sqlite3.Connection:
    """Open a read-only connection that keeps the log: closing the last connection to a database would otherwise
    remove the log. The file and its log must exist."""
    connection = sqlite3.connect(uri_of(path, mode="ro"), uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("select 1 from sqlite_master").fetchone()
    return connection


@contextmanager
def atomic(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit all writes of the block together, or none of them."""
    connection.execute("begin immediate")
    changes, counted = connection.total_changes, None
    try:
        yield
        if isinstance(connection, Counting) and connection.done is not None and connection.total_changes > changes:
            counted = connection.count_transaction()
    except BaseException:
        # SQLite may have rolled back already, on a full disk for example.
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    connection.execute("commit")
    if counted is not None:
        assert isinstance(connection, Counting)
        connection.done = counted


@contextmanager
def unsynced(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit the transactions of the block without waiting for the disk; the next synced commit covers them.

    A loss of power may undo them, a killed process does not. Only for writes that may be lost or repeated."""
    connection.execute("pragma synchronous=normal")
    try:
        yield
    finally:
        connection.execute("pragma synchronous=full")


def empty_log(connection: sqlite3.Connection, wait_s: float = BUSY_TIMEOUT_S) -> bool:
    """Write the log into the database file and truncate the log, because the log still holds overwritten text.

    Return False if readers prevented the truncation; the caller must try again."""
    if isinstance(connection, Watched) and connection.before_checkpoint is not None:
        connection.before_checkpoint()
    connection.execute(f"pragma busy_timeout={int(wait_s * 1000)}")
    (busy, _, _) = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    connection.execute(f"pragma busy_timeout={int(BUSY_TIMEOUT_S * 1000)}")
    if isinstance(connection, Watched) and connection.after_checkpoint is not None:
        connection.after_checkpoint()
    return not busy


def uri_of(path: Path, mode: str = "rw") -> str:
    """Return the URI of an existing database. SQLite must not create an empty database in place of a deleted file."""
    # Two slashes at the beginning of a path would make its first folder a host name.
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
