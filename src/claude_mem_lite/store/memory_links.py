"""The table `conflicts`: pairs of memories that contradict each other, where nothing tells which of them holds.

Only pairs of active memories count: what is retired, replaced or forgotten contradicts nobody any more."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.timestamps import time_to_text


def note(db: sqlite3.Connection, one: str, other: str, now: datetime) -> bool:
    """Two memories contradict each other; False when that is known."""
    first, second = sorted((one, other))
    return bool(
        db.execute(
            "insert or ignore into conflicts (memory, other, noted_at) values (?, ?, ?)",
            (first, second, time_to_text(now)),
        ).rowcount
    )


def of(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The ids of the active memories that contradict each of these, of those that are contradicted at all."""
    wanted = json.dumps(list(ids))
    found: dict[str, list[str]] = {}
    for own, against in (("memory", "other"), ("other", "memory")):
        rows = db.execute(
            f"""select conflicts.{own} as id, conflicts.{against} as against from conflicts
                  join memories as one on one.id = conflicts.{own} and one.status = 'active'
                  join memories as two on two.id = conflicts.{against} and two.status = 'active'
                where conflicts.{own} in (select value from json_each(:ids)) order by two.last_seen_at desc, two.id""",
            {"ids": wanted},
        )
        for row in rows:
            found.setdefault(row["id"], []).append(row["against"])
    return {id_: tuple(others) for id_, others in found.items()}


def drop(db: sqlite3.Connection, id_: str) -> list[str]:
    """A memory no longer contradicts any; returns the ids of those that it did."""
    rows = db.execute(
        "delete from conflicts where memory = :id or other = :id returning memory, other", {"id": id_}
    ).fetchall()
    return [row["other"] if row["memory"] == id_ else row["memory"] for row in rows]
