"""What goes wrong around a worker: it says so, loses nothing, and goes on when the trouble is over."""

import os
import sqlite3
from contextlib import closing

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.api.app import App
from claude_mem_lite.worker.services import Services
from tests.faults.losses import spoil_root
from tests.support.app_client import AppClient
from tests.support.running import Machine, leave, query, spool_name, turn, wait_until
from tests.worker.conftest import SetClock
from tests.worker.in_process import asked


def test_a_worker_that_starts_while_the_inbox_is_locked_says_so_and_goes_on_afterwards(machine: Machine) -> None:
    machine.start_worker()
    machine.stop_worker()
    with closing(sqlite3.connect(machine.home.inbox_db, isolation_level=None)) as other:
        other.execute("begin immediate")
        for event in turn("s-1", "work"):
            leave(machine.home, event)
        machine.start_worker()
        wait_until(lambda: machine.get("/api/health")["status"] == "degraded", "word of the trouble")
        assert "OperationalError" in machine.get("/api/health")["problem"]
        other.execute("rollback")
    drained = machine.drain()
    assert drained["done"] + drained["skipped"] == len(turn("s-1", "work"))
    assert machine.get("/api/health")["status"] == "ok"


def test_an_event_sent_along_is_on_disk_before_it_is_answered(home: Home, loop: Services) -> None:
    home.config.write_text("nonsense = 1\n")
    assert loop.passes.wait_until_idle(30)
    name = spool_name("Stop")
    loop.intake.hold(name, b'{"session_id": "s-1", "hook_event_name": "Stop"}')
    assert (home.spool_new / name).exists()


def test_an_event_from_the_future_does_not_stay_the_newest_for_years(
    home: Home, loop: Services, clock: SetClock
) -> None:
    ahead = int((clock().timestamp() + 3 * 365 * 86400) * 1e9)
    for number, event in enumerate(turn("s-ahead", "work with a wrong clock")):
        leave(home, event, name=spool_name(event["hook_event_name"], ahead + number))
    assert loop.passes.wait_until_idle(30)
    ((last,),) = query(home.memory_db, "select last_event_at from sessions")
    assert last[:4] == str(clock().year)


def test_what_was_rendered_goes_when_folders_are_newly_excluded(home: Home, loop: Services) -> None:
    for event in turn("s-1", "work", cwd=str(home.root)):
        leave(home, event)
    assert loop.passes.wait_until_idle(30)
    assert list(home.rendered.iterdir())
    home.config.write_text(f'exclude = ["{home.root}"]\n')
    assert loop.passes.wait_until_idle(30)
    assert list(home.rendered.iterdir()) == []


def test_a_folder_with_the_name_of_an_event_is_left_alone_and_costs_no_descriptor(home: Home, loop: Services) -> None:
    (home.spool_new / spool_name("Stop")).mkdir()
    assert loop.passes.wait_until_idle(30)
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        assert loop.passes.wait_until_idle(30)
    wait_until(lambda: len(os.listdir("/dev/fd")) <= before, "no more files to be open than before")


def test_whoever_asks_a_damaged_database_hears_that_it_is_being_recovered(home: Home, clock: SetClock) -> None:
    with asked(home, clock) as worker:
        worker.post("/api/memories", {"kind": "note", "text": "The build needs make 4", "cwd": "/"})
        worker.loop.writes.execute_write(lambda db: db.execute("pragma wal_checkpoint(truncate)").fetchone()).result(30)
        spoil_root(home.memory_db, "memories")
        worker.loop.readers.release()  # what they have read before is sound
        client = AppClient(App(worker.loop, worker.loop.shutdown.stop).respond)
        told = client.get("/api/memories", params={"cwd": "/", "all_projects": True})
    assert told.status_code == 500
    assert told.json()["error"] == {
        "code": "damaged",
        "message": "a database is damaged and is being recovered",
        "next_step": "run this again in a moment",
    }
    assert home.suspect.exists()
