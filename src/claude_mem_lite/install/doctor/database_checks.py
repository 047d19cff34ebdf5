"""Checks of the databases: soundness, schema version, backups. Reads only."""

import json
import sqlite3
import stat
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from claude_mem_lite.client.worker_process import worker_interpreter
from claude_mem_lite.db import backup_files, change_counter, recovery_log
from claude_mem_lite.db.integrity import damage_of, not_a_file, reading
from claude_mem_lite.db.migrations import applied_to
from claude_mem_lite.db.open_files import foreign_logs
from claude_mem_lite.install.doctor.check import FIX, Check, Name, State
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home, is_closed

BACKUP_AGE = timedelta(days=2)
"""The worker makes one backup a day."""
_KNOWN = (
    "import json; from claude_mem_lite.db import migrations as m; "
    "print(json.dumps([one.__name__ for one in (*m.INBOX_MIGRATIONS, *m.MEMORY_MIGRATIONS)]))"
)


def check_databases(home: Home) -> Sequence[Check]:
    known = _known_steps(home) if home.inbox_db.exists() or home.memory_db.exists() else None
    databases: tuple[tuple[Path, Name], ...] = (home.inbox_db, "inbox.db"), (home.memory_db, "memory.db")
    return [_check_log(home, path, name) or check_database(path, name, known) for path, name in databases]


def _check_log(home: Home, path: Path, name: Name) -> Check | None:
    """Check for a database beside the log of another database; opening would join both."""
    if is_closed(path) or not foreign_logs(path, home.open_files):
        return None
    finding = "replaced or overwritten while a worker used it, or a log that is not its own lies beside it"
    return Check(name, "fail", finding, "run `claude-mem-lite status`: the worker that starts recovers what was lost")


def check_database(path: Path, name: Name, known: Sequence[str] | None = None) -> Check:
    """Check that a database is readable throughout; `known` are the schema steps that the worker knows."""
    if not path.exists():
        return Check(name, "ok", "not made yet")
    if is_closed(path):
        mode = stat.S_IMODE(path.stat().st_mode)
        return Check(name, "fail", f"{path} cannot be read and written by you (mode {mode:03o})", FIX)
    try:
        kind = not_a_file(path)
        if corruption := f"it is {kind}" if kind else damage_of(path, thoroughly=True):
            step = "run `claude-mem-lite worker stop`, then `claude-mem-lite status`: a worker that starts restores it"
            return Check(name, "fail", f"damaged ({corruption})", f"{step}; {path} is kept aside")
        with reading(path) as db:
            newer = sorted(applied_to(db) - set(known)) if known is not None else []
    except sqlite3.Error as error:  # locked or closed: the content is unknown
        step = f"try again; if that does not help, check that {path} and its folder can be read and written"
        return Check(name, "fail", f"cannot be read now ({error})", step)
    if newer:
        finding = f"written by a newer version (it knows {', '.join(newer)})"
        return Check(name, "fail", finding, "upgrade claude-mem-lite, or go back with `claude-mem-lite restore`")
    return Check(name, "ok", f"sound, {path.stat().st_size // 1024:,} KiB")


def check_backups(home: Home, now: datetime) -> Check:
    """Check the age of the newest backup of this memory against the last write of the database, and look briefly for
    unreadable backups."""
    try:
        backups = backup_files.all_in(home.backups)
    except OSError as error:
        return Check("backups", "warn", f"{home.backups} cannot be read ({error.strerror})", "check its permissions")
    if not backups:
        born = _born(home.memory_db)
        if born is not None and now - born > BACKUP_AGE:
            return Check("backups", "warn", "there is none", "run `claude-mem-lite backup`")
        return Check("backups", "ok", "none yet; the worker makes one a day")
    readable = {backup: of for backup in backups if (of := _lineage_of(backup.path))}
    lost = len(backups) - len(readable)
    lineage = change_counter.of_file(home.memory_db)
    usable = [backup for backup, of in readable.items() if of == lineage or not lineage]
    if not usable:
        finding = f"{lost} of {len(backups)} cannot be read" if lost else f"all {len(backups)} are of another memory"
        return Check("backups", "warn", f"none of this memory; {finding}", "run `claude-mem-lite backup`")
    newest = usable[0].made_at
    finding = f"{len(usable)}, the newest of {newest:%Y-%m-%d %H:%M} UTC"
    written = max(_written(path) for path in (home.memory_db, Path(f"{home.memory_db}-wal")))
    if written - newest > BACKUP_AGE and now - newest > BACKUP_AGE:
        return Check("backups", "warn", f"{finding}, though more was stored since", "run `claude-mem-lite backup`")
    if lost:
        step = f"`claude-mem-lite backup --list` names what cannot be read in {home.backups}; you can delete it"
        return Check("backups", "warn", f"{finding}; besides, {lost} cannot be read", step)
    return Check("backups", "ok", finding)


def check_recovery(home: Home, now: datetime) -> Sequence[Check]:
    """Check the last recovery or failed recovery, while recent."""
    recovery = recovery_log.latest(home, now)
    if recovery is None:
        return []
    state: State = "ok" if recovery.was_asked_for and not recovery.failed else "warn"
    finding = f"{datetime.fromisoformat(recovery.at):%Y-%m-%d %H:%M} UTC: {recovery.text.rstrip('.')}"
    return [Check("recovery", state, finding, recovery.undo)]


def newest_event_time(home: Home) -> float | None:
    """Return the time of the newest stored event, by the clock of then; None if unknown."""
    with suppress(sqlite3.Error):
        if home.inbox_db.exists():
            with reading(home.inbox_db) as db:
                value = db.execute("select max(received_at) from inbox").fetchone()[0]
                return float(value) if isinstance(value, int | float) else None
    return None


def _known_steps(home: Home) -> Sequence[str] | None:
    """Return the schema steps that the worker of this home knows; None if the worker's Python cannot run."""
    ran = subprocess.run([worker_interpreter(home), "-I", "-c", _KNOWN], capture_output=True, check=False)
    try:
        steps: JsonValue = json.loads(ran.stdout)
    except ValueError:
        return None
    return [str(step) for step in steps] if isinstance(steps, list) else None


def _lineage_of(backup: Path) -> str:
    """Return the lineage of a backup; '' if a brief look finds it unreadable."""
    with suppress(sqlite3.Error):
        return "" if damage_of(backup, thoroughly=False) else change_counter.of_file(backup)
    return ""


def _born(path: Path) -> datetime | None:
    with suppress(sqlite3.Error, ValueError):
        if path.exists():
            with reading(path) as db:
                value = db.execute("select min(applied_at) from migrations").fetchone()[0]
                born = datetime.fromisoformat(value) if isinstance(value, str) else None
                return born.replace(tzinfo=born.tzinfo or UTC) if born else None
    return None


def _written(path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return datetime.fromtimestamp(0, UTC)
