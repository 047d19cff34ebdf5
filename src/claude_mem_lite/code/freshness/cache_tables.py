"""The tables of code.db, a cache of what source files hold. Only `cache.py` opens it.

A file of another version of us is deleted: reading code anew is cheap, and hashes must be those of today's rules."""

import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite import __version__
from claude_mem_lite.code.freshness.working_tree import FileState
from claude_mem_lite.code.syntax.changes import Symbol
from claude_mem_lite.code.syntax.references import References
from claude_mem_lite.db.connection import atomic, open_for_writing

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


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What a file held when it was in this state."""

    path: str
    state: FileState | None
    """None: it may have changed within the moment it was read, so it is read again the next time."""
    symbols: tuple[Symbol, ...] | None
    references: References | None = None
    """None: nobody has looked."""


def open_code(path: Path) -> sqlite3.Connection:
    """The database at a path, made anew when it is none, or of another version."""
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
    """Delete the database with all that belongs to it."""
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def known_files(db: sqlite3.Connection, root: str, paths: Sequence[str]) -> dict[str, ReadFile]:
    """What is known of files of a checkout, with their symbols."""
    known: dict[str, ReadFile] = {}
    for some in batches(paths):
        rows = db.execute(
            f"""select id, path, state, is_read from files
            where checkout = (select id from checkouts where root = ?) and path in ({marks(some)})""",
            (root, *some),
        ).fetchall()
        symbols = _symbols(db, [row["id"] for row in rows])
        for row in rows:
            found = tuple(symbols.get(row["id"], ())) if row["is_read"] else None
            known[row["path"]] = ReadFile(row["path"], _to_state(row["state"]), found)
    return known


def keep_files(db: sqlite3.Connection, root: str, read: Sequence[ReadFile], gone: Sequence[str]) -> None:
    """Put what was read in the place of what was known, and drop what is gone."""
    with atomic(db):
        db.execute("insert into checkouts (root) values (?) on conflict do nothing", (root,))
        checkout = db.execute("select id from checkouts where root = ?", (root,)).fetchone()[0]
        paths = [*gone, *(file.path for file in read)]
        db.executemany("delete from files where checkout = ? and path = ?", [(checkout, path) for path in paths])
        for file in read:
            _insert(db, checkout, file)


def known_states(db: sqlite3.Connection, root: str) -> dict[str, tuple[FileState | None, bool]]:
    """The state in which each file of a checkout was read, and whether its calls were."""
    rows = db.execute(
        "select path, state, has_calls from files where checkout = (select id from checkouts where root = ?)", (root,)
    )
    return {row["path"]: (_to_state(row["state"]), bool(row["has_calls"])) for row in rows}


def find_body(db: sqlite3.Connection, root: str, body: str, limit: int) -> list[tuple[str, str]]:
    """Symbols of a checkout that say this, each by its file and name."""
    # A cross join keeps this order: the other way round all files of the checkout are gone through, 3 ms of 20,000.
    rows = db.execute(
        """select path, name from symbols cross join files on files.id = symbols.file
           where body = ? and checkout = (select id from checkouts where root = ?) limit ?""",
        (body, root, limit),
    )
    return [(row["path"], row["name"]) for row in rows]


def forget_gone(db: sqlite3.Connection) -> None:
    """Drop checkouts that are not there any more."""
    for (root,) in db.execute("select root from checkouts").fetchall():
        if not os.path.isdir(root):
            with atomic(db):
                db.execute("delete from checkouts where root = ?", (root,))


def forget_all(db: sqlite3.Connection) -> None:
    """Drop all that is known."""
    with atomic(db):
        db.execute("delete from checkouts")


def simple_of(name: str) -> str:
    """A symbol's own name, without what it stands in."""
    return name.rpartition(".")[2]


def stem_of(path: str) -> str:
    """The name of the module a file is: its own without ending, or its folder's for a file that stands for that."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in _FOLDER_FILES and folder else stem


def marks(values: Sized) -> str:
    """Question marks for so many values of a query."""
    return ",".join("?" * len(values))


def batches(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many values at once as a query may have."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]


def _open(path: Path) -> sqlite3.Connection:
    connection = open_for_writing(path)
    connection.execute("pragma synchronous=normal")  # a cache: what a crash loses is read again
    return connection


def _is_database(path: Path) -> bool:
    """Whether a file begins as a database does; none, or an empty one, becomes one."""
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
        [
            (number, at, one.name, simple_of(one.name), one.kind, one.signature, one.first, one.last, one.body)
            for at, one in enumerate(file.symbols or ())
        ],
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


def _symbols(db: sqlite3.Connection, files: Sequence[int]) -> dict[int, list[Symbol]]:
    found: dict[int, list[Symbol]] = {}
    query = f"""select file, name, kind, signature, first, last, body from symbols
        where file in ({marks(files)}) order by file, position"""
    for file, *values in db.execute(query, files):
        found.setdefault(file, []).append(Symbol(*values))
    return found


def _from_state(state: FileState | None) -> str:
    # As text: the number of a file may be larger than an integer of SQLite.
    return f"{state.inode} {state.changed_ns} {state.size}" if state else ""


def _to_state(text: str) -> FileState | None:
    return FileState(*map(int, text.split())) if text else None
