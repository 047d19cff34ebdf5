"""A home with something remembered in it, ways to damage its files, and looking at what is known afterwards."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from claude_mem_lite.db import backup_files, recovery_log
from claude_mem_lite.limits import Limits
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.support import live_files
from tests.support.fakes import FakeEmbedder
from tests.support.patience import PATIENT
from tests.support.running import leave, query, running_loop, turn

WAIT_S = 60.0
AT_ONCE = replace(PATIENT, backup_quiet_s=-1.0)
"""Limits of a worker that makes due backups without waiting for a quiet moment."""


class Moment:
    """A clock that the test moves on."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **how_far: float) -> None:
        self.now += timedelta(**how_far)


@contextmanager
def worked(home: Home, clock: Moment | None = None, limits: Limits = PATIENT) -> Iterator[Services]:
    """The job loop over a home, once everything that waits is done."""
    with running_loop(home, clock or Moment(), embedder=FakeEmbedder(), limits=limits) as loop:
        assert loop.passes.wait_until_idle(WAIT_S, flush=True)
        yield loop


def do(home: Home, loop: Services, *prompts: str, session: str = "s-1") -> None:
    """A turn for each of these, seen by hooks and stored."""
    for prompt in prompts:
        for given in turn(session, prompt):
            leave(home, given)
    assert loop.passes.wait_until_idle(WAIT_S, flush=True)


def back_up(loop: Services) -> Path:
    made = loop.backups.make_soon()
    loop.writes.wake()
    return made.result(WAIT_S).path


def remember(loop: Services, text: str) -> str:
    """What `remember` does; the id."""
    told = {"command": "remember", "kind": "note", "text": text, "cwd": "/"}
    (id_,) = loop.commands.put(told).result(WAIT_S)
    return id_


def forget(loop: Services, *ids: str) -> None:
    loop.commands.put({"command": "forget", "ids": list(ids)}).result(WAIT_S)


def prompts(home: Home) -> set[str]:
    """What was asked, as memory.db has it."""
    return {text for (text,) in query(home.memory_db, "select text from prompts where text <> ''")}


def notes(home: Home) -> set[str]:
    """What was remembered by command."""
    return {text for (text,) in query(home.memory_db, "select summary from memories where kind = 'note'")}


def told(home: Home) -> str:
    """All that the user is told of recoveries."""
    return "\n".join(recovery_log.sentence(one) for one in recovery_log.all_of(home))


def aside(home: Home) -> list[str]:
    """The files that were set aside."""
    found = [path for path in live_files.modes(home.root) if path.parent.parent == home.root]
    kept = [path for path in found if path.parent.name.startswith(("damaged-", "before-restore-"))]
    return sorted(f"{path.parent.name.rpartition('-')[0]}/{path.name}" for path in kept)


def backup_names(home: Home) -> list[str]:
    return [one.path.name for one in backup_files.all_in(home.backups)]


# Damages: each leaves a file as no SQLite would.


def spoil_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\x00" * 100)


def spoil_page(path: Path) -> None:
    """The first page of the table of memories or events, in the middle of the file."""
    spoil_root(path, "memories" if path.name == "memory.db" else "inbox")


def spoil_root(path: Path, name: str) -> None:
    """The first page of a table or an index."""
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute("select rootpage from sqlite_master where name = ?", (name,)).fetchone()
    overwrite_page(path, root)


def spoil_leaf(path: Path, table: str) -> None:
    """The third page of the rows of a table."""
    with closing(sqlite3.connect(path)) as db:
        (leaf,) = db.execute(
            "select pageno from dbstat where name = ? and pagetype = 'leaf' order by path limit 1 offset 2", (table,)
        ).fetchone()
    overwrite_page(path, leaf)


def overwrite_page(path: Path, number: int) -> None:
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("pragma page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((number - 1) * size)
        file.write(b"\xa5" * size)


def truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def fill_with_garbage(path: Path) -> None:
    path.write_bytes(b"no database, as anybody can see\n" * 1000)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


def put_another_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table shopping (what)")


DAMAGES: tuple[Callable[[Path], None], ...] = (
    spoil_header,
    spoil_page,
    truncate,
    fill_with_garbage,
    empty,
    remove,
    put_another_database,
)


# What was written last is in a log beside the database, until somebody has it reach the file.


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def remove_log(path: Path) -> None:
    log_of(path).unlink()


def cut_log(path: Path) -> None:
    with log_of(path).open("r+b") as file:
        file.truncate(log_of(path).stat().st_size // 2)


def spoil_log(path: Path) -> None:
    with log_of(path).open("r+b") as file:
        file.seek(log_of(path).stat().st_size // 3)
        file.write(b"\xa5" * 5_000)
