"""Workers by fork from a process that has imported everything already: nine tenths of a worker's start are its imports.

Run as a program it is that process. Each line on its stdin asks for a worker, or how one ended."""

import atexit
import gc
import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_EVERY = (
    "claude_mem_lite.search.sign_index",
    "claude_mem_lite.worker.api.app",
    "claude_mem_lite.worker.api.routes",
    "claude_mem_lite.worker.http.server",
    "claude_mem_lite.worker.process",
    "claude_mem_lite.worker.composition",
    "mmap",
    "numpy",
    "numpy.typing",
    "pydantic.plugin._loader",
    "tree_sitter_python",
)
_LOOK_S = 0.005


@dataclass(slots=True)
class _Mother:
    """The process that workers are forked from, started when the first is wanted."""

    process: "subprocess.Popen[str]"
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, request: Mapping[str, object]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with self.lock:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        with self.process:
            pass


@dataclass(slots=True)
class ForkedWorker:
    """A worker process, asked about like one that was started by `subprocess`."""

    pid: int
    mother: _Mother
    returncode: int | None = None

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        if self.returncode is None:
            self.returncode = self.mother.tell({"ended": self.pid})
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        until = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if until is not None and time.monotonic() >= until:
                raise subprocess.TimeoutExpired("a forked worker", timeout or 0)
            time.sleep(_LOOK_S)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


_mothers: list[_Mother] = []


def fork_worker(environment: Mapping[str, str], also: Sequence[str] = ()) -> ForkedWorker:
    """A new worker, still on its way up; `also` names modules that it would import at work."""
    if not _mothers:
        _mothers.append(_start_mother())
    pid = _mothers[0].tell({"environment": dict(environment), "also": list(also)})
    return ForkedWorker(int(pid), _mothers[0])


def _start_mother() -> _Mother:
    process = subprocess.Popen(
        [sys.executable, "-I", __file__],
        env={"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"},  # threads would not live on in a fork
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        start_new_session=True,
    )
    mother = _Mother(process)
    atexit.register(mother.end)
    return mother


def main() -> None:
    for name in _EVERY:
        importlib.import_module(name)
    sys.path.insert(0, str(Path(__file__).parents[2]))
    importlib.import_module("tests.support.patience")
    _compile_patterns()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        told: int | None
        if "ended" in request:
            ended, status = os.waitpid(request["ended"], os.WNOHANG)
            told = os.waitstatus_to_exitcode(status) if ended else None
        else:
            for name in request["also"]:
                importlib.import_module(name)
            told = os.fork()
            if told == 0:
                _become_worker(request["environment"])
        print(json.dumps(told), flush=True)


def _compile_patterns() -> None:
    """What each worker would do with its first turn, for more than all the rest of that turn takes."""
    from claude_mem_lite.lazy_regex import Lazy

    for each in gc.get_objects():
        if isinstance(each, Lazy):
            each.search  # noqa: B018  compiles it


def _become_worker(environment: Mapping[str, str]) -> None:
    """What `python -I -m claude_mem_lite.worker` is, in a session of its own and without an ear or a mouth."""
    from claude_mem_lite.paths import find_home
    from claude_mem_lite.worker.process import run
    from tests.support.patience import PATIENT

    status = 1
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nowhere, fd)
        os.close(nowhere)
        kept = {name: os.environ[name] for name in ("LC_CTYPE",) if name in os.environ}  # set by Python itself
        os.environ.clear()
        os.environ.update({**kept, **environment})
        status = run(find_home(), PATIENT)
        logging.shutdown()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
