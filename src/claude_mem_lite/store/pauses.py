"""The table `pauses`: a copy of the periods in which memory was off or folders were excluded, for backups to carry.

Called by `worker/pause_watch.py`, which reconciles it with the files of the home."""

import sqlite3
from collections.abc import Iterable

from claude_mem_lite.pauses import Pause

_BASELINE = ""
"""The name of the row that tells when the settings were first read."""


def load(db: sqlite3.Connection) -> dict[str, Pause]:
    """All periods by their names."""
    rows = db.execute("select * from pauses where name <> ?", (_BASELINE,))
    return {
        row["name"]: Pause(row["name"], row["glob"], row["first_ns"], row["last_ns"], bool(row["is_over"]))
        for row in rows
    }


def has_baseline(db: sqlite3.Connection) -> bool:
    """Return whether the settings of this home were read before."""
    return db.execute("select 1 from pauses where name = ?", (_BASELINE,)).fetchone() is not None


def record_baseline(db: sqlite3.Connection, now_ns: int) -> None:
    """Record that from now on it is known when a folder was excluded."""
    db.execute("insert or ignore into pauses values (?, '', ?, ?, 1)", (_BASELINE, now_ns, now_ns))


def put(db: sqlite3.Connection, found: Iterable[Pause]) -> None:
    """Store periods, or what is known of them by now."""
    db.executemany(
        "insert or replace into pauses values (?, ?, ?, ?, ?)",
        [(one.name, one.glob, one.first_ns, one.last_ns, int(one.is_over)) for one in found],
    )
