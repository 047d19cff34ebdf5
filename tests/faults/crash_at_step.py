"""Program that starts a worker's databases on copies of a home and dies by SIGKILL at chosen steps.

`python -m tests.faults.crash_at_step STRIDE FIRST` dies before a file is opened, renamed or removed, and before SQL
statements. Stdin names the homes, a line each, until an empty line; stdout names the copies for the next start."""

import os
import shutil
import signal
import sqlite3
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.composition import open_loop
from tests.support.fakes import FakeEmbedder

_FILE_STEPS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "open")


class Steps:
    """Counts what is done to files and databases, and ends the process at one of these steps."""

    def __init__(self, last: int) -> None:
        self.count = 0
        self._last = last

    def watch(self) -> None:
        sys.addaudithook(self._on_event)
        connect = sqlite3.connect

        def traced(*arguments: Any, **named: Any) -> sqlite3.Connection:
            made: sqlite3.Connection = connect(*arguments, **named)
            made.set_trace_callback(self.step)
            return made

        sqlite3.connect = traced  # type: ignore[assignment]  # in this process, which is about to die

    def step(self, *_: object) -> None:
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1

    def _on_event(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in _FILE_STEPS and not str(arguments[0]).endswith((".py", ".pyc", ".so")):
            self.step()


def start(home: Home, last: int) -> int:
    """Open the databases in a process of its own, which dies at that step; how many there were if it did not."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            steps = Steps(last)
            steps.watch()
            with open_loop(home, embedder=FakeEmbedder()):
                os.write(writer, str(steps.count).encode())
        except Exception:  # noqa: BLE001  the process ends here, and the parent tells that it did
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader, "rb") as file:
        told = file.read()
    return int(told) if told else -1


def die_at_each(home: Path, stride: int, first: int) -> Iterator[Path]:
    whole = home.with_name(f"{home.name}-whole")
    shutil.copytree(home, whole)
    steps = start(Home(whole), -1)
    assert steps > 0, "it cannot be opened at all"
    yield whole
    for last in range(first, steps, stride):
        copy = home.with_name(f"{home.name}-{last}")
        shutil.copytree(home, copy)
        assert start(Home(copy), last) == -1
        yield copy


if __name__ == "__main__":
    for line in sys.stdin:
        for made in die_at_each(Path(line.rstrip("\n")), int(sys.argv[1]), int(sys.argv[2])):
            print(made)
        print(flush=True)
