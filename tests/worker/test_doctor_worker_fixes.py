"""`doctor --fix` and a real worker: one is started where none runs, and replaced where it must be."""

from pathlib import Path

from claude_mem_lite.install.doctor.fixes import FixResult, apply, find_fixes
from claude_mem_lite.install.doctor.worker_checks import is_socket_open
from tests.support.running import Machine


def mend(machine: Machine) -> list[FixResult]:
    """What was found about the worker, and what became of it."""
    found = find_fixes(machine.home, Path.home() / ".claude" / "settings.json", {})
    return [apply(fix) for fix in found if fix.name in ("worker", "socket")]


def test_a_worker_is_started_and_one_with_an_open_socket_is_replaced(machine: Machine) -> None:
    assert not machine.is_served()
    assert mend(machine) == [FixResult("worker", "start the worker")]
    assert machine.answers()
    first = machine.worker_pid()

    machine.home.socket.chmod(0o666)
    assert is_socket_open(machine.home)
    (done,) = mend(machine)
    assert (done.name, done.failure) == ("socket", "")
    assert machine.answers()
    assert not is_socket_open(machine.home)
    assert machine.worker_pid() != first
    assert mend(machine) == []
