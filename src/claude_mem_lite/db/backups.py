"""Backups of memory.db: made while it is in use, checked before they count, the newest few kept.

The worker makes them; the command line lists them and looks into one before it is restored."""

import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from json import dumps
from pathlib import Path

from claude_mem_lite.db import progress
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, applied_to, unknown_to
from claude_mem_lite.db.soundness import damage_of, is_damage, reading
from claude_mem_lite.errors import MemoryLiteError, SchemaTooNew

KEPT = 7
_TIME = "%Y%m%dT%H%M%SZ"
# The count stands in the name: it tells which is the newest also when the clock was wrong.
_NAME = re.compile(r"^memory-(?P<time>\d{8}T\d{6}Z)-(?P<done>\d{12})\.db$")
_UNFINISHED = ".making-"
_LEAST_FREE_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Backup:
    """One complete copy, by its name: when it was made, and how far memory.db was."""

    path: Path
    made_at: datetime
    done: int

    @property
    def size(self) -> int:
        return self.path.stat().st_size


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in a backup."""

    memories: int
    sessions: int
    done: int
    last_event_at: str
    """When the last thing happened that it knows of; '' when it knows nothing."""
    steps_behind: int
    """How many migrations it has not had yet."""


def all_in(folder: Path) -> list[Backup]:
    """Every backup of a folder, the newest first."""
    found = []
    for path in _entries(folder):
        if match := _NAME.match(path.name):
            made_at = datetime.strptime(match["time"], _TIME).replace(tzinfo=UTC)
            found.append(Backup(path, made_at, int(match["done"])))
    return sorted(found, key=lambda one: (one.done, one.made_at), reverse=True)


def make(
    source: Path, folder: Path, now: datetime, note: Callable[[sqlite3.Connection], None] = lambda _: None
) -> Backup:
    """Copy a database that may be written meanwhile; sqlite3.Error or OSError when it cannot be, and nothing is left.

    `note` is given the connection at work, for whoever wants to interrupt it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    free, size = shutil.disk_usage(folder).free, source.stat().st_size
    if free < size + _LEAST_FREE_BYTES:
        raise MemoryLiteError(
            f"there is no room for a backup of {size // 2**20:,} MiB", f"make some on the disk of {folder}"
        )
    unfinished = folder / f"{_UNFINISHED}{os.getpid()}"
    try:
        os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600))
        with closing(sqlite3.connect(source, isolation_level=None, check_same_thread=False)) as db:
            note(db)
            # A snapshot, and none of the free pages: what was forgotten is not in it.
            db.execute("vacuum into ?", (str(unfinished),))
        _sync(unfinished)
        if damage := damage_of(unfinished, thoroughly=True):
            raise sqlite3.DatabaseError(f"the copy is damaged: {damage}")
        with reading(unfinished) as db:
            done = progress.of(db).done
        made = Backup(folder / f"memory-{now.astimezone(UTC).strftime(_TIME)}-{done:012d}.db", now, done)
        unfinished.rename(made.path)
        _sync(folder)
    finally:
        _remove_with_log(unfinished)
    return made


def prune(folder: Path) -> None:
    """Keep the newest few."""
    for old in all_in(folder)[KEPT:]:
        old.path.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what a worker left that was killed while it made one."""
    for path in _entries(folder):
        if path.name.startswith(_UNFINISHED):
            path.unlink(missing_ok=True)


def look_into(path: Path) -> Contents:
    """What a backup holds, after a check of all of it; MemoryLiteError says why it cannot be restored."""
    if not path.is_file():
        raise MemoryLiteError(f"there is no file {path}", "`claude-mem-lite backup --list` shows the backups")
    try:
        with reading(path) as db:
            if not _is_ours(db):
                raise _not_ours(path)
            if unknown := unknown_to(db, MEMORY_MIGRATIONS):
                raise SchemaTooNew(
                    f"{path.name} was made by a newer version (it knows {', '.join(sorted(unknown))})",
                    "upgrade claude-mem-lite to restore it",
                )
            if damage := damage_of(path, thoroughly=True):
                raise MemoryLiteError(f"{path.name} is damaged ({damage})", "choose another backup")
            return Contents(
                memories=_number(db, "select count(*) from memories"),
                sessions=_number(db, "select count(*) from sessions"),
                done=progress.of(db).done,
                last_event_at=str(db.execute("select coalesce(max(last_event_at), '') from sessions").fetchone()[0]),
                steps_behind=len(MEMORY_MIGRATIONS) - len(applied_to(db)),
            )
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        with path.open("rb") as file:
            is_database = file.read(16) == b"SQLite format 3\x00"
        if not is_database:
            raise _not_ours(path) from None
        raise MemoryLiteError(f"{path.name} is damaged ({error})", "choose another backup") from None


def good_ones(folder: Path) -> Iterator[Backup]:
    """The backups that this version can restore, the newest first; each is read whole before it is given out."""
    for backup in all_in(folder):
        with suppress(MemoryLiteError, sqlite3.Error, OSError):
            look_into(backup.path)
            yield backup


def copy(source: Path, target: Path) -> None:
    """Copy a database as it is, with what its log holds; the copy is complete and on disk when this ends."""
    _remove_with_log(target)
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    with reading(source) as db, closing(sqlite3.connect(target, isolation_level=None)) as copied:
        db.backup(copied)
    _sync(target)


def holds(path: Path, names: Collection[str]) -> bool:
    """Whether a backup has anything of memories, turns or sessions by these names; True when it cannot be told."""
    named = {"names": dumps(sorted(names))}
    wanted = "in (select value from json_each(:names))"
    try:
        with reading(path) as db:
            found = db.execute(
                f"""select exists (select 1 from memories where id {wanted})
                      or exists (select 1 from prompts where turn {wanted} and (text <> '' or reply <> ''))
                      or exists (select 1 from sessions where id {wanted})""",
                named,
            ).fetchone()
    except sqlite3.Error:
        return True
    return bool(found[0])


def _is_ours(db: sqlite3.Connection) -> bool:
    tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
    return {"migrations", "memories", "sessions", "tombstones"} <= tables


def _not_ours(path: Path) -> MemoryLiteError:
    return MemoryLiteError(
        f"{path} is no backup of claude-mem-lite", "`claude-mem-lite backup --list` shows those that are"
    )


def _number(db: sqlite3.Connection, question: str) -> int:
    return int(db.execute(question).fetchone()[0])


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _remove_with_log(path: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Have a file, or the names in a folder, on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
