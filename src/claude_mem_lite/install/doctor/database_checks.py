"""The databases: whether they are sound, of a version that this program knows, and backed up. Nothing is changed."""

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
"""The worker makes one a day."""
_KNOWN = (
    "import json; from claude_mem_lite.db import migrations as m; "
    "print(json.dumps([one.__name__ for one in (*m.INBOX_MIGRATIONS, *m.MEMORY_MIGRATIONS)]))"
)


def check_databases(home: Home) -> Sequence[Check]:
    known = _known_steps(home) if home.inbox_db.exists() or home.memory_db.exists() else None
    databases: tuple[tuple[Path, Name], ...] = (home.inbox_db, "inbox.db"), (home.memory_db, "memory.db")
    return [_check_log(home, path, name) or check_database(path, name, known) for path, name in databases]


def _check_log(home: Home, path: Path, name: Name) -> Check | None:
    """A database that lies beside the log of another one; opening it would join the two."""
    if is_closed(path) or not foreign_logs(path, home.open_files):
        return None
    found = "replaced or overwritten while a worker used it, or a log that is not its own lies beside it"
    return Check(name, "fail", found, "run `claude-mem-lite status`: the worker that starts recovers what was lost")


def check_database(path: Path, name: Name, known: Sequence[str] | None = None) -> Check:
    """Whether a database can be read throughout; `known` are the steps of its schema that the worker knows."""
    if not path.exists():
        return Check(name, "ok", "not made yet")
    if is_closed(path):
        mode = stat.S_IMODE(path.stat().st_mode)
        return Check(name, "fail", f"{path} cannot be read and written by you (mode {mode:03o})", FIX)
    try:
        kind = not_a_file(path)
        if damage := f"it is {kind}" if kind else damage_of(path, thoroughly=True):
            step = "run `claude-mem-lite worker stop`, then `claude-mem-lite status`: a worker that starts restores it"
            return Check(name, "fail", f"damaged ({damage})", f"{step}; {path} is kept aside")
        with reading(path) as db:
            newer = sorted(applied_to(db) - set(known)) if known is not None else []
    except sqlite3.Error as error:  # locked, or not to be opened: nothing is known of what is in it
        step = f"try again; if that does not help, look whether {path} and its folder may be read and written"
        return Check(name, "fail", f"cannot be read now ({error})", step)
    if newer:
        found = f"written by a newer version (it knows {', '.join(newer)})"
        return Check(name, "fail", found, "upgrade claude-mem-lite, or go back with `claude-mem-lite restore`")
    return Check(name, "ok", f"sound, {path.stat().st_size // 1024:,} KiB")


def check_backups(home: Home, now: datetime) -> Check:
    """How old the newest backup of this memory is, held against when the database was last written, and whether there
    are any that cannot be read, by a short look at each."""
    try:
        kept = backup_files.all_in(home.backups)
    except OSError as error:
        return Check("backups", "warn", f"{home.backups} cannot be read ({error.strerror})", "look at its permissions")
    if not kept:
        born = _born(home.memory_db)
        if born is not None and now - born > BACKUP_AGE:
            return Check("backups", "warn", "there is none", "run `claude-mem-lite backup`")
        return Check("backups", "ok", "none yet; the worker makes one a day")
    readable = {one: of for one in kept if (of := _lineage_of(one.path))}
    lost = len(kept) - len(readable)
    own = change_counter.of_file(home.memory_db)
    usable = [one for one, of in readable.items() if of == own or not own]
    if not usable:
        found = f"{lost} of {len(kept)} cannot be read" if lost else f"all {len(kept)} are of another memory"
        return Check("backups", "warn", f"none of this memory; {found}", "run `claude-mem-lite backup`")
    newest = usable[0].made_at
    told = f"{len(usable)}, the newest of {newest:%Y-%m-%d %H:%M} UTC"
    written = max(_written(path) for path in (home.memory_db, Path(f"{home.memory_db}-wal")))
    if written - newest > BACKUP_AGE and now - newest > BACKUP_AGE:
        return Check("backups", "warn", f"{told}, though more was stored since", "run `claude-mem-lite backup`")
    if lost:
        step = f"`claude-mem-lite backup --list` names what cannot be read in {home.backups}; you can delete it"
        return Check("backups", "warn", f"{told}; besides, {lost} cannot be read", step)
    return Check("backups", "ok", told)


def check_recovery(home: Home, now: datetime) -> Sequence[Check]:
    """The last time that a database was put back or could not be, while that is news."""
    one = recovery_log.latest(home, now)
    if one is None:
        return []
    state: State = "ok" if one.was_asked_for and not one.failed else "warn"
    told = f"{datetime.fromisoformat(one.at):%Y-%m-%d %H:%M} UTC: {one.text.rstrip('.')}"
    return [Check("recovery", state, told, one.undo)]


def newest_moment(home: Home) -> float | None:
    """When the latest of all stored events came, by the clock of then; None when nothing tells."""
    with suppress(sqlite3.Error):
        if home.inbox_db.exists():
            with reading(home.inbox_db) as db:
                found = db.execute("select max(received_at) from inbox").fetchone()[0]
                return float(found) if isinstance(found, int | float) else None
    return None


def _known_steps(home: Home) -> Sequence[str] | None:
    """The steps that the worker of this home knows; None when it cannot be asked."""
    ran = subprocess.run([worker_interpreter(home), "-I", "-c", _KNOWN], capture_output=True, check=False)
    try:
        told: JsonValue = json.loads(ran.stdout)
    except ValueError:
        return None
    return [str(one) for one in told] if isinstance(told, list) else None


def _lineage_of(backup: Path) -> str:
    """Which memory a backup is of; '' when it cannot be read, as far as a look at its tables tells."""
    with suppress(sqlite3.Error):
        return "" if damage_of(backup, thoroughly=False) else change_counter.of_file(backup)
    return ""


def _born(path: Path) -> datetime | None:
    with suppress(sqlite3.Error, ValueError):
        if path.exists():
            with reading(path) as db:
                found = db.execute("select min(applied_at) from migrations").fetchone()[0]
                born = datetime.fromisoformat(found) if isinstance(found, str) else None
                return born.replace(tzinfo=born.tzinfo or UTC) if born else None
    return None


def _written(path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return datetime.fromtimestamp(0, UTC)
