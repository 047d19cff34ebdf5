"""Backups on a disk that has no room for one, that fills up meanwhile, or that does not keep what it was given."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.faults.losses import AT_ONCE, Moment, backup_names, do, spoil_root, worked
from tests.faults.mounts import Mounts, open_mounts
from tests.support.patience import PATIENT
from tests.support.running import Machine, leave, query, turn, wait_until

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FILL = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from claude_mem_lite.db import backup_files as backups

def fill(_):
    with open(Path(sys.argv[2]).parent / "ballast", "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)) == 4096:
                pass
        except OSError:
            pass

backups.make(Path(sys.argv[1]), Path(sys.argv[2]), datetime.now(UTC), fill)
"""


@pytest.fixture
def mounts() -> Iterator[Mounts]:
    with open_mounts() as made:
        yield made


def test_a_backup_waits_for_room_and_a_disk_that_fills_up_meanwhile_keeps_no_half_of_one(
    machine: Machine, mounts: Mounts
) -> None:
    inside = mounts.home_on_small_disk(machine, "24m")
    inside.start_worker()
    for given in turn("s-1", "count the apples"):
        leave(inside.view, given)
    inside.drain()

    ballast = inside.view.root / "ballast"
    ballast.write_bytes(bytes(8 * 2**20))
    refused = inside.ask("POST", "/api/backup", {})
    assert refused.status == 400
    told = refused.body["error"]["message"]
    assert "a backup needs 17 MiB of free disk, 16 of them to spare, and there are 1" in told
    assert list(inside.view.backups.iterdir()) == []

    ballast.unlink()
    ran = subprocess.run(
        [*mounts.prefix, sys.executable, "-c", FILL, str(machine.home.memory_db), str(machine.home.backups)],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert "database or disk is full" in ran.stderr
    assert list(inside.view.backups.iterdir()) == []

    ballast.unlink()
    assert inside.post("/api/backup", {})["sessions"] == 1


def test_a_copy_that_is_not_what_was_written_does_not_become_a_backup(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    before = query(home.memory_db, "select text from prompts")

    def lose(path: Path) -> None:
        if path.is_file():
            spoil_root(path, "memories")

    monkeypatch.setattr(backup_files, "sync", lose)
    with pytest.raises(sqlite3.DatabaseError, match="the copy is damaged"):
        backup_files.make(home.memory_db, home.backups, NOW)
    assert list(home.backups.iterdir()) == []
    assert query(home.memory_db, "select text from prompts") == before


def test_who_is_never_idle_gets_a_backup_a_day_all_the_same(home: Home) -> None:
    clock = Moment()
    with worked(home, clock, AT_ONCE) as loop:
        do(home, loop, "count the apples")
        wait_until(lambda: len(backup_names(home)) == 1, "the first backup")
    with worked(home, clock, replace(PATIENT, backup_quiet_s=inf)) as loop:
        clock.advance(hours=24.5)
        do(home, loop, "count the plums")
        let_backups_be_made(loop)
        assert len(backup_names(home)) == 1, "a quiet moment may still come"
        clock.advance(hours=1)
        do(home, loop, "count the cherries")
        wait_until(lambda: len(backup_names(home)) == 2, "the backup of the day")


def let_backups_be_made(loop: Services) -> None:
    """Until the worker has looked whether one is due, and has made it."""
    for _ in range(2):  # it looks at the end of the pass that the first of these is answered in
        loop.writes.execute_write(lambda _: None).result(30)
    for thread in threading.enumerate():
        if thread.name == "backup":
            thread.join(30)
