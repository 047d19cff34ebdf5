"""What a worker does before it opens its databases: it ends what another left half done, carries out an order to
restore, gives back to the inbox what it has lost, and puts the newest good backup in the place of a memory.db that is
damaged. It holds the home's lock."""

import logging
import os
import re
import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from shlex import quote

from claude_mem_lite.db import backup_files, change_counter, file_swap, recovery_log
from claude_mem_lite.db.change_counter import Progress
from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.file_swap import Replacement
from claude_mem_lite.db.integrity import damage_of, is_blank, is_damage, is_newer, not_a_file, reading
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, applied_to, migrate, unknown_to
from claude_mem_lite.db.open_files import foreign_logs, recorded_lineage
from claude_mem_lite.db.recovery_log import Recovery
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import journal, journal_restore, replay
from claude_mem_lite.models import text
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.answers import prerendered

DAMAGED, BEFORE_RESTORE = "damaged-", "before-restore-"
# A folder or a file of any other name is the user's, and is neither emptied nor deleted.
_ASIDE = re.compile(r"(?:damaged|before-restore)-\d{8}T\d{6}Z(?:-\d+)?")
_FILES_ASIDE = re.compile(r"(?:memory|inbox)\.db(?:-wal|-shm|-journal)?")
_MAX_ASIDE = 3
_DAY = "%Y-%m-%d %H:%M UTC"
log = logging.getLogger(__name__)


def prepare(home: Home, now: datetime) -> bool:
    """Have databases that can be opened, or leave them as they are for whoever opens them to refuse; returns whether
    anything was wrong with them."""
    home.refuse_closed()  # before SQLite makes logs of the same mode, with which it could not write later
    before = recovery_log.all_of(home)
    has_foreign_logs = False
    _end_replacing(home)
    for target in (home.inbox_db, home.memory_db):
        file_swap.remove_new(target)
        has_foreign_logs = _are_logs_set_aside(home, target, now) or has_foreign_logs
    backup_files.remove_unfinished(home.backups)
    # Now: whoever opens a database first has its log emptied.
    has_log = _has_log(home.inbox_db) or _has_log(home.memory_db)
    ended_badly = has_log or home.suspect.exists() or home.worker_pid.exists()
    order = _order(home, now)
    _look_after_inbox(home, now, ended_badly, is_to_restore=order is not None)
    is_restored = order is not None and _is_restored(home, order, now)
    if not is_restored and (trouble := _trouble_with_memory(home, ended_badly)):
        _recover(home, trouble, now)
    home.open_files.unlink(missing_ok=True)
    _drop_old_aside(home)
    return has_foreign_logs or recovery_log.all_of(home) != before


def _are_logs_set_aside(home: Home, database: Path, now: datetime) -> bool:
    """Move logs away that do not belong to the database they lie beside: read together, they are neither the old state
    nor the new one. What only they held is replayed from the inbox and the copies."""
    logs = foreign_logs(database, home.open_files)
    if not logs:
        return False
    aside = home.root / _new_aside(home, DAMAGED, database, now)
    log.error("logs that are not of this database are set aside", extra={"database": database.name})
    aside.mkdir(mode=0o700, exist_ok=True)
    for path in logs:
        path.rename(aside / path.name)
    home.suspect.touch(mode=0o600)  # a worker that is killed from here on leaves the next one to look at all of it
    return True


def set_aside(home: Home) -> list[Path]:
    """The folders with what was replaced, oldest first."""
    found = [path for path in home.root.glob("*-*") if _ASIDE.fullmatch(path.name)]
    return sorted((path for path in found if path.is_dir() and not path.is_symlink()), key=_time_in)


def forget_aside(home: Home, names: Collection[str]) -> None:
    """What was set aside goes, since nobody can search a damaged file; OSError or sqlite3.Error when it cannot.

    What a restore can be undone by stays if it is sound and has nothing by these names, as when they were forgotten
    before the restore and what was restored had them."""
    for folder in set_aside(home):
        undo = folder / home.memory_db.name
        may_stay = folder.name.startswith(BEFORE_RESTORE) and undo.is_file() and not backup_files.holds(undo, names)
        stays = may_stay and not damage_of(undo, thoroughly=True)
        _empty(folder, but_for=undo.name if stays else "")


def _order(home: Home, now: datetime) -> Path | None:
    """The backup that the user wants restored; None when there is no order, or it cannot be carried out."""
    told = file_swap.read_json(home.restore_order)
    if told is None:
        home.restore_order.unlink(missing_ok=True)
        return None
    backup = Path(text(told.get("backup")))
    try:
        backup_files.check(backup)
    except Exception as error:  # noqa: BLE001  else each worker to come would meet it again
        _give_up(home, backup, error, now)
        return None
    return backup


def _is_restored(home: Home, backup: Path, now: datetime) -> bool:
    """Carry out an order; False when it cannot be, and memory.db is as it was."""
    try:
        _restore(home, backup, now)
    except Exception as error:
        if home.replacing.exists():  # from here on it is brought to its end, by this worker or the next
            raise
        file_swap.remove_new(home.memory_db)
        _give_up(home, backup, error, now)
        return False
    return True


def _give_up(home: Home, backup: Path, error: Exception, now: datetime) -> None:
    """Drop an order and tell why."""
    is_expected = isinstance(error, MemoryLiteError)
    log.error("a backup cannot be restored", extra={"backup": backup.name}, exc_info=None if is_expected else error)
    home.restore_order.unlink(missing_ok=True)
    told = f"Nothing was restored, and nothing was changed: {error}."
    recovery_log.add(home, _recovery(now, "restore", told, failed=True))


def _look_after_inbox(home: Home, now: datetime, ended_badly: bool, *, is_to_restore: bool) -> None:
    trouble = _trouble_with_inbox(home, ended_badly)
    if not trouble and not (is_to_restore and is_newer(home.inbox_db)):
        _complete_inbox(home, now, ended_badly)
        return
    aside = _new_aside(home, DAMAGED if trouble else BEFORE_RESTORE, home.inbox_db, now)
    log.error("the inbox is made anew", extra={"aside": aside})
    new = file_swap.new_file(home.inbox_db)
    with closing(open_for_writing(new)) as db:
        migrate(db, INBOX_MIGRATIONS, now)
        saved = journal_restore.copy_readable(home.inbox_db, db)
        given_back = journal_restore.put_back(db, home.spool_kept)
    told = f"inbox.db {trouble or 'was of a newer version'}, and a new one was begun."
    if home.inbox_db.exists():
        told += f" What was there is kept in {aside}; {saved:,} of its events could be read and are in the new one."
    told += f" {given_back:,} events came back from their copies." if given_back else ""
    _replace(home, home.inbox_db, aside, _recovery(now, "inbox", told))


def _trouble_with_inbox(home: Home, ended_badly: bool) -> str:
    """What is wrong with inbox.db; '' when it can be used, or is of a newer version."""
    if kind := not_a_file(home.inbox_db):
        return f"was replaced by {kind}"
    if damage := damage_of(home.inbox_db, thoroughly=ended_badly):
        return f"was damaged ({damage})"
    if not home.inbox_db.exists():
        return "is gone" if _was_used(home) else ""
    with reading(home.inbox_db) as db:
        if "i001_inbox" in applied_to(db):
            return ""
    if is_blank(home.inbox_db):
        return "is empty" if _was_used(home) else ""
    return "was replaced by something else"


def _complete_inbox(home: Home, now: datetime, ended_badly: bool) -> None:
    """Give back to a sound inbox what it has lost: with its log, or because it is an old one."""
    if not journal.files(home.spool_kept):
        return
    with closing(open_for_writing(home.inbox_db)) as db:
        if unknown_to(db, INBOX_MIGRATIONS) or not (ended_badly or journal_restore.is_behind(db, home.spool_kept)):
            return
        migrate(db, INBOX_MIGRATIONS, now)
        given_back = journal_restore.put_back(db, home.spool_kept)
    if given_back:
        log.error("the inbox had lost events", extra={"events": given_back})
        told = "inbox.db had lost what was last written to it."
        told += f" {given_back:,} of its events came back from their copies."
        recovery_log.add(home, _recovery(now, "inbox", told))


def _trouble_with_memory(home: Home, ended_badly: bool) -> str:
    """What is wrong with memory.db; '' when it can be used, or is of a newer version."""
    if kind := not_a_file(home.memory_db):
        return f"was replaced by {kind}"
    if is_blank(home.memory_db):
        is_lost = bool(backup_files.all_in(home.backups)) or _furthest(home) > 0
        return "" if not is_lost else "is empty" if home.memory_db.exists() else "is gone"
    if damage := damage_of(home.memory_db, thoroughly=ended_badly):
        return f"was damaged ({damage})"
    with reading(home.memory_db) as db:
        if "m001_memory" not in applied_to(db):
            return "was replaced by something else"
        if is_newer(home.memory_db):
            return ""
        try:
            done = change_counter.progress_of(db).done
        except sqlite3.DatabaseError as error:
            if is_damage(error):
                return f"was damaged ({error})"
            raise
        if change_counter.lineage_of(db) != (recorded_lineage(home.open_files) or change_counter.lineage_of(db)):
            return "was replaced by that of another home"
        newer = backup_files.newer(home.backups, change_counter.lineage_of(db), done)
    return "was older than its newest backup" if newer else ""


def _recover(home: Home, trouble: str, now: datetime) -> None:
    """The newest good backup in the place of what is damaged; a new database when there is none."""
    aside = _new_aside(home, DAMAGED, home.memory_db, now)
    log.error("memory.db is recovered", extra={"aside": aside})
    backup = next(backup_files.restorable(home.backups, _own_lineage(home)), None)
    kept = f" What was there is kept in {aside}." if home.memory_db.exists() else ""
    step = ""
    if backup is None:
        told = f"memory.db {trouble}, and {_why_no_backup(home)}: a new one was begun.{kept}"
        if (sound := _newest_sound_aside(home)) is not None:
            step = f"Of before there is a sound one: `claude-mem-lite restore {quote(str(sound))}` puts it in place."
    else:
        told = f"memory.db {trouble}. The backup of {backup.made_at.strftime(_DAY)} was put in its place.{kept}"
    _put_in_place(home, backup.path if backup else None, aside, _recovery(now, "memory", told, undo=step), now)


def _why_no_backup(home: Home) -> str:
    kept = len(backup_files.all_in(home.backups))
    if kept < 2:
        return "the only backup cannot be read" if kept else "there is no backup"
    return f"none of the {kept} backups can be read"


def _newest_sound_aside(home: Home) -> Path | None:
    """The newest memory.db that was set aside and can be restored."""
    kept = [folder / home.memory_db.name for folder in reversed(set_aside(home))]
    return next((path for path in kept if backup_files.can_be_restored(path)), None)


def _restore(home: Home, backup: Path, now: datetime) -> None:
    aside = _new_aside(home, BEFORE_RESTORE, home.memory_db, now)
    log.info("a backup is restored", extra={"backup": backup.name, "aside": aside})
    told = f"{backup.name} was put in the place of memory.db."
    undo = ""
    if home.memory_db.exists():
        kept = quote(str(home.root / aside / home.memory_db.name))
        undo = f"What was there is kept: `claude-mem-lite restore {kept}` undoes it."
    _put_in_place(home, backup, aside, _recovery(now, "restore", told, undo=undo), now, by_order=True)


def _put_in_place(
    home: Home, source: Path | None, aside: str, told: Recovery, now: datetime, *, by_order: bool = False
) -> None:
    """Make the new memory.db ready, complete and of this version, then put it in place in one step.

    It takes over the lineage of the home, also when it comes from another one: what is there from now on is counted
    here. Nothing tells then which events it lacks, so all of them are done again."""
    new = file_swap.new_file(home.memory_db)
    own = _own_lineage(home)
    if source is not None:
        backup_files.copy(source, new)
    with closing(open_for_writing(new)) as db:
        migrate(db, MEMORY_MIGRATIONS, now)
        done = change_counter.progress_of(db).done
        is_foreign = bool(own) and change_counter.lineage_of(db) != own
        if is_foreign:
            change_counter.put_lineage(db, own)
        kept = backup_files.own(home.backups, change_counter.lineage_of(db))
        # Beyond all that was counted before: what is done from here on is in none of the backups there are.
        counts = [done, _furthest(home), *(one.done for one in kept)]
        change_counter.put_progress(db, Progress(max(counts) + 1, replay_after=0 if is_foreign else done))
    _replace(home, home.memory_db, aside, told, by_order=by_order)


def _own_lineage(home: Home) -> str:
    """The lineage of this home: as the last worker recorded it, if it ended badly, else as memory.db has it; '' when
    nothing tells."""
    there = "" if not_a_file(home.memory_db) else change_counter.of_file(home.memory_db)
    return recorded_lineage(home.open_files) or there


def _replace(home: Home, target: Path, aside: str, told: Recovery, *, by_order: bool = False) -> None:
    note = {**asdict(told), "by_order": by_order}
    file_swap.replace(home, Replacement(target.name, aside, note))
    _end_replacing(home)


def _end_replacing(home: Home) -> None:
    """End what was written down, be it by another worker; the user hears of it, whoever does it."""
    replaced = file_swap.finish(home)
    if replaced is None:
        home.replacing.unlink(missing_ok=True)
        return
    recovery_log.add(home, recovery_log.from_object(replaced.note))
    if replaced.note.get("by_order") is True:
        home.restore_order.unlink(missing_ok=True)
    prerendered.clear(home)  # it tells what the old one knew
    file_swap.end(home)


def _recovery(now: datetime, what: str, told: str, *, undo: str = "", failed: bool = False) -> Recovery:
    return Recovery(f"{what}-{now.timestamp():.6f}", now.isoformat(), told, undo, failed)


def _new_aside(home: Home, kind: str, target: Path, now: datetime) -> str:
    """The name of a folder that has no such database yet."""
    name = f"{kind}{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    others = (f"{name}-{number}" for number in count(2))
    return next(one for one in chain((name,), others) if not os.path.lexists(home.root / one / target.name))


def _drop_old_aside(home: Home) -> None:
    """A disk that goes bad must not be filled with what was on it."""
    kept = set_aside(home)
    # Each kind by itself: restoring by hand twice must not cost the one damaged file that there is.
    kinds = ([one for one in kept if one.name.startswith(kind)] for kind in (DAMAGED, BEFORE_RESTORE))
    for folder in (old for of_kind in kinds for old in of_kind[:-_MAX_ASIDE]):
        try:
            _empty(folder)
        except OSError:  # no reason not to start
            log.exception("what was set aside is still there", extra={"aside": folder.name})


def _empty(folder: Path, but_for: str = "") -> None:
    """Remove what was put into a folder, but for one and its logs, and the folder if nothing is left; OSError as it
    comes.

    What else is in it is none of ours."""
    for path in folder.iterdir():
        is_kept = bool(but_for) and path.name.startswith(but_for)
        if _FILES_ASIDE.fullmatch(path.name) and not is_kept and (path.is_symlink() or not path.is_dir()):
            path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _time_in(folder: Path) -> str:
    return folder.name.removeprefix(DAMAGED).removeprefix(BEFORE_RESTORE)


def _has_log(path: Path) -> bool:
    """Whether whoever wrote a database last did not close it."""
    log_file = path.with_name(f"{path.name}-wal")
    return log_file.exists() and log_file.stat().st_size > 0


def _was_used(home: Home) -> bool:
    """Whether anything but the inbox tells that there was one."""
    if backup_files.all_in(home.backups) or journal.files(home.spool_kept):
        return True
    if is_blank(home.memory_db):
        return False
    if not_a_file(home.memory_db):
        return True
    try:
        with reading(home.memory_db) as db:
            return change_counter.progress_of(db).done > 0
    except sqlite3.DatabaseError:
        return True


def _furthest(home: Home) -> int:
    """How far memory.db was, by the inbox; 0 when that cannot tell."""
    if is_blank(home.inbox_db):
        return 0
    with reading(home.inbox_db) as db:
        return replay.furthest(db) if "i003_replay" in applied_to(db) else 0
