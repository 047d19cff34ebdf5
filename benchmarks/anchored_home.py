"""A home full of memories about a made-up repository, stored by the product's own functions.

Their anchors are those that a memory of a new function gets: by the product's own reading of the file."""

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from benchmarks.anchored_repository import MadeRepository
from benchmarks.anchored_sources import path_of
from benchmarks.stage import Stage
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.code.syntax.changes import CodeChange, anchor_to, compare
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.code.syntax.symbols import read_symbols
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.models import WORK_KINDS, Event, Location, Memory, SessionSummary, SymbolChange, Turn
from claude_mem_lite.store import memories, sessions, symbol_changes
from claude_mem_lite.store.ids import short_id

SESSIONS = 500
_MAX_FUNCTIONS = 4
_EVERY = timedelta(minutes=40)
_GUIDANCE_EVERY = 20


def fill(made: Stage, repository: MadeRepository, number: int, branches: Sequence[str]) -> set[tuple[int, int]]:
    """Memories of some functions of a file or two each, newest last; most on main, the others on these branches.

    Returns the functions they tell of, by file and place in it."""
    location = find_location(str(repository.root))
    now = datetime.now(UTC)
    told_of: set[tuple[int, int]] = set()
    with closing(open_for_writing(made.home.memory_db)) as db:
        migrate(db, MEMORY_MIGRATIONS, now)
        with atomic(db):
            for at in range(SESSIONS):
                _store_session(db, at, _on_branch(location, at, branches), now)
            for at in range(number):
                told_of |= _store(db, repository, at, number, _on_branch(location, at % SESSIONS, branches), now)
    return told_of


def _on_branch(location: Location, session: int, branches: Sequence[str]) -> Location:
    """Every third session worked on a branch."""
    return replace(location, branch=branches[session // 3 % len(branches)]) if session % 3 == 0 else location


def _store_session(db: sqlite3.Connection, at: int, location: Location, now: datetime) -> None:
    event = Event(f"n{at}", "Stop", f"s{at}", now - _EVERY * (SESSIONS - at), location.root)
    sessions.touch(db, event, location)
    told = SessionSummary(headline=f"Work on part {at} of the repository", completed=f"Part {at} is done and tested.")
    sessions.set_summary(db, event.session, told, now)


def _store(
    db: sqlite3.Connection, repository: MadeRepository, at: int, number: int, location: Location, now: datetime
) -> set[tuple[int, int]]:
    told = random.Random(at)
    files = told.sample(range(repository.files), told.choice((1, 1, 2)))
    functions = {
        (file, position): change for file in files for position, change in _some_functions(repository, file, told)
    }
    changes = list(functions.values())
    moment = now - _EVERY * SESSIONS * ((number - at) / number)
    session = f"s{at % SESSIONS}"
    names = " and ".join(change.name for change in changes[:2])
    memory = Memory(
        id=short_id(str(at)),
        kind="convention" if at % _GUIDANCE_EVERY == 0 else WORK_KINDS[at % len(WORK_KINDS)],
        title=f"Add {names} to {changes[0].file}",
        summary=f"{names} hold what part {at} needs, so that nothing is counted twice.",
        files=tuple(path_of(file) for file in files),
        symbols=tuple(SymbolChange(change.file, change.name, "new") for change in changes),
        anchors=tuple(map(anchor_to, changes)),
        created_at=moment,
        last_seen_at=moment,
        scope=f"project:{location.project}",
        project=location.project,
        session=session,
        branch=location.branch,
        commit=location.commit,
    )
    memories.put(db, memory, f"turn {at}", moment)
    symbol_changes.add(
        db, f"turn {at}", Turn(f"turn {at}", session, location.project, "", ()), location.branch, changes, moment
    )
    return set(functions)


def _some_functions(repository: MadeRepository, file: int, told: random.Random) -> list[tuple[int, CodeChange]]:
    """Some of a file's functions, as if they were new, with their places."""
    path = path_of(file)
    found = compare(path, (), read_symbols(repository.text(file), language_of(path)) or ())
    named = list(enumerate(change for change in found if change.kind != "class"))
    return told.sample(named, min(told.randint(1, _MAX_FUNCTIONS), len(named)))
