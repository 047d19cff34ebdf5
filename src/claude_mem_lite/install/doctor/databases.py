"""The databases: whether they are sound, of a version that this program knows, and backed up. Opened read-only."""

import json
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from claude_mem_lite.install.doctor.check import Check, Name
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home, read_regular
from claude_mem_lite.worker_start import worker_interpreter

BACKUP_AGE = timedelta(days=2)
"""The worker makes one a day."""
TOLD_FOR = timedelta(days=7)
_MOST_BYTES_OF_NOTES = 1024 * 1024
_BACKUP_TIME = "memory-%Y%m%dT%H%M%SZ"
_KNOWN = (
    "import json; from claude_mem_lite.db import migrations as m; "
    "print(json.dumps([one.__name__ for one in (*m.INBOX_MIGRATIONS, *m.MEMORY_MIGRATIONS)]))"
)


def check_databases(home: Home) -> Sequence[Check]:
    known = _known_steps(home) if home.inbox_db.exists() or home.memory_db.exists() else None
    return [check_database(home.inbox_db, "inbox.db", known), check_database(home.memory_db, "memory.db", known)]


def check_database(path: Path, name: Name, known: Sequence[str] | None = None) -> Check:
    """Whether a database can be read throughout; `known` are the steps of its schema that the worker knows."""
    if not path.exists():
        return Check(name, "ok", "not made yet")
    try:
        with _reading(path) as db:
            told = str(db.execute("pragma quick_check(1)").fetchone()[0])
            newer = [step for step in _steps(db) if known is not None and step not in known]
    except sqlite3.Error as error:
        told, newer = str(error), []
    if told != "ok":
        step = "run `claude-mem-lite worker stop`, then `claude-mem-lite status`: a worker that starts restores it"
        return Check(name, "fail", f"damaged or unreadable ({told})", f"{step}; {path} is kept aside")
    if newer:
        found = f"written by a newer version (it knows {', '.join(newer)})"
        return Check(name, "fail", found, "upgrade claude-mem-lite, or go back with `claude-mem-lite restore`")
    return Check(name, "ok", f"sound, {path.stat().st_size // 1024:,} KiB")


def check_backups(home: Home, now: datetime) -> Check:
    """How old the newest backup is, held against when the database was last written."""
    made = [found for path in _files(home.backups) if (found := _time_of(path.name)) is not None]
    written = max((_written(path) for path in (home.memory_db, Path(f"{home.memory_db}-wal"))), default=None)
    if not made:
        born = _born(home.memory_db)
        if born is not None and now - born > BACKUP_AGE:
            return Check("backups", "warn", "there is none", "run `claude-mem-lite backup`")
        return Check("backups", "ok", "none yet; the worker makes one a day")
    newest = max(made)
    told = f"{len(made)}, the newest of {newest:%Y-%m-%d %H:%M} UTC"
    if written is not None and written - newest > BACKUP_AGE and now - newest > BACKUP_AGE:
        return Check("backups", "warn", f"{told}, though more was stored since", "run `claude-mem-lite backup`")
    return Check("backups", "ok", told)


def check_recovery(home: Home, now: datetime) -> Sequence[Check]:
    """The last time that a database was put back or could not be, while that is news."""
    for one in reversed(_recoveries(home)):
        with suppress(ValueError, TypeError):
            at = datetime.fromisoformat(str(one.get("at")))
            if now - at < TOLD_FOR:
                told = f"{at:%Y-%m-%d %H:%M} UTC: {one.get('text')}"
                return [Check("recovery", "warn", told, str(one.get("undo") or ""))]
    return []


def newest_moment(home: Home) -> float | None:
    """When the latest of all stored events came, by the clock of then; None when nothing tells."""
    with suppress(sqlite3.Error):
        if home.inbox_db.exists():
            with _reading(home.inbox_db) as db:
                found = db.execute("select max(received_at) from inbox").fetchone()[0]
                return float(found) if isinstance(found, int | float) else None
    return None


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=5)) as db:
        yield db


def _steps(db: sqlite3.Connection) -> list[str]:
    """The steps that brought a database to its schema; none before there are any."""
    tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
    if "migrations" not in tables:
        return []
    return sorted(str(row[0]) for row in db.execute("select name from migrations"))


def _known_steps(home: Home) -> Sequence[str] | None:
    """The steps that the worker of this home knows; None when it cannot be asked."""
    ran = subprocess.run([worker_interpreter(home), "-I", "-c", _KNOWN], capture_output=True, check=False)
    try:
        told: JsonValue = json.loads(ran.stdout)
    except ValueError:
        return None
    return [str(one) for one in told] if isinstance(told, list) else None


def _born(path: Path) -> datetime | None:
    with suppress(sqlite3.Error, ValueError):
        if path.exists():
            with _reading(path) as db:
                found = db.execute("select min(applied_at) from migrations").fetchone()[0]
                born = datetime.fromisoformat(found) if isinstance(found, str) else None
                return born.replace(tzinfo=born.tzinfo or UTC) if born else None
    return None


def _written(path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return datetime.fromtimestamp(0, UTC)


def _time_of(name: str) -> datetime | None:
    try:
        return datetime.strptime("-".join(name.split("-")[:2]), _BACKUP_TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def _recoveries(home: Home) -> list[dict[str, JsonValue]]:
    try:
        told: JsonValue = json.loads(read_regular(home.recoveries, _MOST_BYTES_OF_NOTES))
    except (OSError, ValueError, RecursionError):
        return []
    kept = told.get("recoveries") if isinstance(told, dict) else None
    return [dict(one) for one in kept if isinstance(one, dict)] if isinstance(kept, list) else []


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.name.endswith(".db")]
    except OSError:
        return []
