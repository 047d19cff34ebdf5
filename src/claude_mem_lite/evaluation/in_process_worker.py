"""Worker in this process, on the socket of a temporary home, with a settable clock. For evaluation and benchmarks.

The worker has no limits of time: the same sessions give the same answers, however busy the machine is."""

import http.client
import logging
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import is_answering, wait_until
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.limits import UNLIMITED
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.api.app import LANES, App
from claude_mem_lite.worker.composition import open_loop
from claude_mem_lite.worker.http.server import Server
from claude_mem_lite.worker.services import Services

_START_S = 30.0
PATIENCE_S = 3600.0
"""Wait for one answer: too short only for a worker that hangs."""
TRY_LATER = "run this again when the machine is less busy"
# A walk drains the queue hundreds of times, and waits for nothing else meanwhile.
_DRAIN_POLL_S = 0.01


class WalkClient(Client):
    """Client that waits for an answer on the busiest machine."""

    __slots__ = ()

    def _patience(self, timeout_s: float) -> float:
        return max(timeout_s, PATIENCE_S)


class Problems(logging.Handler):
    """Counter of warnings and errors of the worker by message. Reports name them: a failed layer is missing in the
    figures."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.counts: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        self.counts[record.msg] += 1


@contextmanager
def noted_problems() -> Iterator[Problems]:
    """Yield the problems that the package logs meanwhile."""
    problems, log = Problems(), logging.getLogger("claude_mem_lite")
    log.addHandler(problems)
    try:
        yield problems
    finally:
        log.removeHandler(problems)


class SettableClock:
    """Clock of a worker that replays the past."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


@contextmanager
def served(home: Home, clock: SettableClock) -> Iterator[Services]:
    """Yield the services of a running worker: jobs in one thread, the API on the home's socket in another."""
    limits = replace(UNLIMITED, drain_poll_s=_DRAIN_POLL_S)
    with open_loop(home, clock, limits=limits, is_throwaway=True) as loop:
        server = Server(_listener(home), App(loop.services, lambda: None), LANES)
        threads = [threading.Thread(target=loop.run), threading.Thread(target=server.serve)]
        try:
            for thread in threads:
                thread.start()
            if not wait_until(lambda: is_answering(Client(home)), Deadline.after(_START_S)):
                raise MemoryLiteError(f"the worker of the walk did not answer in {_START_S:.0f} s", TRY_LATER)
            yield loop.services
        finally:
            server.stop()
            loop.services.shutdown.stop()
            for thread in threads:
                if thread.is_alive():  # else it may never have been started
                    thread.join()
            home.socket.unlink(missing_ok=True)


def _listener(home: Home) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(home.socket))
    listener.listen()
    return listener


def send_hook(home: Home, event: str, name: str, body: bytes = b"") -> bytes:
    """Return the answer of the worker to the hook of an event."""
    connection = http.client.HTTPConnection("localhost", timeout=PATIENCE_S)
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.sock.connect(str(home.socket))
    connection.request("POST", f"/hook/{event}", body=body, headers={"X-Spool": name})
    answer = connection.getresponse().read()
    connection.close()
    return answer
