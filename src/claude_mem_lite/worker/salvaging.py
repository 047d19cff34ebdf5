"""What can still be read of a damaged inbox.db, or one of another version, goes into a new one.

Only what is wrong in the old file is passed over: with a full disk, say, an inbox must not look as if it were empty."""

import logging
import sqlite3
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.db.soundness import is_of_the_machine, not_a_file, reading

_KEYS = {"inbox": "id", "model_turns": "id", "tombstones": "rowid", "leaving": ""}
_LEAST_BYTES_OF_A_TOMBSTONE = 32
Row = dict[str, object]
log = logging.getLogger(__name__)


def salvage(damaged: Path, new: Path, now: datetime) -> int:
    """Make a new inbox of the rows that can be read; returns how many events they are.

    sqlite3.Error when it cannot be written, or the old one is there and cannot be opened."""
    saved = 0
    with closing(open_for_writing(new)) as db:
        migrate(db, INBOX_MIGRATIONS, now)
        for table, key in _KEYS.items() if damaged.exists() and not not_a_file(damaged) else ():
            known = [row["name"] for row in db.execute(f"pragma table_info({table})")]
            with closing(_rows(damaged, table, key, known)) as rows:
                count = _copy(db, table, rows)
            saved += count if table == "inbox" else 0
    return saved


def _copy(db: sqlite3.Connection, table: str, rows: Iterable[Row]) -> int:
    count = 0
    with atomic(db):
        for row in rows:
            if row.get("status") in ("raw", "processing"):
                row.setdefault("work", 0)  # as the migration has it: the default is for what was worked on
            marks = ", ".join("?" for _ in row)
            insert = f"insert or ignore into {table} ({', '.join(row)}) values ({marks})"
            with suppress(sqlite3.IntegrityError, sqlite3.InterfaceError):  # a damaged row may hold anything
                count += db.execute(insert, tuple(row.values())).rowcount
    return count


def _rows(damaged: Path, table: str, key: str, known: Sequence[str]) -> Generator[Row, None, None]:
    """The rows of a table that can be read, with the columns that are known."""
    try:
        with reading(damaged) as db:
            there = [row["name"] for row in db.execute(f"pragma table_info({table})")]
            if columns := [name for name in known if name in there]:
                yield from _read(db, table, key, columns)
    except sqlite3.DatabaseError as error:
        _pass_over(error)


def _read(db: sqlite3.Connection, table: str, key: str, columns: Sequence[str]) -> Generator[Row, None, None]:
    """The rows of a table: at once, else one by one around those that cannot be read."""
    wanted = ", ".join(columns)
    last = 0
    try:
        if not key:
            for row in db.execute(f"select {wanted} from {table}"):
                yield dict(row)
            return
        for row in db.execute(f"select {key}, {wanted} from {table} order by {key}"):
            last = row[0]
            yield dict(zip(columns, tuple(row)[1:], strict=True))
    except sqlite3.DatabaseError as error:
        _pass_over(error)
        log.exception("rows of a damaged table are read one by one", extra={"table": table})
        for number in _numbers(last, _highest(db, table, key)) if key else ():
            found = _ask(db, f"select {wanted} from {table} where {key} = :number", {"number": number})
            if found is not None:
                yield dict(found)


def _numbers(last: int, highest: int) -> range:
    """What is to be looked for after the last key that was read; all there can be when that one cannot be right."""
    return range(last + 1 if last <= highest else 1, highest + 1)


def _highest(db: sqlite3.Connection, table: str, key: str) -> int:
    """The last key to look for. A damaged one can be any number, so the smaller of what two places tell is taken."""
    if key == "id":
        most = _ask(db, "select seq from sqlite_sequence where name = :table", {"table": table})
    else:  # counted from 1, and hardly one of them ever goes: there are no more than fit the file
        size = "select page_count * page_size / :least from pragma_page_count, pragma_page_size"
        most = _ask(db, size, {"least": _LEAST_BYTES_OF_A_TOMBSTONE})
    last = _ask(db, f"select max({key}) from {table}", {})
    return min((found[0] for found in (most, last) if found is not None and isinstance(found[0], int)), default=0)


def _ask(db: sqlite3.Connection, question: str, values: Mapping[str, object]) -> sqlite3.Row | None:
    """One row; None when there is none, or it cannot be read."""
    try:
        found: sqlite3.Row | None = db.execute(question, dict(values)).fetchone()
    except sqlite3.DatabaseError as error:
        _pass_over(error)
        return None
    return found


def _pass_over(error: sqlite3.DatabaseError) -> None:
    if is_of_the_machine(error):
        raise error
