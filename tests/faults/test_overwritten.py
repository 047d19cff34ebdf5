"""What another program writes into an open database: an older copy by `cp`, or `drop table`. A running worker notices,
ends without making it worse, and the next one has everything again."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files
from claude_mem_lite.db.connection import empty_log
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.install.doctor.database_checks import check_databases
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.faults.losses import WAIT_S, aside, back_up, do, notes, prompts, remember, told, worked
from tests.support.running import Machine, leave, query, turn

DATABASES = ("memory.db", "inbox.db")
TABLES = (("memory.db", "memories"), ("memory.db", "progress"), ("memory.db", "passages_fts"), ("inbox.db", "inbox"))
EARLY, LATE = "count the plums", "count the pears"
Snapshot = Callable[[Path, Path], None]


def copied_by_sqlite(path: Path, copy: Path) -> None:
    backup_files.copy(path, copy)


def copied_by_cp(path: Path, copy: Path) -> None:
    shutil.copy(path, copy)


def empty_logs(home: Home, loop: Services) -> None:
    """Have both files hold all that was written, as they do after a while."""
    loop.writes.execute_write(empty_log).result(WAIT_S)
    loop.writes.execute_queue_write(lambda queue: queue.empty_log()).result(WAIT_S)


def drop(path: Path, table: str) -> None:
    with closing(sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)) as db:
        db.execute(f"drop table {table}")


@pytest.mark.parametrize("snapshot", [copied_by_sqlite, copied_by_cp])
@pytest.mark.parametrize("has_backup", [True, False])
@pytest.mark.parametrize("name", DATABASES)
def test_what_came_after_an_older_copy_that_was_written_into_the_open_file_is_there_again(
    home: Home, name: str, has_backup: bool, snapshot: Snapshot
) -> None:
    path, older = home.root / name, home.root / "older"
    with worked(home) as loop:
        do(home, loop, EARLY)
        empty_logs(home, loop)
        snapshot(path, older)
        if has_backup:
            back_up(loop)
        do(home, loop, LATE)
        empty_logs(home, loop)
        shutil.copy(older, path)
        assert not loop.passes.wait_until_idle(WAIT_S, flush=True)  # nobody hears that all is done
        assert loop.shutdown.stopping.is_set()
    assert path.read_bytes() == older.read_bytes()  # closing has not joined the log to it
    with worked(home):
        assert prompts(home) == {EARLY, LATE}
    assert f"{name} had lost what was last written to it" in told(home) or has_backup


@pytest.mark.parametrize("name", DATABASES)
def test_an_older_copy_is_seen_by_the_next_worker_when_the_one_that_used_the_file_was_killed(
    machine: Machine, name: str
) -> None:
    path, older = machine.home.root / name, machine.home.root / "older"
    machine.start_worker()
    for prompt in (EARLY, LATE):
        for given in turn("s-1", prompt):
            leave(machine.home, given)
        machine.drain()
        if prompt == EARLY:
            backup_files.copy(path, older)
            machine.stop_worker()
            machine.start_worker()
    machine.kill_worker()
    shutil.copy(older, path)
    assert [one.state for one in check_databases(machine.home) if one.name == name] == ["fail"]
    machine.start_worker()
    machine.drain()
    assert prompts(machine.home) == {EARLY, LATE}
    assert f"damaged/{name}-wal" in aside(machine.home)


@pytest.mark.parametrize("has_backup", [True, False])
@pytest.mark.parametrize(("name", "table"), TABLES)
def test_a_table_that_was_dropped_by_hand_is_damage_from_which_nothing_is_lost(
    home: Home, name: str, table: str, has_backup: bool
) -> None:
    with worked(home) as loop:
        do(home, loop, EARLY)
        if has_backup:
            back_up(loop)
        do(home, loop, LATE)
        drop(home.root / name, table)
        assert not loop.passes.wait_until_idle(WAIT_S, flush=True)
        assert loop.shutdown.stopping.is_set()
    (damaged,) = [one for one in check_databases(home) if one.name == name]
    assert (damaged.state, damaged.found.startswith(f"damaged (the table {table}")) == ("fail", True)
    with worked(home):
        assert prompts(home) == {EARLY, LATE}
    assert f"{name} was damaged (the table {table}" in told(home)
    assert {one.state for one in check_databases(home)} == {"ok"}


def test_a_backup_that_lacks_a_table_is_not_restored(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, EARLY)
        drop(back_up(loop), "passages_fts")
        drop(home.memory_db, "memories")
        loop.writes.wake()
        assert loop.shutdown.stopping.wait(WAIT_S)
    with worked(home):
        assert prompts(home) == {EARLY}
    assert "the only backup cannot be read" in told(home)


def test_a_command_that_meets_damage_is_done_at_once_by_the_next_worker(home: Home) -> None:
    """Without the pause after which a failure is tried again: the clock of this test stands still."""
    with worked(home) as loop:
        do(home, loop, EARLY)

        def put(_: sqlite3.Connection) -> None:
            asked.append(loop.commands.put({"command": "remember", "kind": "note", "text": LATE, "cwd": "/"}))
            drop(home.memory_db, "memories")

        asked: list[object] = []
        loop.writes.execute_write(put).result(WAIT_S)
        assert loop.shutdown.stopping.wait(WAIT_S)
    with worked(home) as loop:
        assert notes(home) == {LATE}
        assert query(home.inbox_db, "select count(*) from inbox where available_at > 0") == [(0,)]


def test_a_table_that_somebody_adds_ends_no_worker(home: Home) -> None:
    with worked(home) as loop:
        with closing(sqlite3.connect(home.memory_db, timeout=WAIT_S, isolation_level=None)) as db:
            db.execute("create table mine (word text)")
            db.execute("pragma wal_checkpoint(passive)")
        do(home, loop, EARLY)
        empty_logs(home, loop)
        remember(loop, "Pears are green")
        assert not loop.shutdown.stopping.is_set()
    with worked(home):
        assert told(home) == ""


def test_a_command_is_refused_when_a_database_was_overwritten(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, EARLY)
        backup_files.copy(home.memory_db, home.root / "older")
        do(home, loop, LATE)
        empty_logs(home, loop)
        shutil.copy(home.root / "older", home.memory_db)
        with pytest.raises(MemoryLiteError):
            remember(loop, "Pears are green")
    with worked(home):
        assert prompts(home) == {EARLY, LATE}
