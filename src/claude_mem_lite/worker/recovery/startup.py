"""Recovery before a worker opens its databases: finish an interrupted replacement, restore a backup on request, restore
lost inbox events, replace a damaged memory.db by the newest good backup. The caller holds the home's lock."""

import logging
import sqlite3
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

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
from claude_mem_lite.worker.recovery import set_aside

_DAY = "%Y-%m-%d %H:%M UTC"
log = logging.getLogger(__name__)


def prepare(home: Home, now: datetime) -> bool:
    """Make both databases usable, or leave them unchanged to be refused when opened; return whether a database was
    damaged or replaced."""
    home.refuse_closed()  # before SQLite makes logs of the same mode, with which it could not write later
    before = recovery_log.all_of(home)
    has_foreign_logs = False
    _end_replacing(home)
    for target in (home.inbox_db, home.memory_db):
        file_swap.remove_new(target)
        has_foreign_logs = _are_logs_set_aside(home, target, now) or has_foreign_logs
    backup_files.remove_unfinished(home.backups)
    # Before any database is opened, because opening empties the log.
    has_log = _has_log(home.inbox_db) or _has_log(home.memory_db)
    ended_badly = has_log or home.suspect.exists() or home.worker_pid.exists()
    order = _order(home, now)
    _repair_inbox(home, now, ended_badly, is_to_restore=order is not None)
    is_restored = order is not None and _is_restored(home, order, now)
    if not is_restored and (trouble := _trouble_with_memory(home, ended_badly)):
        _recover(home, trouble, now)
    home.open_files.unlink(missing_ok=True)
    set_aside.drop_old(home)
    return has_foreign_logs or recovery_log.all_of(home) != before


def _are_logs_set_aside(home: Home, database: Path, now: datetime) -> bool:
    """Set logs of another database aside: together with the database they give neither the old nor the new state.
    Events that only the logs held are replayed from inbox and journal."""
    logs = foreign_logs(database, home.open_files)
    if not logs:
        return False
    aside = home.root / set_aside.new_name(home, set_aside.DAMAGED, database, now)
    log.error("logs that are not of this database are set aside", extra={"database": database.name})
    aside.mkdir(mode=0o700, exist_ok=True)
    for path in logs:
        path.rename(aside / path.name)
    home.suspect.touch(mode=0o600)  # a worker that is killed from now on leaves a full check to the next worker
    return True


def _order(home: Home, now: datetime) -> Path | None:
    """Return the backup that the user wants restored; None without an order, or with an impossible one."""
    order = file_swap.read_json(home.restore_order)
    if order is None:
        home.restore_order.unlink(missing_ok=True)
        return None
    backup = Path(text(order.get("backup")))
    try:
        backup_files.check(backup)
    except Exception as error:  # noqa: BLE001  else every later worker would fail with it again
        _give_up(home, backup, error, now)
        return None
    return backup


def _is_restored(home: Home, backup: Path, now: datetime) -> bool:
    """Restore a backup; return False when the restore fails and memory.db is unchanged."""
    try:
        _restore(home, backup, now)
    except Exception as error:
        if home.replacing.exists():  # the replacement has begun: this worker or the next finishes it
            raise
        file_swap.remove_new(home.memory_db)
        _give_up(home, backup, error, now)
        return False
    return True


def _give_up(home: Home, backup: Path, error: Exception, now: datetime) -> None:
    """Drop an order, and record the reason."""
    is_expected = isinstance(error, MemoryLiteError)
    log.error("a backup cannot be restored", extra={"backup": backup.name}, exc_info=None if is_expected else error)
    home.restore_order.unlink(missing_ok=True)
    report = f"Nothing was restored, and nothing was changed: {error}."
    recovery_log.add(home, _recovery(now, "restore", report, failed=True))


def _repair_inbox(home: Home, now: datetime, ended_badly: bool, *, is_to_restore: bool) -> None:
    trouble = _trouble_with_inbox(home, ended_badly)
    if not trouble and not (is_to_restore and is_newer(home.inbox_db)):
        _complete_inbox(home, now, ended_badly)
        return
    aside = set_aside.new_name(home, set_aside.DAMAGED if trouble else set_aside.BEFORE_RESTORE, home.inbox_db, now)
    log.error("the inbox is made anew", extra={"aside": aside})
    new = file_swap.new_file(home.inbox_db)
    with closing(open_for_writing(new)) as db:
        migrate(db, INBOX_MIGRATIONS, now)
        saved = journal_restore.copy_readable(home.inbox_db, db)
        given_back = journal_restore.restore_from_journal(db, home.journal_folder)
    report = f"inbox.db {trouble or 'was of a newer version'}, and a new one was begun."
    if home.inbox_db.exists():
        report += f" {recovery_log.kept_in(aside)}; {saved:,} of its events could be read and are in the new one."
    report += f" {given_back:,} events came back from their copies." if given_back else ""
    _replace(home, home.inbox_db, aside, _recovery(now, "inbox", report))


def _trouble_with_inbox(home: Home, ended_badly: bool) -> str:
    """Return the problem of inbox.db; '' when the file is usable, or of a newer version."""
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
    """Restore events that a sound inbox has lost: with its log, or because an old file took its place."""
    if not journal.files(home.journal_folder):
        return
    with closing(open_for_writing(home.inbox_db)) as db:
        if unknown_to(db, INBOX_MIGRATIONS) or not (ended_badly or journal_restore.is_behind(db, home.journal_folder)):
            return
        migrate(db, INBOX_MIGRATIONS, now)
        given_back = journal_restore.restore_from_journal(db, home.journal_folder)
    if given_back:
        log.error("the inbox had lost events", extra={"events": given_back})
        report = "inbox.db had lost what was last written to it."
        report += f" {given_back:,} of its events came back from their copies."
        recovery_log.add(home, _recovery(now, "inbox", report))


def _trouble_with_memory(home: Home, ended_badly: bool) -> str:
    """Return the problem of memory.db; '' when the file is usable, or of a newer version."""
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
    """Replace memory.db by the newest good backup; by a new database when there is no good backup."""
    aside = set_aside.new_name(home, set_aside.DAMAGED, home.memory_db, now)
    log.error("memory.db is recovered", extra={"aside": aside})
    backup = next(backup_files.restorable(home.backups, _own_lineage(home)), None)
    kept = f" {recovery_log.kept_in(aside)}." if home.memory_db.exists() else ""
    step = ""
    if backup is None:
        report = f"memory.db {trouble}, and {_why_no_backup(home)}: a new one was begun.{kept}"
        if (sound := set_aside.newest_sound(home)) is not None:
            step = f"Of before there is a sound one: {recovery_log.restore_command(sound)} puts it in place."
    else:
        report = f"memory.db {trouble}. The backup of {backup.made_at.strftime(_DAY)} was put in its place.{kept}"
    _put_in_place(home, backup.path if backup else None, aside, _recovery(now, "memory", report, undo=step), now)


def _why_no_backup(home: Home) -> str:
    kept = len(backup_files.all_in(home.backups))
    if kept < 2:
        return "the only backup cannot be read" if kept else "there is no backup"
    return f"none of the {kept} backups can be read"


def _restore(home: Home, backup: Path, now: datetime) -> None:
    aside = set_aside.new_name(home, set_aside.BEFORE_RESTORE, home.memory_db, now)
    log.info("a backup is restored", extra={"backup": backup.name, "aside": aside})
    report = f"{backup.name} was put in the place of memory.db."
    undo = ""
    if home.memory_db.exists():
        kept = home.root / aside / home.memory_db.name
        undo = f"What was there is kept: {recovery_log.restore_command(kept)} undoes it."
    _put_in_place(home, backup, aside, _recovery(now, "restore", report, undo=undo), now, by_order=True)


def _put_in_place(
    home: Home, source: Path | None, aside: str, recovery: Recovery, now: datetime, *, by_order: bool = False
) -> None:
    """Prepare the new memory.db completely and in this version, then put the file in place in one step.

    The new file takes over the lineage of the home. From another home, the events that it lacks are unknown, so all
    events are replayed."""
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
        # Beyond all earlier counts: no existing backup holds later transactions.
        counts = [done, _furthest(home), *(backup.done for backup in kept)]
        change_counter.put_progress(db, Progress(max(counts) + 1, replay_after=0 if is_foreign else done))
    _replace(home, home.memory_db, aside, recovery, by_order=by_order)


def _own_lineage(home: Home) -> str:
    """Return the lineage of this home: from the record of a worker that ended badly, else from memory.db; '' if
    unknown."""
    there = "" if not_a_file(home.memory_db) else change_counter.of_file(home.memory_db)
    return recorded_lineage(home.open_files) or there


def _replace(home: Home, target: Path, aside: str, recovery: Recovery, *, by_order: bool = False) -> None:
    note = {**asdict(recovery), "by_order": by_order}
    file_swap.replace(home, Replacement(target.name, aside, note))
    _end_replacing(home)


def _end_replacing(home: Home) -> None:
    """Finish a replacement that this worker or another one has begun, and record the recovery for the user."""
    replaced = file_swap.finish(home)
    if replaced is None:
        home.replacing.unlink(missing_ok=True)
        return
    recovery_log.add(home, recovery_log.from_object(replaced.note))
    if replaced.note.get("by_order") is True:
        home.restore_order.unlink(missing_ok=True)
    prerendered.clear(home)  # rendered contexts hold memories of the old database
    file_swap.end(home)


def _recovery(now: datetime, kind: str, report: str, *, undo: str = "", failed: bool = False) -> Recovery:
    return Recovery(f"{kind}-{now.timestamp():.6f}", now.isoformat(), report, undo, failed)


def _has_log(path: Path) -> bool:
    log_file = path.with_name(f"{path.name}-wal")
    return log_file.exists() and log_file.stat().st_size > 0


def _was_used(home: Home) -> bool:
    """Return whether backups, journal or memory.db show that an inbox existed."""
    if backup_files.all_in(home.backups) or journal.files(home.journal_folder):
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
    """Return the progress of memory.db according to the inbox; 0 if unknown."""
    if is_blank(home.inbox_db):
        return 0
    with reading(home.inbox_db) as db:
        return replay.max_counter(db) if "i003_replay" in applied_to(db) else 0
