"""Merge of tombstones from one database into another. The tables `tombstones` of memory.db and inbox.db differ in the
name of their first column.

Earlier versions could undo a forget: a row `lifted:NAME` revokes each tombstone of NAME that is not younger. No
current code writes `lifted:` rows."""

import sqlite3
from collections.abc import Iterable
from typing import Literal

Column = Literal["memory", "name"]


def merge(db: sqlite3.Connection, column: Column, names: Iterable[tuple[str, str]]) -> int:
    """Add names of another database, each with its date, and return the number of changed rows."""
    before = db.total_changes
    db.executemany(
        f"""insert into tombstones ({column}, forgotten_at) values (?, ?)
            on conflict ({column}) do update set forgotten_at = excluded.forgotten_at
            where excluded.forgotten_at > tombstones.forgotten_at""",
        list(names),
    )
    db.execute(
        f"""delete from tombstones where exists (select 1 from tombstones as lifted
              where lifted.{column} = 'lifted:' || tombstones.{column}
                and lifted.forgotten_at >= tombstones.forgotten_at)
            and {column} in (select substr({column}, 8) from tombstones
                             where {column} between 'lifted:' and 'lifted;')"""
    )
    return db.total_changes - before


def drop_marks(db: sqlite3.Connection, column: Column, names: Iterable[str]) -> None:
    """Remove the `lifted:` rows of names that are forgotten again, whatever the clock says."""
    db.executemany(f"delete from tombstones where {column} = 'lifted:' || ?", [(name,) for name in names])
