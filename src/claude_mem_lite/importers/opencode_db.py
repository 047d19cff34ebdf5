"""Reading of OpenCode's database, which another program may have written: no query without end, no views, and no file
left beside it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

from claude_mem_lite.importers.jsonl_reader import MAX_FILE_BYTES, open_plain
from claude_mem_lite.importers.transcripts import size_of
from claude_mem_lite.models import JsonValue

MAX_READ_S = 60.0
"""Time for all queries of a connection; the time that the consumer of the rows takes does not count."""
_TABLES = ("session", "message", "part")
_STEPS_BETWEEN_CHECKS = 100_000


class TimedQueries:
    """Queries with a limit of time; sqlite3.Error if a query fails or takes too long."""

    def __init__(self, db: sqlite3.Connection, max_read_s: float) -> None:
        self._db = db
        self._max_read_s = self._left_s = max_read_s

    def rows(self, query: str, *values: JsonValue) -> list[tuple[JsonValue, ...]]:
        """Return all rows of a query."""
        began = monotonic()
        until = began + self._left_s
        # The handler lets Python take signals too; SQLite turns its KeyboardInterrupt into its own error.
        self._db.set_progress_handler(lambda: monotonic() > until, _STEPS_BETWEEN_CHECKS)
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            if monotonic() <= until:
                raise KeyboardInterrupt from None
            raise sqlite3.OperationalError(f"its queries take longer than {self._max_read_s:g} s") from None
        finally:
            self._left_s -= monotonic() - began


@contextmanager
def opened(database: Path, max_read_s: float = MAX_READ_S) -> Iterator[TimedQueries]:
    """Yield the queries of a database; OSError or sqlite3.Error if it cannot be read, or if it is none of OpenCode."""
    open_plain(database).close()
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?{_mode(database)}", uri=True)) as db:
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        db.execute("pragma trusted_schema = off")
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_FILE_BYTES)  # a computed column may be a gigabyte long
        queries = TimedQueries(db, max_read_s)
        # A view or a virtual table has no page of its own.
        stored = queries.rows("select lower(name) from sqlite_master where type = 'table' and rootpage > 0")
        for name in _TABLES:
            if (name,) not in stored:
                raise sqlite3.DatabaseError(f"it has no table {name}")
        yield queries


def _mode(database: Path) -> str:
    """Return the parameters for reading. SQLite would make a log and an index for a database whose log is gone, and
    leave them. An index that is missing beside a log with content is made: without it the log cannot be read."""
    is_at_rest = not size_of(database.with_name(f"{database.name}-wal"))
    has_files = any(database.with_name(f"{database.name}{end}").exists() for end in ("-journal", "-shm"))
    return "immutable=1" if is_at_rest and not has_files else "mode=ro"
