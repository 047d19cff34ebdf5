"""The table `pauses`: copy of the periods in which memory was off or folders were excluded, for backups.

Used by `worker/pause_watch.py`, which reconciles the table with the files of the home."""

import sqlite3
from collections.abc import Iterable

from claude_mem_lite.pauses import Pause

_BASELINE = ""
"""Name of the row with the time when the settings were first read."""


def load(db: sqlite3.Connection) -> dict[str, Pause]:
    """Return all periods by name."""
    rows = db.execute("select * from pauses where name <> ?", (_BASELINE,))
    return {
        row["name"]: Pause(row["name"], row["glob"], row["first_ns"], row["last_ns"], bool(row["is_over"]))
        for row in rows
    }


def has_baseline(db: sqlite3.Connection) -> bool:
    """Return True if the settings of this home were read before."""
    return db.execute("select 1 from pauses where name = ?", (_BASELINE,)).fetchone() is not None


def record_baseline(db: sqlite3.Connection, now_ns: int) -> None:
    """Record the time from which exclusions of folders are known."""
    db.execute("insert or ignore into pauses values (?, '', ?, ?, 1)", (_BASELINE, now_ns, now_ns))


def put(db: sqlite3.Connection, pauses: Iterable[Pause]) -> None:
    """Store periods, replacing earlier versions."""
    db.executemany(
        "insert or replace into pauses values (?, ?, ?, ?, ?)",
        [(pause.name, pause.glob, pause.first_ns, pause.last_ns, int(pause.is_over)) for pause in pauses],
    )
