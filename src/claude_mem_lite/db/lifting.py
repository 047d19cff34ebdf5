"""Tombstones that were lifted: what was forgotten and stored again on the user's word. For the tables `tombstones` of
both databases, which differ in the name of their first column.

A mark takes the place of the tombstone and keeps a date of its own. Of the two the later counts, so a database of an
older day neither buries again what came back, nor brings back what was forgotten after that."""

import sqlite3
from collections.abc import Iterable
from datetime import timedelta
from typing import Literal

from claude_mem_lite.timestamps import text_to_time, time_to_text

Column = Literal["memory", "name"]
_MARK = "lifted:"
_MARKS = "between 'lifted:' and 'lifted;'"


def mark(name: str) -> str:
    """The name by which it is known that the tombstone of this one was lifted."""
    return _MARK + name


def put(db: sqlite3.Connection, column: Column, names: Iterable[tuple[str, str]]) -> int:
    """Add names and marks that another database has, each with its date; returns how much that changed."""
    before = db.total_changes
    db.executemany(
        f"""insert into tombstones ({column}, forgotten_at) values (?, ?)
            on conflict ({column}) do update set forgotten_at = excluded.forgotten_at
            where excluded.forgotten_at > tombstones.forgotten_at""",
        list(names),
    )
    db.execute(
        f"""delete from tombstones where exists (select 1 from tombstones as lifted
              where lifted.{column} = '{_MARK}' || tombstones.{column}
                and lifted.forgotten_at >= tombstones.forgotten_at)
            and {column} in (select substr({column}, {len(_MARK) + 1}) from tombstones where {column} {_MARKS})"""
    )
    return db.total_changes - before


def marks(db: sqlite3.Connection, column: Column) -> dict[str, str]:
    """The names whose tombstones were lifted, and when."""
    rows = db.execute(f"select {column}, forgotten_at from tombstones where {column} {_MARKS}")
    return {row[0].removeprefix(_MARK): row[1] for row in rows}


def later(at: str, lifted_at: str | None) -> str:
    """The date of a tombstone that is set now: after any lifting, also when the clock was set back since."""
    if lifted_at is None or at > lifted_at:
        return at
    return time_to_text(text_to_time(lifted_at) + timedelta(microseconds=1))
