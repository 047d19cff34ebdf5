"""Worker in this process, on the socket of a temporary home, with a settable clock. For evaluation and benchmarks."""

import http.client
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import is_answering, wait_until
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.limits import LIMITS
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.answers import prompt
from claude_mem_lite.worker.api.app import LANES, App
from claude_mem_lite.worker.composition import open_loop
from claude_mem_lite.worker.http.server import Server
from claude_mem_lite.worker.services import Services

_START_S = 30.0
_HOOK_S = 60.0
_MAX_ATTEMPTS = 20
TRY_LATER = "run this again when the machine is less busy"
# A walk drains the queue hundreds of times, and waits for nothing else meanwhile.
_DRAIN_POLL_S = 0.01


class SettableClock:
    """Clock of a worker that replays the past."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


@contextmanager
def served(home: Home, clock: SettableClock) -> Iterator[Services]:
    """Yield the services of a running worker: jobs in one thread, the API on the home's socket in another."""
    limits = replace(LIMITS, drain_poll_s=_DRAIN_POLL_S)
    with open_loop(home, clock, limits=limits, is_throwaway=True) as loop:
        server = Server(_listener(home), App(loop.services, lambda: None), LANES)
        threads = [threading.Thread(target=loop.run), threading.Thread(target=server.serve)]
        for thread in threads:
            thread.start()
        try:
            if not wait_until(lambda: is_answering(Client(home)), Deadline.after(_START_S)):
                raise MemoryLiteError(f"the worker of the walk did not answer in {_START_S:.0f} s", TRY_LATER)
            yield loop.services
        finally:
            server.stop()
            loop.services.shutdown.stop()
            for thread in threads:
                thread.join()


def _listener(home: Home) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(home.socket))
    listener.listen()
    return listener


def retried_when_late(ask: Callable[[], bytes | None]) -> bytes:
    """Return the answer of the worker; ask again while its search timed out, because a busy machine is no reason to be
    silent. The worker runs in this process and reports a timeout in its log."""
    late = _LateNotes()
    log = logging.getLogger(prompt.__name__)
    log.addHandler(late)
    try:
        for _ in range(_MAX_ATTEMPTS):
            late.is_noted = False
            answer = ask()
            if not late.is_noted:
                return answer or b""
    finally:
        log.removeHandler(late)
    raise MemoryLiteError(f"the search for a prompt timed out {_MAX_ATTEMPTS} times", TRY_LATER)


class _LateNotes(logging.Handler):
    is_noted = False

    def emit(self, record: logging.LogRecord) -> None:
        self.is_noted = self.is_noted or record.levelno >= logging.WARNING


def hook_name(event: str, at: datetime | None = None) -> str:
    """Return the spool name of an event at a time; now if not given."""
    ns = time.time_ns() if at is None else int(at.timestamp() * 1e9)
    return f"{ns:020d}-{os.getpid()}-{os.urandom(4).hex()}-{event}"


def send_hook(home: Home, event: str, name: str, body: bytes = b"") -> bytes:
    """Return the answer of the worker to the hook of an event."""
    connection = http.client.HTTPConnection("localhost", timeout=_HOOK_S)
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.sock.connect(str(home.socket))
    connection.request("POST", f"/hook/{event}", body=body, headers={"X-Spool": name})
    answer = connection.getresponse().read()
    connection.close()
    return answer
