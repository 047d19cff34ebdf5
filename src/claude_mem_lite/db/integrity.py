"""Integrity checks of a database file: a quick check, and a thorough check that reads the complete file.

At 100,000 memories (530 MB) the quick check takes 20 to 25 ms, the thorough check 0.4 s.

Foreign objects are checked too: a trigger of another program would run with every stored row, and a foreign view or
table could hold anything."""

import json
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from claude_mem_lite.db import migrations
from claude_mem_lite.db.connection import uri_of
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, Migration, applied_to, migrate
from claude_mem_lite.errors import SchemaTooNew

_COLUMNS = """select tables.name, columns.name from sqlite_master as tables, pragma_table_info(tables.name) as columns
              where tables.type = 'table'"""
# SQLite keeps a word index in shadow tables of its own, and a newer SQLite version may use other tables.
_NOT_OF_AN_INDEX = """ and not exists (select 1 from sqlite_master as indexes
              where indexes.sql like 'create virtual%' and tables.name like indexes.name || '\\_%' escape '\\')"""
_CORRUPT, _NOT_A_DATABASE = 11, 26
# Extended codes for a database or a log that ends too early, and for a file that was replaced.
_SHORT_READ, _MOVED = 522, 1032
_OF_THE_MACHINE = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
)
_BASE_CODE = 0xFF
_MISSING = ("no such table: ", "no such column: ")


def first_missing_part(db: sqlite3.Connection) -> str:
    """Return the first table or column that a database lacks; '' for a complete, a newer or a foreign database."""
    applied = applied_to(db)
    for steps in (INBOX_MIGRATIONS, MEMORY_MIGRATIONS):
        known = tuple(migration for migration in steps if migration.__name__ in applied)
        if known and len(known) == len(applied):
            expected = _columns_of_this_version(steps) if known == steps else columns_after(known)
            return _first_missing(expected, _columns(db))
    return ""


def _first_missing(expected: Sequence[tuple[str, str]], present: Sequence[tuple[str, str]]) -> str:
    columns, tables = set(present), {table for table, _ in present}
    for table, column in expected:
        if table not in tables:
            return f"the table {table} is missing"
        if (table, column) not in columns:
            return f"the column {column} of {table} is missing"
    return ""


@cache
def _columns_of_this_version(steps: tuple[Migration, ...]) -> Sequence[tuple[str, str]]:
    """Return the columns after all migrations, from a file: to run the migrations takes a start of the worker 15 ms."""
    kept = json.loads((Path(__file__).parent / "expected_columns.json").read_bytes())
    return [(table, column) for table, columns in kept[steps[-1].__name__].items() for column in columns]


@cache
def columns_after(migrations: tuple[Migration, ...]) -> Sequence[tuple[str, str]]:
    """Return the tables and columns that migrations make."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, migrations, datetime.now(UTC))
        return _columns(db, _NOT_OF_AN_INDEX)


def _columns(db: sqlite3.Connection, condition: str = "") -> Sequence[tuple[str, str]]:
    return [(str(table), str(column)) for table, column in db.execute(_COLUMNS + condition)]


def is_damage(error: BaseException | None) -> bool:
    """Return True if SQLite reports a corrupt file or a missing table, but not for a lock or a full disk."""
    if not isinstance(error, sqlite3.DatabaseError):
        return False
    if _code_of(error) == sqlite3.SQLITE_ERROR:  # SQLite's code for every error in a statement
        return str(error).startswith(_MISSING)
    is_short = getattr(error, "sqlite_errorcode", 0) in (_SHORT_READ, _MOVED)
    return is_short or _code_of(error) in (_CORRUPT, _NOT_A_DATABASE)


def is_of_the_machine(error: sqlite3.Error) -> bool:
    """Return True if an error says nothing about the file: a lock, a full or an unreadable disk."""
    return _code_of(error) in _OF_THE_MACHINE


def not_a_file(path: Path) -> str:
    """Return a description of an entry at the path of a database that is not a plain file; '' for a file, or
    nothing."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return ""
    if stat.S_ISREG(mode):
        return ""
    return "a folder" if stat.S_ISDIR(mode) else "a link" if stat.S_ISLNK(mode) else "something else"


def is_blank(path: Path) -> bool:
    """Return True if a file is missing or empty: SQLite takes an empty file for a new database."""
    if not path.exists() or path.stat().st_size == 0:
        return True
    if not_a_file(path):
        return False
    try:
        with reading(path) as db:
            return not db.execute("select 1 from sqlite_master limit 1").fetchone()
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return False
        raise


def damage_of(path: Path, *, thoroughly: bool) -> str:
    """Return a description of the corruption of a database file; '' for a sound or a missing file."""
    if not path.exists():
        return ""
    try:
        with reading(path) as db:
            tables = db.execute(
                "select name from sqlite_master where type = 'table' and sql not like 'create virtual%'"
            ).fetchall()
            for (name,) in tables:  # finds a truncated file, a bad header or a bad root page
                db.execute(f"select 1 from {quoted(name)} limit 1").fetchone()
            if missing := first_missing_part(db):
                return missing
            result = str(db.execute("pragma quick_check(1)").fetchone()[0]) if thoroughly else "ok"
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return str(error)
        raise
    return "" if result == "ok" else " ".join(result.split())


def is_newer(path: Path) -> bool:
    """Return True if a newer version has written a database, as far as the file is readable."""
    try:
        refuse_newer(path)
    except SchemaTooNew:
        return True
    return False


def refuse_newer(path: Path) -> None:
    """Raise SchemaTooNew if a newer version has written a database."""
    with suppress(sqlite3.DatabaseError), reading(path) as db:
        migrations.refuse_newer(db, INBOX_MIGRATIONS if path.name == "inbox.db" else MEMORY_MIGRATIONS)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file that may be corrupt, or a copy. The connection creates no file and changes no stored data.

    The mode allows writing: in read-only mode SQLite would leave its auxiliary files beside the database."""
    with closing(sqlite3.connect(uri_of(path), uri=True, isolation_level=None)) as db:
        db.row_factory = sqlite3.Row
        db.execute("pragma query_only=on")
        yield db


def quoted(name: str) -> str:
    """Return a name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _code_of(error: sqlite3.Error) -> int:
    """Return SQLite's basic error code; 0 for an error of Python's own, such as undecodable text."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & _BASE_CODE


# Compared by name: the stored text of an altered definition differs between versions of SQLite.
_ALL = """select type, name, sql like 'create virtual%' as is_virtual from sqlite_master
          where type <> 'index' and name not like 'sqlite\\_%' escape '\\'"""
Kind = tuple[str, str, bool]


def of(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return type and name of every table, view and trigger that our migrations do not create."""
    return [(kind, name) for kind, name, is_virtual in _objects(db) if (kind, name, is_virtual) not in _ours()]


def remove(db: sqlite3.Connection) -> int:
    """Drop the foreign objects of a copy and return their number."""
    foreign = of(db)
    for kind, name in sorted(
        foreign, key=lambda entry: entry[0] == "table"
    ):  # tables last: dropping a table drops its triggers
        db.execute(f"drop {kind} if exists {quoted(name)}")
    return len(foreign)


@cache
def _ours() -> frozenset[Kind]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, MEMORY_MIGRATIONS, datetime.now(UTC))
        return frozenset(_objects(db))


def _objects(db: sqlite3.Connection) -> list[Kind]:
    return [(str(kind), str(name), bool(is_virtual)) for kind, name, is_virtual in db.execute(_ALL)]
