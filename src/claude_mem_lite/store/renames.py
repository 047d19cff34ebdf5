"""The table `renames`: what the functions that memories tell of are called since, as looks at the code found it.

Written by the look in the background: once a renamed function is edited, nothing else tells that it was renamed."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple


class Rename(NamedTuple):
    """A function or class that has another name by now."""

    file: str
    was: str
    name: str


def note(db: sqlite3.Connection, memory: str, renames: Iterable[Rename]) -> None:
    """Keep what a memory's functions are called, each once."""
    db.executemany(
        "insert or ignore into renames (memory, file, was, name) values (?, ?, ?, ?)",
        [(memory, *one) for one in renames],
    )


def of(db: sqlite3.Connection, memory: str, file: str, was: str) -> list[str]:
    """What a function that a memory tells of was called since."""
    rows = db.execute(
        "select name from renames where memory = ? and file = ? and was = ? order by name", (memory, file, was)
    )
    return [row["name"] for row in rows]


def forget(db: sqlite3.Connection, memory: str) -> None:
    db.execute("delete from renames where memory = ?", (memory,))
