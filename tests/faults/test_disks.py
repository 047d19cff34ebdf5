"""Disks that are full, read-only, missing or not what they should be: events go elsewhere and come back."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from tests.faults.mounts import Mounts, open_mounts
from tests.support.running import HOOK, SILENT, Machine, Ran, payload, wait_until

EVENTS = 5


@pytest.fixture
def mounts() -> Iterator[Mounts]:
    with open_mounts() as made:
        yield made


def test_hooks_on_a_full_disk_keep_events_elsewhere_until_there_is_room(
    machine: Machine, mounts: Mounts, tmp_path: Path
) -> None:
    inside = mounts.home_on_small_disk(machine, "4m")
    ballast = fill(inside.view.root)
    assert send(inside, EVENTS) == [SILENT] * EVENTS
    assert inside.spooled() == []
    assert len(waiting_elsewhere(machine.home)) == EVENTS

    ballast.unlink()
    inside.start_worker()
    inside.drain()
    assert sessions(ended(inside, tmp_path)) == expected(EVENTS)
    assert waiting_elsewhere(machine.home) == []


def test_a_worker_whose_disk_is_full_leaves_events_where_they_are_until_there_is_room(
    machine: Machine, mounts: Mounts, tmp_path: Path
) -> None:
    inside = mounts.home_on_small_disk(machine, "16m")
    inside.start_worker()
    send(inside, 1)
    inside.drain()
    ballast = fill(inside.view.root)
    assert send(inside, EVENTS, size=100_000, first=1) == [SILENT] * EVENTS
    told = inside.post("/api/drain", {"timeout_s": 1.0})
    assert (told["drained"], told["done"]) == (False, 1)
    assert len(waiting_elsewhere(machine.home)) == EVENTS

    ballast.unlink()
    wait_until(lambda: taken_in(inside) == EVENTS + 1, "all events to be taken in")
    inside.drain()
    assert waiting_elsewhere(machine.home) == inside.spooled() == []
    assert sessions(ended(inside, tmp_path)) == expected(EVENTS + 1)
    assert inside.workers_started() == 1


def test_a_command_on_a_full_disk_says_so(machine: Machine, mounts: Mounts) -> None:
    inside = mounts.home_on_small_disk(machine, "16m")
    inside.start_worker()
    fill(inside.view.root)
    shown = inside.run("remember", "Always use pnpm", status=1).stderr
    step = "make room there, then run this again"
    assert shown == f"claude-mem-lite: the disk of {machine.home.root} is full; {step}\n"


def test_a_worker_that_cannot_start_on_a_full_disk_says_so(machine: Machine, mounts: Mounts) -> None:
    inside = mounts.home_on_small_disk(machine, "4m")
    fill(inside.view.root)
    shown = inside.run("remember", "Always use pnpm", status=1).stderr
    assert f"the worker did not start, because the disk of {machine.home.root} is full; make room there" in shown


def test_a_worker_that_starts_on_a_full_disk_takes_all_in_when_there_is_room(
    machine: Machine, mounts: Mounts, tmp_path: Path
) -> None:
    inside = mounts.home_on_small_disk(machine, "4m")
    inside.view.worker_python.unlink()
    assert send(inside, EVENTS) == [SILENT] * EVENTS
    assert len(inside.spooled()) == EVENTS
    ballast = fill(inside.view.root)
    process = inside.spawn_worker()
    wait_until(lambda: inside.answers() or process.poll() is not None, "the worker to try")
    assert len(inside.spooled()) == EVENTS

    ballast.unlink()
    if process.poll() is not None:
        inside.start_worker()
    wait_until(lambda: taken_in(inside) == EVENTS, "all events to be taken in")
    inside.drain()
    assert sessions(ended(inside, tmp_path)) == expected(EVENTS)


def test_hooks_with_a_read_only_home_keep_events_elsewhere(machine: Machine, mounts: Mounts) -> None:
    mounts.read_only(machine.home.root)
    inside = mounts.inside(machine)
    assert send(inside, EVENTS) == [SILENT] * EVENTS
    assert len(waiting_elsewhere(machine.home)) == EVENTS

    machine.start_worker()
    machine.drain()
    assert sessions(machine) == expected(EVENTS)
    assert waiting_elsewhere(machine.home) == []


def test_a_hook_that_can_write_nowhere_hands_its_event_to_the_worker(machine: Machine, mounts: Mounts) -> None:
    machine.start_worker()
    mounts.read_only_everywhere(machine)
    inside = mounts.inside(machine)
    assert send(inside, EVENTS) == [SILENT] * EVENTS
    assert waiting_elsewhere(machine.home) == []

    machine.drain()
    assert sessions(machine) == expected(EVENTS)


def test_a_hook_that_can_write_nowhere_and_finds_no_worker_is_silent(machine: Machine, mounts: Mounts) -> None:
    mounts.read_only_everywhere(machine)
    inside = mounts.inside(machine)
    started = payload("SessionStart", source="startup")
    assert [inside.hook("SessionStart", started), inside.hook("Stop", payload("Stop"))] == [SILENT, SILENT]


def test_hooks_make_a_home_that_is_missing(machine: Machine) -> None:
    shutil.rmtree(machine.home.root)
    command = [os.path.realpath(getattr(sys, "_base_executable", sys.executable)), "-I", "-S", str(HOOK), "Stop"]
    for session in expected(EVENTS):
        given = json.dumps(payload("Stop", session)).encode()
        done = subprocess.run(command, input=given, capture_output=True, env=machine.environment(), timeout=30)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(machine.spooled()) == EVENTS
    assert machine.home.root.stat().st_mode & 0o777 == 0o700

    machine.start_worker()
    machine.drain()
    assert sessions(machine) == expected(EVENTS)


def test_hooks_keep_events_elsewhere_while_the_spool_is_a_file(machine: Machine) -> None:
    spool = machine.home.root / "spool"
    shutil.rmtree(spool)
    spool.write_text("not a folder")
    assert send(machine, EVENTS) == [SILENT] * EVENTS
    assert len(waiting_elsewhere(machine.home)) == EVENTS

    spool.unlink()
    machine.start_worker()
    machine.drain()
    assert sessions(machine) == expected(EVENTS)
    assert waiting_elsewhere(machine.home) == []


@pytest.mark.parametrize("database", ["inbox.db", "memory.db"])
def test_events_are_stored_although_a_database_was_damaged(machine: Machine, database: str) -> None:
    (machine.home.root / database).write_bytes(b"this is no database" * 1000)
    machine.home.worker_python.unlink()
    assert send(machine, EVENTS) == [SILENT] * EVENTS
    machine.start_worker()
    machine.drain()
    assert sessions(machine) == expected(EVENTS)
    assert [path.name for path in machine.home.root.glob("damaged-*/*")] == [database]


def test_a_fallback_place_that_belongs_to_somebody_else_is_not_read(machine: Machine) -> None:
    place = machine.home.fallback_spools()[0]
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    (place / "01790000000000000000-1-00000001-Stop").write_bytes(json.dumps(payload("Stop")).encode())
    machine.start_worker()
    machine.drain()
    assert machine.rows() == []


def send(machine: Machine, events: int, *, size: int = 1000, first: int = 0) -> list[Ran]:
    """Events of as many sessions; what became of each hook."""
    words = "word " * (size // 5)
    given = [payload("Stop", session, last_assistant_message=words) for session in expected(first + events)[first:]]
    return [machine.hook("Stop", one) for one in given]


def expected(events: int) -> list[str]:
    return [f"s-{number:03d}" for number in range(events)]


def sessions(machine: Machine) -> list[str]:
    """The sessions of all events in the inbox, each as often as it is there; all of them worked on."""
    rows = machine.rows()
    assert {row.status for row in rows} == {"done"}
    return sorted(row.session for row in rows)


def taken_in(machine: Machine) -> int:
    """How many events are in the inbox, as the worker tells: only programs inside a namespace can open its files."""
    told = machine.get("/api/queue/stats")
    return sum(int(told[status]) for status in ("raw", "processing", "done", "error", "skipped"))


def ended(inside: Machine, folder: Path) -> Machine:
    """The worker in a namespace has ended, and its inbox is copied to where this process can open it."""
    inside.stop_worker()
    copy = Home(folder / "copy")
    copy.root.mkdir()
    shutil.copy(inside.view.inbox_db, copy.inbox_db)
    return replace(inside, home=copy, view=copy, prefix=(), workers=[])


def waiting_elsewhere(home: Home) -> list[Path]:
    return [path for place in home.fallback_spools() if place.is_dir() for path in place.iterdir()]


def fill(folder: Path) -> Path:
    """Use up every byte of a small disk; removing the file frees them."""
    ballast = folder / "ballast"
    descriptor = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (65536, 4096, 1):
            with suppress(OSError):
                while os.write(descriptor, b"x" * size) == size:
                    pass
    finally:
        os.close(descriptor)
    return ballast
