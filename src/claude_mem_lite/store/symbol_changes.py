"""The tables `symbol_changes` and `renames`.

`symbol_changes` records the changes of turns to functions, classes and files, in order of time.

`renames` records later names of functions that memories mention, as background scans found them: after an edit of a
renamed function, no other trace of the rename is left."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.code.syntax.changes import ABSENT, CodeChange
from claude_mem_lite.models import Turn
from claude_mem_lite.store.branches import Hidden, not_hidden
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

_MAX_OF_A_TURN = 500
_COLUMNS = tuple(field.name for field in fields(CodeChange))


@frozen
class StoredChange:
    """Change that was seen in a session."""

    change: CodeChange
    session: str
    at: datetime


class SymbolRename(NamedTuple):
    """A function or class that was renamed."""

    file: str
    was: str
    name: str


def add(db: sqlite3.Connection, key: str, turn: Turn, branch: str, changes: Sequence[CodeChange], at: datetime) -> None:
    """Store the code changes of a turn, once per turn."""
    db.executemany(
        """insert or ignore into symbol_changes
             (turn, session, project, branch, at, file, name, kind, action, signature, was, before, after)
           values (:turn, :session, :project, :branch, :at, :file, :name, :kind, :action, :signature, :was, :before,
             :after)""",
        [
            {
                "turn": key,
                "session": turn.session,
                "project": turn.project,
                "branch": branch,
                "at": time_to_text(at),
                **asdict(change),
            }
            for change in changes[:_MAX_OF_A_TURN]
        ],
    )


def newest(db: sqlite3.Connection, sessions: Sequence[str], *, hidden: Hidden = (), limit: int) -> list[StoredChange]:
    """Return the newest change of each function and class in these sessions, newest first, under its latest name."""
    visible, branches = not_hidden(hidden, "at")
    rows = db.execute(
        # With max() SQLite takes the other columns from the row with the maximum.
        f"""select *, max(seq) from symbol_changes
            where session in (select value from json_each(:sessions)) and name <> '' and {visible}
            group by project, file, name order by at desc, seq desc limit :limit""",
        {**branches, "sessions": json.dumps(list(sessions)), "limit": limit},
    ).fetchall()
    renamed = {(row["file"], row["was"]): row["seq"] for row in rows if row["was"]}
    return [_from_row(row) for row in rows if renamed.get((row["file"], row["name"]), 0) <= row["seq"]]


def of_session(db: sqlite3.Connection, session: str) -> list[StoredChange]:
    """Return all code changes of a session, in order."""
    rows = db.execute("select * from symbol_changes where session = ? order by seq", (session,))
    return [_from_row(row) for row in rows]


def became(
    db: sqlite3.Connection, project: str, file: str, name: str, body: str, since: datetime | None
) -> dict[str, str]:
    """Return the names of a function of a file since a time, in order, each with its last body.

    A function that had the same body under another name, when a session changed it, was renamed by hand before."""
    rows = db.execute(
        """select name, was, before, after from symbol_changes
             where project = :project and file = :file and name <> '' and at > :since order by seq""",
        {"project": project, "file": file, "since": time_to_text(since) if since else ""},
    )
    bodies = {name: body}
    for row in rows:
        is_same = {row["was"] or row["name"], row["name"]} & bodies.keys()
        if row["after"] != ABSENT and (is_same or (row["before"] != ABSENT and row["before"] in bodies.values())):
            bodies.pop(row["name"], None)  # moves the name to the end
            bodies[row["name"]] = row["after"]
    return bodies


def is_changed_by_other_sessions(
    db: sqlite3.Connection, project: str, session: str, file: str, since: datetime
) -> bool:
    """Return True if another session of a project has changed a file since a time."""
    row = db.execute(
        """select 1 from symbol_changes
             where session in (select id from sessions where project = :project and last_event_at >= :since)
             and session <> :session and file = :file and at >= :since limit 1""",
        {"project": project, "session": session, "file": file, "since": time_to_text(since)},
    ).fetchone()
    return row is not None


def newest_names(db: sqlite3.Connection, project: str, file: str, limit: int) -> list[str]:
    """Return the names of functions and classes that sessions changed in a file, the newest first."""
    rows = db.execute(
        """select name from symbol_changes where project = :project and file = :file and name <> ''
             group by name order by max(seq) desc limit :limit""",
        {"project": project, "file": file, "limit": limit},
    )
    return [row["name"] for row in rows]


def is_elsewhere(db: sqlite3.Connection, project: str, file: str, name: str) -> bool:
    """Return True if sessions changed a function or class of this name, in whatever class, in another file too."""
    row = db.execute(
        """select 1 from symbol_changes
             where project = :project and file <> :file and (name = :name or name like '%.' || :name) limit 1""",
        {"project": project, "file": file, "name": name},
    ).fetchone()
    return row is not None


def renames_since(db: sqlite3.Connection, project: str, since: datetime) -> list[tuple[str, str]]:
    """Return the former and later names of renamed functions and classes of a project, in order, without class
    prefixes."""
    rows = db.execute(
        """select was, name from symbol_changes
             where session in (select id from sessions where project = :project and last_event_at > :since)
             and at > :since and was <> '' and name <> '' order by seq""",
        {"project": project, "since": time_to_text(since)},
    )
    bare = ((row["was"].rpartition(".")[2], row["name"].rpartition(".")[2]) for row in rows)
    return [(was, name) for was, name in bare if was != name]


def forget(db: sqlite3.Connection, *, sessions: Sequence[str] = (), turns: Sequence[str] = ()) -> None:
    """Remove the changes of these sessions and turns."""
    db.executemany("delete from symbol_changes where session = ?", [(session,) for session in sessions])
    db.executemany("delete from symbol_changes where turn = ?", [(turn,) for turn in turns])


def _from_row(row: sqlite3.Row) -> StoredChange:
    return StoredChange(CodeChange(**{name: row[name] for name in _COLUMNS}), row["session"], text_to_time(row["at"]))


def note(db: sqlite3.Connection, memory: str, renames: Iterable[SymbolRename]) -> None:
    """Store renames for a memory, each once."""
    db.executemany(
        "insert or ignore into renames (memory, file, was, name) values (?, ?, ?, ?)",
        [(memory, *rename) for rename in renames],
    )


def of(db: sqlite3.Connection, memory: str, file: str, was: str) -> list[str]:
    """Return the later names of a function that a memory mentions."""
    rows = db.execute(
        "select name from renames where memory = ? and file = ? and was = ? order by name", (memory, file, was)
    )
    return [row["name"] for row in rows]


def forget_renames(db: sqlite3.Connection, memory: str) -> None:
    db.execute("delete from renames where memory = ?", (memory,))
