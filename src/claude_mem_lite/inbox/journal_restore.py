"""Restore of lost events into an inbox, from the replaced file and from the journal: each as before, finished or not.

A worker calls this module before opening its databases. Finished work that memory.db has lost is found by the counters
(`inbox/replay.py`)."""

import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.db.integrity import is_of_the_machine, not_a_file, reading
from claude_mem_lite.inbox import journal
from claude_mem_lite.inbox.journal import JournalEvent, JournalLine
from claude_mem_lite.inbox.queue import digest, known_of
from claude_mem_lite.values import frozen

_TABLES = ("inbox", "model_turns", "tombstones", "leaving")
log = logging.getLogger(__name__)


@frozen
class _State:
    """State of an event by its last journal line."""

    status: str
    turn: str = ""
    work: int = 0
    at: float | None = None


@frozen
class _JournalContent:
    """Content of the journal, except for the events themselves."""

    names: set[str]
    states: dict[str, _State]
    findings: dict[str, str]


def is_behind(db: sqlite3.Connection, folder: Path) -> bool:
    """Return whether an inbox lacks events of the last journal line."""
    last = journal.last_line(folder)
    return last is not None and set(last.names) > known_of(db, last.names)


def copy_readable(old: Path, db: sqlite3.Connection) -> int:
    """Copy the rows of an inbox into a new inbox, each table up to the first unreadable row; return the number of
    events.

    sqlite3.Error if the new inbox cannot be written: with a full disk, an inbox must not look empty."""
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


def restore_from_journal(db: sqlite3.Connection, folder: Path) -> int:
    """Add the events that an inbox has lost, and update the state of events that it takes for unfinished; return the
    number of lost events."""
    content = _read(folder)
    names, states = content.names, content.states
    lost = names - known_of(db, names)
    with atomic(db):
        for line in journal.all_lines(folder) if lost else ():
            if line.kind == "event" and line.names[0] in lost:
                _add(db, line.event(), states)
        _end(db, {name: state for name, state in states.items() if name in names and name not in lost})
        db.executemany(
            "update inbox set found = :found where name = :name and found = ''",
            [{"name": name, "found": findings} for name, findings in content.findings.items()],
        )
        if lost:
            _sort(db, min(lost))
    return len(lost)


def _read(folder: Path) -> _JournalContent:
    names: set[str] = set()
    states: dict[str, _State] = {}
    findings: dict[str, str] = {}
    for line in journal.all_lines(folder):
        if line.kind == "event":
            names.update(line.names)
        elif line.kind == "done":
            states.update(_ended(line))
        elif line.kind == "found":
            findings[line.names[0]] = line.content.decode()
        else:
            after = line.after()
            again = {name: state for name, state in states.items() if state.work > after}
            states.update({name: replace(state, status="raw", at=None) for name, state in again.items()})
    return _JournalContent(names, states, findings)


def _ended(line: JournalLine) -> dict[str, _State]:
    done = line.finished_unit()
    skipped = set(done.skipped)
    return {
        name: _State("skipped" if name in skipped else "done", done.turn, done.work, done.at) for name in line.names
    }


def _add(db: sqlite3.Connection, event: JournalEvent, states: Mapping[str, _State]) -> None:
    as_it_came = _State("error", at=event.received_at) if event.problem else _State("raw")
    state = states.get(event.name, as_it_came)
    # A name may occur twice: an event unreadable at first was readable later.
    db.execute(
        """insert or replace into inbox (name, event, session, payload, digest, raw_bytes, received_at, reason, status,
               turn, work, finished_at)
           values (:name, :event, :session, :payload, :digest, :raw_bytes, :received_at, :problem, :status,
               :turn, :work, :at)""",
        {**asdict(event), **asdict(state), "digest": digest(event.session, event.event, event.payload)},
    )


def _end(db: sqlite3.Connection, states: Mapping[str, _State]) -> None:
    """Restore the finished state in an inbox that lost its last writes: half a turn must not be processed as a whole
    turn."""
    db.executemany(
        """update inbox set status = :status, turn = :turn, work = :work, finished_at = :at
           where name = :name and status in ('raw', 'processing') and work = 0""",
        [
            {"name": name, "status": state.status, "turn": state.turn, "work": state.work, "at": state.at}
            for name, state in states.items()
        ],
    )


def _sort(db: sqlite3.Connection, first: str) -> None:
    """Renumber all events from a name on, in the order of hooks: lost events may precede others, and turns are made of
    events in the order of numbers."""
    (highest,) = db.execute("select max(id) from inbox").fetchone()
    db.execute(
        """with sorted as (select id, row_number() over (order by name) as place from inbox where name >= :first)
           update inbox set id = -(:highest + sorted.place) from sorted where inbox.id = sorted.id""",
        {"first": first, "highest": highest},
    )
    db.execute("update inbox set id = -id where id < 0")
