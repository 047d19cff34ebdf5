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

from claude_mem_lite.db import change_counter, integrity
from claude_mem_lite.db.integrity import damage_of, is_damage, reading
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, applied_to, unknown_to
from claude_mem_lite.errors import MemoryLiteError, SchemaTooNew
from claude_mem_lite.paths import sync

KEPT = 7
_TIME = "%Y%m%dT%H%M%SZ"
# The count stands in the name: it tells which is the newest also when the clock was wrong.
_NAME = re.compile(r"^memory-(?P<time>\d{8}T\d{6}Z)-(?P<done>\d{12,19})\.db$")
_UNFINISHED = ".making-"
_LEFT_UNFINISHED = re.compile(r"^\.making-\d+(-journal|-wal|-shm)?$")
_MIN_FREE_BYTES = 16 * 2**20


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
    """Every file of a folder that is a backup by its name, the newest first."""
    found = []
    for path in _entries(folder):
        if (match := _NAME.match(path.name)) and path.is_file():
            with suppress(ValueError):  # a 13th month: no name that we give
                made_at = datetime.strptime(match["time"], _TIME).replace(tzinfo=UTC)
                found.append(Backup(path, made_at, int(match["done"])))
    return sorted(found, key=lambda one: (one.done, one.made_at), reverse=True)


def own(folder: Path, of: str) -> list[Backup]:
    """The backups of one database, by its lineage, the newest first: those that say inside what their names say."""
    return [one for one in all_in(folder) if _is_of(one, of)]


def newer(folder: Path, of: str, done: int) -> Backup | None:
    """The newest sound backup of a database that has more than this; each is read whole before it counts."""
    ahead = (one for one in all_in(folder) if one.done > done and _is_of(one, of))
    return next((one for one in ahead if can_be_restored(one.path)), None)


def make(
    source: Path, folder: Path, now: datetime, note: Callable[[sqlite3.Connection], None] = lambda _: None
) -> Backup:
    """Copy a database that may be written meanwhile; sqlite3.Error or OSError when it cannot be, and nothing is left.

    `note` is given the connection at work, for whoever wants to interrupt it."""
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
            # A snapshot, and none of the free pages: what was forgotten is not in it.
            db.execute("vacuum into ?", (str(unfinished),))
        _keep_what_is_ours(unfinished)
        sync(unfinished)
        if damage := damage_of(unfinished, thoroughly=True):
            raise sqlite3.DatabaseError(f"the copy is damaged: {damage}")
        with reading(unfinished) as db:
            done = change_counter.progress_of(db).done
        made = Backup(folder / f"memory-{now.astimezone(UTC).strftime(_TIME)}-{done:012d}.db", now, done)
        unfinished.rename(made.path)
        sync(folder)
    finally:
        _remove_with_log(unfinished)
    return made


def prune(folder: Path, of: str) -> None:
    """Keep the newest few of a database, and as many of those that cannot be read as there is room among them.

    Those of another database are the user's: he put them there, or went over to another one."""
    mine = own(folder, of)
    unreadable = [one for one in all_in(folder) if not change_counter.of_file(one.path)]
    for old in [*mine, *unreadable][KEPT:]:
        old.path.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what a worker left that was killed while it made one."""
    for path in _entries(folder):
        if _LEFT_UNFINISHED.match(path.name):
            with suppress(OSError):  # a folder, say: not of our making
                path.unlink()


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
            if found := integrity.of(db):
                kind, name = found[0]
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
    """Whether a database is one that this version can put in place, by all of it."""
    try:
        look_into(path)
    except (MemoryLiteError, sqlite3.Error, OSError):
        return False
    return True


def contents_of(path: Path) -> Contents:
    """What a backup holds, for whoever has just made it: it was read throughout then."""
    with reading(path) as db:
        return _contents(db)


def good_ones(folder: Path, of: str) -> Iterator[Backup]:
    """The backups that this version can restore, the newest first; each is read whole before it is given out.

    Those of the lineage `of` come before those of others."""
    by_lineage = sorted(all_in(folder), key=lambda one: not _is_of(one, of))
    yield from (one for one in by_lineage if can_be_restored(one.path))


def copy(source: Path, target: Path) -> None:
    """Copy a database as it is, with what its log holds; the copy is complete and on disk when this ends."""
    _remove_with_log(target)
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    with reading(source) as db, closing(sqlite3.connect(target, isolation_level=None)) as copied:
        db.backup(copied)
    sync(target)


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


def _is_of(backup: Backup, of: str) -> bool:
    try:
        with reading(backup.path) as db:
            return (
                bool(of) and change_counter.lineage_of(db) == of and change_counter.progress_of(db).done == backup.done
            )
    except sqlite3.Error:
        return False


def _keep_what_is_ours(copy: Path) -> None:
    """Without what somebody else made in the database, because of which a backup could not be restored."""
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
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


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _remove_with_log(path: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
