"""Events that an inbox lacks, out of the file it replaces and of their copies: each comes back as it was, done or not.

A worker calls it before it opens its databases. What is done, and what memory.db has lost of that, is found by the
counts, as ever (`replaying`)."""

import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.db.integrity import is_of_the_machine, not_a_file, reading
from claude_mem_lite.inbox import journal
from claude_mem_lite.inbox.journal import Copy, Line
from claude_mem_lite.inbox.queue import digest, known_of

_TABLES = ("inbox", "model_turns", "tombstones", "leaving")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _State:
    """How an event stood, by the last that is told of it."""

    status: str
    turn: str = ""
    work: int = 0
    at: float | None = None


@dataclass(frozen=True, slots=True)
class _Told:
    """All that the copies tell, but for the events themselves."""

    names: set[str]
    states: dict[str, _State]
    found: dict[str, str]


def is_behind(db: sqlite3.Connection, folder: Path) -> bool:
    """Whether an inbox does not know what was copied last."""
    last = journal.last_line(folder)
    return last is not None and set(last.names) > known_of(db, last.names)


def copy_readable(old: Path, db: sqlite3.Connection) -> int:
    """Copy the rows of an inbox into a new one, each table up to the first row that cannot be read; return how many
    events they are.

    sqlite3.Error when the new one cannot be written: with a full disk an inbox must not look as if it were empty."""
    if not old.exists() or not_a_file(old):
        return 0
    with atomic(db):
        for table in _TABLES:
            columns = [row["name"] for row in db.execute(f"pragma table_info({table})")]
            marks = ", ".join("?" for _ in columns)
            db.executemany(
                f"insert or ignore into {table} ({', '.join(columns)}) values ({marks})", _rows(old, table, columns)
            )
    (copied,) = db.execute("select count(*) from inbox").fetchone()
    return int(copied)


def _rows(old: Path, table: str, columns: Sequence[str]) -> Iterator[tuple[object, ...]]:
    try:
        with reading(old) as db:
            for row in db.execute(f"select {', '.join(columns)} from {table}"):
                yield tuple(row)
    except sqlite3.DatabaseError as error:
        if is_of_the_machine(error):
            raise
        log.warning("a table cannot be read to its end", extra={"table": table})


def put_back(db: sqlite3.Connection, folder: Path) -> int:
    """Add the events that an inbox has lost, and tell it of those that it takes for undone; returns how many it had
    lost."""
    told = _read(folder)
    names, states = told.names, told.states
    lost = names - known_of(db, names)
    with atomic(db):
        for line in journal.all_lines(folder) if lost else ():
            if line.kind == "event" and line.names[0] in lost:
                _add(db, line.copy(), states)
        _end(db, {name: state for name, state in states.items() if name in names and name not in lost})
        db.executemany(
            "update inbox set found = :found where name = :name and found = ''",
            [{"name": name, "found": found} for name, found in told.found.items()],
        )
        if lost:
            _sort(db, min(lost))
    return len(lost)


def _read(folder: Path) -> _Told:
    names: set[str] = set()
    states: dict[str, _State] = {}
    found: dict[str, str] = {}
    for line in journal.all_lines(folder):
        if line.kind == "event":
            names.update(line.names)
        elif line.kind == "done":
            states.update(_ended(line))
        elif line.kind == "found":
            found[line.names[0]] = line.told.decode()
        else:
            after = line.after()
            again = {name: state for name, state in states.items() if state.work > after}
            states.update({name: replace(state, status="raw", at=None) for name, state in again.items()})
    return _Told(names, states, found)


def _ended(line: Line) -> dict[str, _State]:
    done = line.done()
    skipped = set(done.skipped)
    return {
        name: _State("skipped" if name in skipped else "done", done.turn, done.work, done.at) for name in line.names
    }


def _add(db: sqlite3.Connection, copy: Copy, states: Mapping[str, _State]) -> None:
    as_it_came = _State("error", at=copy.received_at) if copy.problem else _State("raw")
    state = states.get(copy.name, as_it_came)
    # Twice under one name: what could not be read at first could be later.
    db.execute(
        """insert or replace into inbox (name, event, session, payload, digest, raw_bytes, received_at, reason, status,
               turn, work, finished_at)
           values (:name, :event, :session, :payload, :digest, :raw_bytes, :received_at, :reason, :status,
               :turn, :work, :at)""",
        {
            "name": copy.name,
            "event": copy.event,
            "session": copy.session,
            "payload": copy.payload,
            "digest": digest(copy.session, copy.event, copy.payload),
            "raw_bytes": copy.raw_bytes,
            "received_at": copy.received_at,
            "reason": copy.problem,
            "status": state.status,
            "turn": state.turn,
            "work": state.work,
            "at": state.at,
        },
    )


def _end(db: sqlite3.Connection, states: Mapping[str, _State]) -> None:
    """Have an inbox that lost its last writes know again what was done: half a turn must not be told as a whole one."""
    db.executemany(
        """update inbox set status = :status, turn = :turn, work = :work, finished_at = :at
           where name = :name and status in ('raw', 'processing') and work = 0""",
        [
            {"name": name, "status": one.status, "turn": one.turn, "work": one.work, "at": one.at}
            for name, one in states.items()
        ],
    )


def _sort(db: sqlite3.Connection, first: str) -> None:
    """Number what came from some event on anew, in the order in which hooks saw it: what was lost may have come before
    what was not, and turns are made of events in the order of their numbers."""
    (highest,) = db.execute("select max(id) from inbox").fetchone()
    db.execute(
        """with sorted as (select id, row_number() over (order by name) as place from inbox where name >= :first)
           update inbox set id = -(:highest + sorted.place) from sorted where inbox.id = sorted.id""",
        {"first": first, "highest": highest},
    )
    db.execute("update inbox set id = -id where id < 0")
