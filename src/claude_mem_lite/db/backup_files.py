"""Backups of memory.db: copied while the database is in use, checked before they count, limited to the newest few.

The worker makes backups. The command line lists them and checks a backup before a restore."""

import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from json import dumps
from pathlib import Path

from claude_mem_lite.db import change_counter, integrity
from claude_mem_lite.db.integrity import damage_of, is_damage, reading
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, applied_to, unknown_to
from claude_mem_lite.errors import MemoryLiteError, SchemaTooNew
from claude_mem_lite.limits import LIMITS
from claude_mem_lite.paths import entries_of, sync
from claude_mem_lite.values import frozen

_TIME = "%Y%m%dT%H%M%SZ"
# The change count is part of the name, so that the newest backup is known even when the clock was wrong.
_NAME = re.compile(r"^memory-(?P<time>\d{8}T\d{6}Z)-(?P<done>\d{12,19})\.db$")
_UNFINISHED = ".making-"
_LEFT_UNFINISHED = re.compile(r"^\.making-\d+(-journal|-wal|-shm)?$")
_MIN_FREE_BYTES = 16 * 2**20


@frozen
class Backup:
    """Complete copy of memory.db, described by its file name: creation time and change count."""

    path: Path
    made_at: datetime
    done: int

    @property
    def size(self) -> int:
        return self.path.stat().st_size


@frozen
class Contents:
    """Contents of a backup."""

    memories: int
    sessions: int
    done: int
    last_event_at: str
    """Time of the last event in the backup; '' when the backup holds no session."""
    steps_behind: int
    """Number of migrations that the backup has not had yet."""


def all_in(folder: Path) -> list[Backup]:
    """Return every file of a folder with the name of a backup, the newest first."""
    backups = []
    for path in entries_of(folder):
        if (match := _NAME.match(path.name)) and path.is_file():
            with suppress(ValueError):  # a 13th month: not a name of ours
                made_at = datetime.strptime(match["time"], _TIME).replace(tzinfo=UTC)
                backups.append(Backup(path, made_at, int(match["done"])))
    return sorted(backups, key=lambda backup: (backup.done, backup.made_at), reverse=True)


def own(folder: Path, of: str) -> list[Backup]:
    """Return the backups of the database with the lineage `of`, the newest first. Name and content of each must
    agree."""
    return [backup for backup in all_in(folder) if _is_of(backup, of)]


def newer(folder: Path, of: str, done: int) -> Backup | None:
    """Return the newest sound backup of a database with more than `done` changes. Each candidate is read completely."""
    ahead = (backup for backup in all_in(folder) if backup.done > done and _is_of(backup, of))
    return next((backup for backup in ahead if can_be_restored(backup.path)), None)


def make(
    source: Path, folder: Path, now: datetime, note: Callable[[sqlite3.Connection], None] = lambda _: None
) -> Backup:
    """Copy a database that may be written meanwhile. Raise sqlite3.Error or OSError on failure, and leave no partial
    copy.

    `note` receives the open connection, so that the caller can interrupt the copy."""
    folder.mkdir(mode=0o700, exist_ok=True)
    free, size = shutil.disk_usage(folder).free, source.stat().st_size
    needed = size + _MIN_FREE_BYTES
    if free < needed:
        raise MemoryLiteError(
            f"a backup needs {-(-needed // 2**20):,} MiB of free disk, {_MIN_FREE_BYTES // 2**20} of them to spare, "
            f"and there are {free // 2**20:,}",
            f"make room on the disk of {folder}",
        )
    unfinished = folder / f"{_UNFINISHED}{os.getpid()}"
    try:
        os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600))
        with closing(sqlite3.connect(source, isolation_level=None, check_same_thread=False)) as db:
            note(db)
            # `vacuum into` makes a snapshot without free pages, so forgotten text is not in the copy.
            db.execute("vacuum into ?", (str(unfinished),))
        _drop_foreign_objects(unfinished)
        sync(unfinished)
        if damage := damage_of(unfinished, thoroughly=True):
            raise sqlite3.DatabaseError(f"the copy is damaged: {damage}")
        with reading(unfinished) as db:
            done = change_counter.progress_of(db).done
        backup = Backup(folder / f"memory-{now.astimezone(UTC).strftime(_TIME)}-{done:012d}.db", now, done)
        unfinished.rename(backup.path)
        sync(folder)
    finally:
        _remove_with_log(unfinished)
    return backup


def prune(folder: Path, of: str, most: int = LIMITS.max_backups) -> None:
    """Remove old backups: keep the newest few of a database, then unreadable backups as far as the limit allows.

    Backups of another database stay: the user put them into the folder, or changed to another database."""
    mine = own(folder, of)
    unreadable = [backup for backup in all_in(folder) if not change_counter.of_file(backup.path)]
    for old in [*mine, *unreadable][most:]:
        old.path.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove partial copies that a killed worker left."""
    for path in entries_of(folder):
        if _LEFT_UNFINISHED.match(path.name):
            with suppress(OSError):  # a folder, for example: not made by us
                path.unlink()


def check(path: Path) -> Contents:
    """Check a backup completely and return its contents. Raise MemoryLiteError with the reason if no restore is
    possible."""
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
            if foreign := integrity.of(db):
                kind, name = foreign[0]
                raise MemoryLiteError(
                    f"{path.name} holds a {kind} that no backup of ours has: {name[:80]}", "choose another backup"
                )
            if damage := damage_of(path, thoroughly=True):
                raise MemoryLiteError(f"{path.name} is damaged ({damage})", "choose another backup")
            contents = _contents(db)
            if contents.done > change_counter.MAX_BELIEVED:
                raise MemoryLiteError(
                    f"{path.name} counts {contents.done:,} changes, which cannot be", "choose another backup"
                )
            return contents
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        with path.open("rb") as file:
            is_database = file.read(16) == b"SQLite format 3\x00"
        if not is_database:
            raise _not_ours(path) from None
        raise MemoryLiteError(f"{path.name} is damaged ({error})", "choose another backup") from None


def can_be_restored(path: Path) -> bool:
    """Return True if this version can restore a database file, after a check of the complete file."""
    try:
        check(path)
    except (MemoryLiteError, sqlite3.Error, OSError):
        return False
    return True


def contents_of(path: Path) -> Contents:
    """Return the contents of a backup without a check, for a caller that has just made and checked the backup."""
    with reading(path) as db:
        return _contents(db)


def restorable(folder: Path, of: str) -> Iterator[Backup]:
    """Yield the backups that this version can restore, the newest first. Each backup is read completely before its
    turn.

    Backups of the lineage `of` come before backups of other lineages."""
    by_lineage = sorted(all_in(folder), key=lambda backup: not _is_of(backup, of))
    yield from (backup for backup in by_lineage if can_be_restored(backup.path))


def copy(source: Path, target: Path) -> None:
    """Copy a database unchanged, including its log. The copy is complete and on disk when the function returns."""
    _remove_with_log(target)
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    with reading(source) as db, closing(sqlite3.connect(target, isolation_level=None)) as copied:
        db.backup(copied)
    sync(target)


def holds(path: Path, names: Collection[str]) -> bool:
    """Return True if a backup holds memories, turns or sessions with these names, or if the backup cannot be read."""
    named = {"names": dumps(sorted(names))}
    is_named = "in (select value from json_each(:names))"
    try:
        with reading(path) as db:
            row = db.execute(
                f"""select exists (select 1 from memories where id {is_named})
                      or exists (select 1 from prompts where turn {is_named} and (text <> '' or reply <> ''))
                      or exists (select 1 from sessions where id {is_named})""",
                named,
            ).fetchone()
    except sqlite3.Error:
        return True
    return bool(row[0])


def _is_of(backup: Backup, of: str) -> bool:
    try:
        with reading(backup.path) as db:
            return (
                bool(of) and change_counter.lineage_of(db) == of and change_counter.progress_of(db).done == backup.done
            )
    except sqlite3.Error:
        return False


def _drop_foreign_objects(path: Path) -> None:
    """Drop tables, views and triggers of other programs from a copy, because a backup with them cannot be restored."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        if integrity.remove(db):
            db.execute("vacuum")


def _contents(db: sqlite3.Connection) -> Contents:
    return Contents(
        memories=_number(db, "select count(*) from memories"),
        sessions=_number(db, "select count(*) from sessions"),
        done=change_counter.progress_of(db).done,
        last_event_at=str(db.execute("select coalesce(max(last_event_at), '') from sessions").fetchone()[0]),
        steps_behind=len(MEMORY_MIGRATIONS) - len(applied_to(db)),
    )


def _is_ours(db: sqlite3.Connection) -> bool:
    tables = {
        row[0]
        for row in db.execute("select name from sqlite_master where type = 'table' and sql not like 'create virtual%'")
    }
    return {"migrations", "memories", "sessions", "tombstones"} <= tables


def _not_ours(path: Path) -> MemoryLiteError:
    return MemoryLiteError(
        f"{path} is no backup of claude-mem-lite", "`claude-mem-lite backup --list` shows those that are"
    )


def _number(db: sqlite3.Connection, question: str) -> int:
    return int(db.execute(question).fetchone()[0])


def _remove_with_log(path: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
