"""kill -9 in the middle of `rebuild --memories`, of the command or of the worker: run again, it comes to the same."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from claude_mem_lite.models import COMPOSER_VERSION
from tests.support.old_memories import age, forget_events, write_sessions
from tests.support.past_sessions import Json
from tests.support.running import COMMAND, WAIT_S, Machine, dump, open_machine, query, wait_until
from tests.worker.commands import run_here

SESSIONS = 10
TURNS = 2 * SESSIONS


def prepare(machine: Machine) -> Machine:
    """Make an aged home, half of whose turns have lost their events."""
    machine.start_worker()
    write_sessions(machine, SESSIONS // 2)
    run_here(machine, "import", "transcripts")
    forget_events(machine)
    write_sessions(machine, SESSIONS)
    run_here(machine, "import", "transcripts")
    age(machine)
    return machine


@pytest.fixture(scope="module")
def in_one_run() -> Json:
    """What one rebuild, left alone, comes to."""
    with open_machine() as machine:
        run_here(prepare(machine), "rebuild", "--memories")
        assert rebuilt(machine) == TURNS
        return outcome(machine)


@pytest.fixture
def aged(machine: Machine) -> Machine:
    return prepare(machine)


def outcome(machine: Machine) -> Json:
    """What is stored, without the times at which memories were retired."""
    retired = query(machine.view.memory_db, "select memory, cause, reason from retirements order by memory")
    return {**dump(machine.view.memory_db, without=("retirements",)), "retired": retired}


def rebuilt(machine: Machine) -> int:
    found = query(
        machine.view.memory_db, f"select count(*) from prompts where text <> '' and composer = {COMPOSER_VERSION}"
    )
    return int(found[0][0])


@contextmanager
def rebuilding(machine: Machine) -> Iterator["subprocess.Popen[bytes]"]:
    command = subprocess.Popen(
        [COMMAND, "rebuild", "--memories"],
        env=machine.environment(),
        cwd=machine.user_home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with command:
        yield command


@pytest.mark.parametrize("turns", [1, 9])
def test_a_rebuild_whose_command_was_killed_is_completed_by_the_next(
    aged: Machine, in_one_run: Json, turns: int
) -> None:
    with rebuilding(aged) as command:
        wait_until(lambda: rebuilt(aged) >= turns, f"{turns} turns")
        command.kill()
    run_here(aged, "rebuild", "--memories")
    assert outcome(aged) == in_one_run


@pytest.mark.parametrize("turns", [1, 9])
def test_a_rebuild_goes_on_with_another_worker_when_its_own_is_killed(
    aged: Machine, in_one_run: Json, turns: int
) -> None:
    with rebuilding(aged) as command:
        wait_until(lambda: rebuilt(aged) >= turns, f"{turns} turns")
        aged.kill_worker()
        assert command.wait(WAIT_S) == 0
    assert outcome(aged) == in_one_run


def test_a_rebuild_of_which_everything_was_killed_again_and_again_is_completed_by_the_next(
    aged: Machine, in_one_run: Json
) -> None:
    for turns in (1, 7, 13):
        if not aged.is_served():
            aged.start_worker()
        with rebuilding(aged) as command:
            wait_until(lambda turns=turns: rebuilt(aged) >= turns, f"{turns} turns")  # type: ignore[misc]
            command.kill()
            aged.kill_worker()
    aged.start_worker()
    run_here(aged, "rebuild", "--memories")
    assert outcome(aged) == in_one_run
