"""Workers by fork from a process that has imported everything already, so that killing a hundred is affordable.

Run as a program it is that process: each line on its stdin starts a worker and prints its process id."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.running import Machine, wait_until


@dataclass(frozen=True, slots=True)
class WarmWorkers:
    machine: Machine
    process: "subprocess.Popen[str]"

    def start(self) -> int:
        """A new worker's process id; it is still on its way up."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.machine.is_served() and not is_alive(pid), "the worker to die")


@contextmanager
def warm_workers(machine: Machine) -> Iterator[WarmWorkers]:
    process = subprocess.Popen(
        [sys.executable, __file__],
        env={**machine.environment(), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield WarmWorkers(machine, process)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def main() -> None:
    import uvicorn  # noqa: F401

    from claude_mem_lite.paths import find_home
    from claude_mem_lite.worker import app, wiring  # noqa: F401
    from claude_mem_lite.worker.process import run

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead need no burial
    while sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(nowhere, fd)
            os._exit(run(find_home()))
        print(pid, flush=True)


if __name__ == "__main__":
    main()
