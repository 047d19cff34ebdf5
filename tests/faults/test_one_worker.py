"""One worker per home, whatever is in its way, and the way it ends and comes back."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.support.running import SILENT, Machine, Process, leave, payload, turn, wait_until

ANSWERED = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure")
UNANSWERED = ("PreCompact", "SubagentStop", "Stop", "StopFailure", "SessionEnd")


def test_of_workers_started_at_once_one_serves_and_the_others_end_with_0(machine: Machine) -> None:
    for attempt in range(8):
        machine.is_cold = attempt == 1  # those that have all imported already come nearer to each other
        rivals = [machine.spawn_worker() for _ in range(2 + attempt % 3)]
        wait_until(machine.answers, "a worker to answer")
        wait_until(lambda rivals=rivals: len(still_running(rivals)) == 1, "the others to end")  # type: ignore[misc]
        (winner,) = still_running(rivals)
        assert {rival.returncode for rival in rivals if rival is not winner} <= {0}
        assert machine.get("/api/health")["pid"] == winner.pid
        winner.kill()
        winner.wait()
    assert machine.workers_started() == 8


def test_a_hook_starts_a_worker_over_the_socket_a_dead_one_left(machine: Machine) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as stale:
        stale.bind(str(machine.home.socket))
    assert machine.hook("Stop", payload("Stop")) == SILENT
    wait_until(machine.answers, "the worker to answer")
    machine.drain()
    assert [row.status for row in machine.rows()] == ["done"]


def test_a_worker_takes_the_place_of_a_plain_file_at_its_socket(machine: Machine) -> None:
    machine.home.socket.write_text("not a socket")
    assert machine.hook("Stop", payload("Stop")) == SILENT
    wait_until(machine.answers, "the worker to answer")
    machine.drain()
    assert [row.status for row in machine.rows()] == ["done"]


def test_events_wait_in_the_spool_while_a_folder_is_in_the_place_of_the_socket(machine: Machine) -> None:
    machine.home.worker_python.unlink()
    machine.home.socket.mkdir()
    assert machine.hook("Stop", payload("Stop")) == SILENT
    assert machine.spawn_worker().wait(30) != 0
    assert len(machine.spooled()) == 1
    machine.home.socket.rmdir()
    machine.start_worker()
    machine.drain()
    assert [row.status for row in machine.rows()] == ["done"]


def test_hooks_do_not_wait_for_a_hung_worker_and_it_finds_their_events_later(machine: Machine) -> None:
    worker = machine.start_worker()
    with stopped(worker):
        events = (*ANSWERED, *UNANSWERED)
        ran = [machine.hook(event, payload(event, f"s-{event}", prompt="go", tool_name="Bash")) for event in events]
        assert ran == [SILENT] * len(events)
        assert len(machine.spooled()) == len(events)
    machine.drain()
    assert [row.event for row in machine.rows()] == list(events)
    assert machine.workers_started() == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_worker_told_to_end_amid_a_backlog_holds_on_to_nothing(machine: Machine, number: signal.Signals) -> None:
    left = [leave(machine.home, given) for n in range(60) for given in turn(f"s-{n % 7}", f"task {n}")]
    worker = machine.start_worker()
    wait_until(lambda: machine.row_count("status in ('done', 'skipped')") > 10, "some work to be done")
    worker.send_signal(number)
    assert worker.wait(30) == 0
    assert machine.row_count("status = 'processing'") == 0
    assert not machine.home.socket.exists()
    assert not machine.home.worker_pid.exists()

    machine.start_worker()
    machine.drain()
    assert [row.name for row in machine.rows()] == left
    assert machine.row_count("status in ('done', 'skipped')") == len(left)


def test_events_that_come_while_a_worker_ends_are_in_its_last_look_at_the_spool(machine: Machine) -> None:
    worker = machine.start_worker()
    with stopped(worker):
        worker.send_signal(signal.SIGTERM)
        left = [leave(machine.home, given) for given in turn("s-1", "one more thing")]
    assert worker.wait(30) == 0
    assert [row.name for row in machine.rows()] == left
    assert machine.spooled() == []


def test_an_idle_worker_ends_and_the_next_hook_starts_another(machine: Machine) -> None:
    machine.home.config.write_text("idle_exit_s = 1\n")
    for number, session in enumerate(("s-1", "s-2"), 1):
        assert machine.hook("Stop", payload("Stop", session)) == SILENT
        wait_until(lambda number=number: machine.workers_started() == number, "a worker to come")  # type: ignore[misc]
        wait_until(lambda: not machine.is_served(), "the worker to end for want of work")
    assert [(row.session, row.status) for row in machine.rows()] == [("s-1", "done"), ("s-2", "done")]
    assert machine.workers_started() == 2
    assert [line["what"] for line in machine.log_lines()].count("worker down") == 2


def test_a_worker_that_is_asked_something_does_not_count_as_idle(machine: Machine) -> None:
    machine.home.config.write_text("idle_exit_s = 5\n")  # a busy machine may have no time to ask for a second or two
    worker = machine.start_worker()
    now_and_then = threading.Event()
    while (told := machine.get("/api/health"))["uptime_s"] <= 8:
        now_and_then.wait(0.2)
    assert told["pid"] == worker.pid


def still_running(processes: list[Process]) -> list[Process]:
    return [process for process in processes if process.poll() is None]


@contextmanager
def stopped(worker: Process) -> Iterator[None]:
    os.kill(worker.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(worker.pid, signal.SIGCONT)
