"""Tables of code.db, a cache of the content of source files. Only `code_cache.py` opens the database.

A database of another program version is deleted: reading code again is cheap, and hashes must follow the present
rules."""

import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING

from claude_mem_lite import __version__
from claude_mem_lite.code.freshness.working_tree import FileState
from claude_mem_lite.code.syntax.changes import Symbol
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.values import frozen

if TYPE_CHECKING:
    from claude_mem_lite.code.syntax.references import References

_FORMAT = 4
_VERSION = zlib.crc32(f"{__version__} {_FORMAT}".encode()) & 0x7FFFFFFF
_MAGIC = b"SQLite format 3\x00"
_FOLDER_FILES = ("__init__", "index", "mod")
_AT_ONCE = 500
_SCHEMA = (
    "create table checkouts (id integer primary key, root text not null unique)",
    """
    create table files (
        id integer primary key,
        checkout integer not null references checkouts on delete cascade,
        path text not null,
        stem text not null,
        state text not null,
        is_read integer not null,
        has_calls integer not null,
        unique (checkout, path)
    )""",
    "create index files_by_stem on files (checkout, stem)",
    """
    create table symbols (
        file integer not null references files on delete cascade,
        position integer not null,
        name text not null,
        simple text not null,
        kind text not null,
        signature text not null,
        first integer not null,
        last integer not null,
        body text not null,
        primary key (file, position)
    ) without rowid""",
    "create index symbols_by_simple on symbols (simple)",
    "create index symbols_by_body on symbols (body)",
    """
    create table calls (
        file integer not null references files on delete cascade,
        name text not null,
        receiver text not null,
        line integer not null,
        within text not null
    )""",
    "create index calls_by_name on calls (name)",
    "create index calls_by_file on calls (file, within)",
    """
    create table names (
        file integer not null references files on delete cascade,
        scope text not null,
        name text not null,
        kind text not null,
        target text not null,
        origin text not null,
        leaf text not null
    )""",
    "create index names_by_name on names (file, scope, name)",
    "create index names_by_leaf on names (leaf)",
)


@frozen
class ReadFile:
    """Content of a file in a recorded state."""

    path: str
    state: FileState | None
    """None: the file may have changed during the clock tick of the read, so the next request reads the file again."""
    symbols: tuple[Symbol, ...] | None
    references: "References | None" = None
    """None: not read yet."""


def open_code(path: Path) -> sqlite3.Connection:
    """Open the database at a path, after replacing a foreign file or a database of another version."""
    if not _is_database(path):
        remove_code(path)
    connection = _open(path)
    if connection.execute("pragma user_version").fetchone()[0] != _VERSION:
        connection.close()
        remove_code(path)
        connection = _open(path)
        _make(connection)
    return connection


def remove_code(path: Path) -> None:
    """Delete the database, with the WAL and shared-memory files."""
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def known_files(db: sqlite3.Connection, root: str, paths: Sequence[str]) -> dict[str, ReadFile]:
    """Return the cached files of a checkout, with their symbols."""
    known: dict[str, ReadFile] = {}
    for batch in batches(paths):
        rows = db.execute(
            f"""select id, path, state, is_read from files
            where checkout = (select id from checkouts where root = ?) and path in ({marks(batch)})""",
            (root, *batch),
        ).fetchall()
        symbols = _symbols(db, [row["id"] for row in rows])
        for row in rows:
            found = tuple(symbols.get(row["id"], ())) if row["is_read"] else None
            known[row["path"]] = ReadFile(row["path"], _to_state(row["state"]), found)
    return known


def store_files(db: sqlite3.Connection, root: str, read: Sequence[ReadFile], gone: Sequence[str]) -> None:
    """Replace the cached content of the files read, and delete the rows of files gone."""
    with atomic(db):
        db.execute("insert into checkouts (root) values (?) on conflict do nothing", (root,))
        checkout = db.execute("select id from checkouts where root = ?", (root,)).fetchone()[0]
        paths = [*gone, *(file.path for file in read)]
        db.executemany("delete from files where checkout = ? and path = ?", [(checkout, path) for path in paths])
        for file in read:
            _insert(db, checkout, file)


def known_states(db: sqlite3.Connection, root: str) -> dict[str, tuple[FileState | None, bool]]:
    """Return the cached state of each file of a checkout, and True if the calls are cached."""
    rows = db.execute(
        "select path, state, has_calls from files where checkout = (select id from checkouts where root = ?)", (root,)
    )
    return {row["path"]: (_to_state(row["state"]), bool(row["has_calls"])) for row in rows}


def find_body(db: sqlite3.Connection, root: str, body: str, limit: int) -> list[tuple[str, str]]:
    """Return the symbols of a checkout with a body hash, as (file, name)."""
    # The cross join fixes the order: the other order scans all files of the checkout, 3 ms for 20,000 files.
    rows = db.execute(
        """select path, name from symbols cross join files on files.id = symbols.file
           where body = ? and checkout = (select id from checkouts where root = ?) limit ?""",
        (body, root, limit),
    )
    return [(row["path"], row["name"]) for row in rows]


def forget_gone(db: sqlite3.Connection) -> None:
    """Delete checkouts no longer on disk."""
    for (root,) in db.execute("select root from checkouts").fetchall():
        if not os.path.isdir(root):
            with atomic(db):
                db.execute("delete from checkouts where root = ?", (root,))


def forget_all(db: sqlite3.Connection) -> None:
    """Delete all rows."""
    with atomic(db):
        db.execute("delete from checkouts")


def simple_of(name: str) -> str:
    """Return the last part of a dotted symbol name."""
    return name.rpartition(".")[2]


def stem_of(path: str) -> str:
    """Return the module name of a file: the file name without ending, or the folder name for a file as
    `__init__.py`."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in _FOLDER_FILES and folder else stem


def marks(values: Sized) -> str:
    """Return SQL placeholders for a number of values."""
    return ",".join("?" * len(values))


def batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the values in batches small enough for a query."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]


def _open(path: Path) -> sqlite3.Connection:
    connection = open_for_writing(path)
    connection.execute("pragma synchronous=normal")  # a cache: data lost in a crash is read again
    return connection


def _is_database(path: Path) -> bool:
    """Return True if a file is missing, empty, or begins like an SQLite database."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) in (b"", _MAGIC)
    except FileNotFoundError:
        return True


def _make(connection: sqlite3.Connection) -> None:
    with atomic(connection):
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute(f"pragma user_version={_VERSION}")


def _insert(db: sqlite3.Connection, checkout: int, file: ReadFile) -> None:
    row = (
        checkout,
        file.path,
        stem_of(file.path),
        _from_state(file.state),
        file.symbols is not None,
        file.references is not None,
    )
    number = db.execute(
        "insert into files (checkout, path, stem, state, is_read, has_calls) values (?, ?, ?, ?, ?, ?)", row
    ).lastrowid
    db.executemany(
        "insert into symbols values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [_symbol_row(number, at, symbol) for at, symbol in enumerate(file.symbols or ())],
    )
    if file.references is not None:
        db.executemany(
            "insert into calls values (?, ?, ?, ?, ?)",
            [(number, call.name, call.receiver, call.line, call.within) for call in file.references.calls],
        )
        db.executemany(
            "insert into names values (?, ?, ?, ?, ?, ?, ?)",
            [
                (number, name.scope, name.name, name.kind, name.target, name.origin, simple_of(name.target))
                for name in file.references.names
            ],
        )


def _symbol_row(file: int | None, position: int, symbol: Symbol) -> tuple[object, ...]:
    name, lines = symbol.name, (symbol.first, symbol.last)
    return file, position, name, simple_of(name), symbol.kind, symbol.signature, *lines, symbol.body


def _symbols(db: sqlite3.Connection, files: Sequence[int]) -> dict[int, list[Symbol]]:
    found: dict[int, list[Symbol]] = {}
    query = f"""select file, name, kind, signature, first, last, body from symbols
        where file in ({marks(files)}) order by file, position"""
    for file, *values in db.execute(query, files):
        found.setdefault(file, []).append(Symbol(*values))
    return found


def _from_state(state: FileState | None) -> str:
    # As text: an inode number may be larger than an SQLite integer.
    return f"{state.inode} {state.changed_ns} {state.size}" if state else ""


def _to_state(text: str) -> FileState | None:
    return FileState(*map(int, text.split())) if text else None
