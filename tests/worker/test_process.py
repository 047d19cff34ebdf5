"""The worker as a process: its files, its lock, its start and its end."""

import fcntl
import http.client
import json
import os
import signal
import socket
import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest

from tests.support import live_files
from tests.support.running import (
    PROC,
    SILENT,
    Machine,
    dump,
    leave,
    open_machine,
    payload,
    processes_with,
    query,
    turn,
    wait_until,
)


@pytest.fixture
def cold() -> Iterator[Machine]:
    """A home whose workers are started as hooks start them, which takes ten times as long as to fork them."""
    with open_machine(is_cold=True) as made:
        yield made


def test_everything_in_the_home_is_private(machine: Machine) -> None:
    machine.start_worker()
    machine.home.config.touch(mode=0o600)
    for given in turn("s-1", "make it private"):
        machine.hook(given["hook_event_name"], given)
    machine.drain()
    modes = live_files.modes(machine.home.root)
    assert stat.S_ISSOCK(modes[machine.home.socket])
    assert {machine.home.inbox_db, machine.home.memory_db, machine.home.worker_log, machine.home.worker_pid} <= set(
        modes
    )
    for path, mode in modes.items():
        if not stat.S_ISLNK(mode):
            assert stat.S_IMODE(mode) == (0o700 if stat.S_ISDIR(mode) else 0o600), path.name
    assert stat.S_IMODE(machine.home.root.stat().st_mode) == 0o700


def test_a_home_that_others_could_read_is_closed_to_them(machine: Machine) -> None:
    machine.home.root.chmod(0o755)
    machine.home.spool_new.chmod(0o777)
    machine.start_worker()
    assert stat.S_IMODE(machine.home.root.stat().st_mode) == 0o700
    assert stat.S_IMODE(machine.home.spool_new.stat().st_mode) == 0o700


def test_a_worker_ends_with_0_and_touches_nothing_while_another_serves_the_home(cold: Machine) -> None:
    with cold.home.worker_lock.open("w") as lock, closing(socket.socket(socket.AF_UNIX)) as listener:
        fcntl.flock(lock, fcntl.LOCK_EX)
        listener.bind(str(cold.home.socket))
        listener.listen()
        assert cold.spawn_worker().wait(30) == 0
    assert cold.home.socket.exists()
    assert not cold.home.inbox_db.exists()


def test_a_worker_waits_for_one_that_is_about_to_end(machine: Machine) -> None:
    """An event that came after the last look of the old one must not wait for the next hook."""
    with machine.home.worker_lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert machine.hook("Stop", payload("Stop")) == SILENT
        mark = f"CLAUDE_MEM_LITE_HOME={machine.home.root}"
        wait_until(lambda: not PROC.is_dir() or len(processes_with(mark)) == 1, "the next worker to be there")
    wait_until(lambda: machine.row_count("status = 'done'") == 1, "the event to be taken in")


def test_the_lock_outlives_the_worker_and_is_never_unlinked(machine: Machine) -> None:
    machine.start_worker()
    inode = machine.home.worker_lock.stat().st_ino
    machine.stop_worker()
    machine.start_worker()
    assert machine.home.worker_lock.stat().st_ino == inode


def test_the_pid_file_names_the_worker_while_it_runs(cold: Machine) -> None:
    worker = cold.start_worker()
    assert int(cold.home.worker_pid.read_text()) == worker.pid
    cold.stop_worker()
    assert not cold.home.worker_pid.exists()
    assert not cold.home.socket.exists()


def test_a_worker_that_is_up_clears_the_note_of_its_start(machine: Machine) -> None:
    machine.home.start_lock.write_text("3 1790000000.000")
    machine.start_worker()
    assert machine.home.start_lock.read_text() == ""


def test_what_the_last_worker_had_under_way_is_worked_on_by_the_next(machine: Machine) -> None:
    machine.start_worker()
    for given in turn("s-1", "half done"):
        leave(machine.home, given)
    machine.drain()
    machine.stop_worker()
    with closing(sqlite3.connect(machine.home.inbox_db)) as db, db:
        db.execute("update inbox set status = 'processing', lease_until = 9e12")
    stored = dump(machine.home.memory_db)

    machine.start_worker()
    wait_until(lambda: machine.row_count("status in ('done', 'skipped')") == 3, "the events to be done again")
    assert dump(machine.home.memory_db) == stored


def test_a_worker_told_to_end_does_not_wait_for_those_who_wait_for_it(machine: Machine) -> None:
    worker = machine.start_worker()
    with closing(sqlite3.connect(machine.home.memory_db)) as db:
        # So that work fails, and is to be tried again later.
        db.execute("create trigger no_room before insert on prompts begin select raise(abort, 'no room'); end")
    leave(machine.home, payload("Stop"))
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(machine.ask, "POST", "/api/drain", {"timeout_s": 3600})
        wait_until(lambda: machine.row_count("attempts = 1 and status = 'raw'") == 1, "the first failure")
        os.kill(worker.pid, signal.SIGTERM)
        assert worker.wait(30) == 0
        with suppress(OSError, http.client.HTTPException, ValueError):
            waiting.result()


def test_a_database_from_a_newer_version_keeps_the_worker_from_starting_and_is_told_in_the_log(
    machine: Machine,
) -> None:
    machine.start_worker()
    machine.stop_worker()
    with closing(sqlite3.connect(machine.home.memory_db)) as db, db:
        db.execute("insert into migrations values ('m999_from_the_future', '2030-01-01')")
    machine.is_cold = True  # how the program itself ends
    assert machine.spawn_worker().wait(30) != 0
    last = machine.log_lines()[-1]
    assert (last["what"], last["error"]) == ("worker failed", "SchemaTooNew")
    assert "upgrade" in last["why"]
    machine.home.worker_python.unlink()
    assert machine.hook("Stop", payload("Stop")) == SILENT
    assert len(machine.spooled()) == 1


def test_the_log_has_one_json_object_a_line_and_nothing_of_what_was_said(machine: Machine) -> None:
    machine.start_worker()
    marker = "xylophonequartz"
    for given in turn("s-1", f"say {marker}"):
        machine.hook(given["hook_event_name"], given)
    machine.hook("Stop", raw=b'{"session_id": "' + marker.encode())
    machine.hook("UserPromptSubmit", payload("UserPromptSubmit", "s-2", f"/no/{marker}", prompt=marker))
    machine.post("/api/memories", {"kind": "note", "text": f"{marker} is a word", "cwd": "/"})
    machine.ask("POST", "/api/memories", {"kind": marker, "text": "x", "cwd": "/"})
    machine.ask("GET", f"/api/memories/{marker}")
    machine.ask("GET", f"/api/search?query={marker}&cwd=/")
    machine.drain()
    assert query(machine.home.inbox_db, f"select count(*) from inbox where payload like '%{marker}%'")[0][0] >= 5
    assert marker not in machine.home.worker_log.read_text()
    for line in machine.home.worker_log.read_text().splitlines():
        assert {"at", "level", "what"} <= set(json.loads(line))


def test_a_worker_whose_home_was_replaced_ends_and_takes_nothing_of_the_new_one(machine: Machine) -> None:
    old = machine.start_worker()
    machine.drain()  # its first look is over: it looks again when it has made sure that the home is its own
    machine.home.root.rename(machine.home.root.with_name("moved-away"))
    machine.home.make()
    names = [leave(machine.home, given) for given in turn("s-new", "work in the new home")]
    assert old.wait(30) == 0
    assert sorted(path.name for path in machine.home.spool_new.iterdir()) == sorted(names)
    machine.start_worker()
    drained = machine.drain()
    assert drained["done"] + drained["skipped"] == len(names)
