"""What a worker does before it opens its databases: it ends what another left half done, carries out an order to
restore, and puts the newest good backup in the place of a memory.db that is damaged. It holds the home's lock."""

import logging
import sqlite3
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from claude_mem_lite.db import backups, progress, replacing
from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, applied_to, migrate
from claude_mem_lite.db.progress import Progress
from claude_mem_lite.db.replacing import Replacement
from claude_mem_lite.db.soundness import damage_of, is_blank, is_newer, reading
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import replaying
from claude_mem_lite.models import text
from claude_mem_lite.paths import Home
from claude_mem_lite.worker import recoveries, rendered, salvaging
from claude_mem_lite.worker.recoveries import Recovery

DAMAGED, BEFORE_RESTORE = "damaged-", "before-restore-"
_MOST_ASIDE = 3
_DAY = "%Y-%m-%d %H:%M UTC"
log = logging.getLogger(__name__)


def prepare(home: Home, now: datetime) -> None:
    """Have databases that can be opened, or leave them as they are for whoever opens them to refuse."""
    _end_replacing(home)
    for target in (home.inbox_db, home.memory_db):
        replacing.remove_new(target)
    backups.remove_unfinished(home.backups)
    ended_badly = home.suspect.exists() or home.worker_pid.exists()
    order = _order(home, now)
    _look_after_inbox(home, now, ended_badly, is_to_restore=order is not None)
    if order is not None:
        _restore(home, order, now)
    elif trouble := _trouble_with_memory(home, ended_badly):
        _recover(home, trouble, now)
    _drop_old_aside(home)


def set_aside(home: Home) -> list[Path]:
    """The folders with what was replaced, oldest first."""
    found = [path for path in home.root.glob("*-*") if path.name.startswith((DAMAGED, BEFORE_RESTORE))]
    return sorted((path for path in found if path.is_dir() and not path.is_symlink()), key=_time_in)


def _order(home: Home, now: datetime) -> Path | None:
    """The backup that the user wants restored; None when there is no order, or it cannot be carried out."""
    told = replacing.read_json(home.restore_order)
    if told is None:
        home.restore_order.unlink(missing_ok=True)
        return None
    backup = Path(text(told.get("backup")))
    try:
        backups.look_into(backup)
    except (MemoryLiteError, OSError, sqlite3.Error) as error:
        log.error("a backup cannot be restored", extra={"backup": backup.name})
        told_text = f"Nothing was restored, and nothing was changed: {error}."
        recoveries.add(home, _recovery(now, "restore", told_text, failed=True))
        home.restore_order.unlink()
        return None
    return backup


def _look_after_inbox(home: Home, now: datetime, ended_badly: bool, *, is_to_restore: bool) -> None:
    damage = damage_of(home.inbox_db, thoroughly=ended_badly or _has_log(home.inbox_db))
    if not damage and not (is_to_restore and is_newer(home.inbox_db)):
        return
    aside = _new_aside(home, DAMAGED if damage else BEFORE_RESTORE, home.inbox_db, now)
    log.error("the inbox is made anew", extra={"aside": aside})
    saved = salvaging.salvage(home.inbox_db, replacing.new_file(home.inbox_db), now)
    why = f"was damaged ({damage})" if damage else "was of a newer version"
    told = f"inbox.db {why}. It is kept in {aside}, and {saved:,} of its events could be read and were kept."
    _replace(home, home.inbox_db, aside, _recovery(now, "inbox", told))


def _trouble_with_memory(home: Home, ended_badly: bool) -> str:
    """What is wrong with memory.db; '' when it can be used, or is of a newer version."""
    kept = backups.all_in(home.backups)
    if is_blank(home.memory_db):
        is_lost = bool(kept) or _furthest(home) > 0
        return "" if not is_lost else "is empty" if home.memory_db.exists() else "is gone"
    if damage := damage_of(home.memory_db, thoroughly=ended_badly or _has_log(home.memory_db)):
        return f"was damaged ({damage})"
    if is_newer(home.memory_db):
        return ""
    with reading(home.memory_db) as db:
        if "m001_memory" not in _applied(db):
            return "was replaced by something else"
        done = progress.of(db).done
    return "was older than its newest backup" if kept and done < kept[0].done else ""


def _recover(home: Home, trouble: str, now: datetime) -> None:
    """The newest good backup in the place of what is damaged; a new database when there is none."""
    aside = _new_aside(home, DAMAGED, home.memory_db, now)
    log.error("memory.db is recovered", extra={"aside": aside})
    backup = next(backups.good_ones(home.backups), None)
    kept = f" What was there is kept in {aside}." if home.memory_db.exists() else ""
    if backup is None:
        told = f"memory.db {trouble}, and there is no backup: a new one was begun.{kept}"
    else:
        told = f"memory.db {trouble}. The backup of {backup.made_at.strftime(_DAY)} was put in its place.{kept}"
    _put_in_place(home, backup.path if backup else None, aside, _recovery(now, "memory", told), now)


def _restore(home: Home, backup: Path, now: datetime) -> None:
    aside = _new_aside(home, BEFORE_RESTORE, home.memory_db, now)
    log.info("a backup is restored", extra={"backup": backup.name, "aside": aside})
    told = f"{backup.name} was put in the place of memory.db."
    undo = ""
    if home.memory_db.exists():
        undo = f"What was there is kept: `claude-mem-lite restore {home.root / aside / home.memory_db.name}` undoes it."
    _put_in_place(home, backup, aside, _recovery(now, "restore", told, undo=undo), now, by_order=True)


def _put_in_place(
    home: Home, source: Path | None, aside: str, told: Recovery, now: datetime, *, by_order: bool = False
) -> None:
    """Make the new memory.db ready, complete and of this version, then put it in place in one step."""
    new = replacing.new_file(home.memory_db)
    if source is not None:
        backups.copy(source, new)
    with closing(open_for_writing(new)) as db:
        migrate(db, MEMORY_MIGRATIONS, now)
        after = progress.of(db).done if source is not None else 0
        # Beyond all that was counted before: what is done from here on is in none of the backups there are.
        counts = [after, _furthest(home), *(one.done for one in backups.all_in(home.backups))]
        progress.put(db, Progress(max(counts) + 1, replay_after=after))
    _replace(home, home.memory_db, aside, told, by_order=by_order)


def _replace(home: Home, target: Path, aside: str, told: Recovery, *, by_order: bool = False) -> None:
    note = {**asdict(told), "by_order": by_order}
    replacing.replace(home, Replacement(target.name, aside, note))
    _end_replacing(home)


def _end_replacing(home: Home) -> None:
    """End what was written down, be it by another worker; the user hears of it, whoever does it."""
    replaced = replacing.finish(home)
    if replaced is None:
        home.replacing.unlink(missing_ok=True)
        return
    recoveries.add(home, recoveries.from_object(replaced.note))
    if replaced.note.get("by_order") is True:
        home.restore_order.unlink(missing_ok=True)
    rendered.clear(home)  # it tells what the old one knew
    replacing.end(home)


def _recovery(now: datetime, what: str, told: str, *, undo: str = "", failed: bool = False) -> Recovery:
    return Recovery(f"{what}-{now.timestamp():.6f}", now.isoformat(), told, undo, failed)


def _new_aside(home: Home, kind: str, target: Path, now: datetime) -> str:
    """The name of a folder that has no such database yet."""
    name = f"{kind}{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    others = (f"{name}-{number}" for number in count(2))
    return next(one for one in chain((name,), others) if not (home.root / one / target.name).exists())


def _drop_old_aside(home: Home) -> None:
    """A disk that goes bad must not be filled with what was on it."""
    for folder in set_aside(home)[:-_MOST_ASIDE]:
        remove_aside(folder)


def remove_aside(folder: Path) -> None:
    """Remove what was set aside: only the files that were put there."""
    for file in folder.iterdir():
        file.unlink(missing_ok=True)
    folder.rmdir()


def _time_in(folder: Path) -> str:
    return folder.name.removeprefix(DAMAGED).removeprefix(BEFORE_RESTORE)


def _has_log(path: Path) -> bool:
    """Whether whoever wrote a database last did not close it."""
    log_file = path.with_name(f"{path.name}-wal")
    return log_file.exists() and log_file.stat().st_size > 0


def _furthest(home: Home) -> int:
    """How far memory.db was, by the inbox; 0 when that cannot tell."""
    if is_blank(home.inbox_db):
        return 0
    with reading(home.inbox_db) as db:
        return replaying.furthest(db) if "i003_replay" in _applied(db) else 0


def _applied(db: sqlite3.Connection) -> set[str]:
    return applied_to(db) if "migrations" in _tables(db) else set()


def _tables(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
