"""kill -9 in the middle of an import, of the command or of the worker, or a database that is removed meanwhile: run
again, it comes to the same."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support import fake_worker
from tests.support.past_sessions import LONG_AGO, Json, fixed_bug
from tests.support.running import WAIT_S, Machine, dump, open_machine, wait_until

COMMAND = Path(sys.executable).with_name("claude-mem-lite")
SESSIONS = 12
EVENTS_OF_A_SESSION = 10


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("transcripts")
    for number in range(SESSIONS):
        session = fixed_bug(f"s{number}", number, LONG_AGO + timedelta(days=number))
        session.prompt(f"And now the tax of total_{number}").edits(
            "/home/dev/shop/tax.py", "RATE = 5", f"RATE = {number}"
        )
        session.says(f"I decided to keep the rate {number} in one place because total_{number} needs it too.").write(
            folder
        )
    return folder


@pytest.fixture(scope="module")
def in_one_run(transcripts: Path) -> Json:
    """What one import, left alone, comes to."""
    with open_machine() as machine:
        import_all(machine, transcripts)
        assert machine.row_count() == SESSIONS * EVENTS_OF_A_SESSION
        return dump(machine.view.memory_db)


@contextmanager
def importing(machine: Machine, transcripts: Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = subprocess.Popen(
        [COMMAND, "import", "transcripts", transcripts],
        env=machine.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with command:
        yield command


def import_all(machine: Machine, transcripts: Path) -> None:
    """The same command, left alone; a worker is there already."""
    if not machine.is_served():
        machine.start_worker()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CLAUDE_MEM_LITE_HOME", str(machine.home.root))
        assert fake_worker.run("import", "transcripts", str(transcripts)) == 0


def wait_for_events(machine: Machine, share: float) -> None:
    wanted = SESSIONS * EVENTS_OF_A_SESSION * share
    wait_until(lambda: machine.row_count() >= wanted, f"{wanted} events")


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_an_import_whose_command_was_killed_is_completed_by_the_next(
    machine: Machine, transcripts: Path, in_one_run: Json, share: float
) -> None:
    machine.start_worker()
    with importing(machine, transcripts) as command:
        wait_for_events(machine, share)
        command.kill()
    assert machine.row_count() < SESSIONS * EVENTS_OF_A_SESSION
    import_all(machine, transcripts)
    assert dump(machine.view.memory_db) == in_one_run


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_an_import_goes_on_with_another_worker_when_its_own_is_killed(
    machine: Machine, transcripts: Path, in_one_run: Json, share: float
) -> None:
    machine.start_worker()
    with importing(machine, transcripts) as command:
        wait_for_events(machine, share)
        machine.kill_worker()
        assert command.wait(WAIT_S) == 0
    assert dump(machine.view.memory_db) == in_one_run


def test_an_import_of_which_everything_was_killed_is_completed_by_the_next(
    machine: Machine, transcripts: Path, in_one_run: Json
) -> None:
    for share in (0.3, 0.6):
        machine.start_worker()
        with importing(machine, transcripts) as command:
            wait_for_events(machine, share)
            command.kill()
            machine.kill_worker()
    import_all(machine, transcripts)
    assert dump(machine.view.memory_db) == in_one_run


@pytest.mark.parametrize("names", [("memory.db",), ("inbox.db",), ("memory.db", "inbox.db")], ids="+".join)
def test_an_import_under_which_a_database_is_removed_is_completed_by_the_next(
    machine: Machine, transcripts: Path, in_one_run: Json, names: tuple[str, ...]
) -> None:
    machine.start_worker()
    with importing(machine, transcripts) as command:
        wait_for_events(machine, 0.4)
        for name in names:
            (machine.home.root / name).unlink()
        assert command.wait(WAIT_S) in (0, 1)
    machine.run("worker", "drain")
    import_all(machine, transcripts)
    # When a project was first seen depends on the order in which its sessions came.
    wanted = {table: rows for table, rows in in_one_run.items() if table != "projects"}
    assert dump(machine.view.memory_db, without=("projects",)) == wanted
