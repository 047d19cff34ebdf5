"""A temporary home, the real launcher in a real process, and a hand-written worker on a real socket."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import claude_mem_lite.hook
from claude_mem_lite.paths import Home
from tests.support.running import cannot

LAUNCHER = Path(claude_mem_lite.hook.__path__[0]) / "hook.py"
PYTHON = str(Path(sys.executable).resolve())
GUARD_S = 60
"""Far longer than anything here takes: a hook that hangs fails its test instead of stopping the run."""
PATIENT = f"""
import sys
sys.path.insert(0, {str(LAUNCHER.parent)!r})
import kernel
kernel.ANSWER_WITHIN_S.update(dict.fromkeys(kernel.ANSWER_WITHIN_S, {GUARD_S}))
kernel.UNKEPT_WITHIN_S = {GUARD_S}
with open({str(LAUNCHER)!r}) as file:
    code = compile(file.read(), {str(LAUNCHER)!r}, "exec")
exec(code, {{"__name__": "__main__", "__file__": {str(LAUNCHER)!r}}})
"""


@dataclass(frozen=True)
class Request:
    """One request as the worker saw it; `connection` tells which came by the same connection."""

    line: str
    headers: dict[str, str]
    body: bytes
    connection: int


Answer = Callable[[socket.socket, Request], None]


@dataclass
class Worker:
    """Listens on the home's socket, records every request and answers each as told."""

    home: Home
    answer: Answer
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    closed: int = 0
    """How many connections the hooks have closed."""

    def __post_init__(self) -> None:
        self.stopping = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.home.socket))
        self.listener.listen(64)
        self.listener.settimeout(0.02)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        """Take connections until told to stop and none is waiting."""
        while True:
            try:
                connection, _ = self.listener.accept()
            except TimeoutError:
                if self.stopping.is_set():
                    return
                continue
            connection.settimeout(GUARD_S)
            self.connections += 1
            with connection, contextlib.suppress(OSError):
                while request := read_request(connection, self.connections):
                    self.requests.append(request)
                    self.answer(connection, request)
            self.closed += 1

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join()
        self.listener.close()

    @property
    def lines(self) -> list[str]:
        return [request.line for request in self.requests]


def read_request(connection: socket.socket, number: int) -> Request | None:
    """The next request on a connection, or None when the other side has closed it."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (chunk := connection.recv(1)):
            return None
        data += chunk
    line, *rest = data.decode().strip().split("\r\n")
    headers = dict(header.split(": ", 1) for header in rest)
    body = b""
    while len(body) < int(headers["Content-Length"]):
        if not (chunk := connection.recv(65536)):
            return None
        body += chunk
    return Request(line, headers, body, number)


def reply(status: str, body: bytes) -> Answer:
    """Answer every event with this status and body, and confirmations with nothing."""

    def answer(connection: socket.socket, request: Request) -> None:
        if "printed" not in request.line:
            connection.sendall(b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status.encode(), len(body), body))

    return answer


def silent(connection: socket.socket, request: Request) -> None:
    """Never answer."""


def until(condition: Callable[[], bool]) -> None:
    """Return when another process or thread has made the condition true; fail when it never does."""
    for _ in range(GUARD_S * 100):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("what was waited for never happened")


@dataclass(frozen=True)
class Hooks:
    """Runs the real launcher the way an agent does."""

    home: Home
    user: Path
    launcher: Path = LAUNCHER

    def environment(self, **more: str) -> dict[str, str]:
        base = {"PATH": os.environ["PATH"], "HOME": str(self.user), "CLAUDE_MEM_LITE_HOME": str(self.home.root)}
        return {key: value for key, value in (base | more).items() if value}

    def command(self, *arguments: str, python: str = PYTHON, launcher: Path | None = None) -> list[str]:
        return [python, "-I", "-S", str(launcher or self.launcher), *arguments]

    def run(self, *arguments: str, payload: bytes = b"{}", **environment: str) -> bytes:
        """What the hook printed; it must have ended well and without a word on stderr."""
        done = subprocess.run(
            self.command(*arguments),
            input=payload,
            capture_output=True,
            env=self.environment(**environment),
            cwd=self.user,
            timeout=GUARD_S,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """A hook that waits for its payload."""
        pipe = subprocess.PIPE
        env = self.environment(**environment)
        return subprocess.Popen(self.command(*arguments), stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=self.user)

    def kept(self) -> list[Path]:
        """What lies in the spool, oldest first."""
        return sorted(self.home.spool_new.iterdir()) if self.home.spool_new.is_dir() else []


@pytest.fixture
def user() -> Iterator[Path]:
    """The user's own folder; its name is short because a socket's path must be."""
    folder = Path(tempfile.mkdtemp(prefix="cml-", dir="/tmp")).resolve()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def home(user: Path) -> Iterator[Home]:
    """A home that does not exist yet; what fell back outside of it is removed afterwards."""
    home = Home(user / "data")
    yield home
    for place in home.fallback_spools():
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


@pytest.fixture
def hooks(home: Home, user: Path) -> Hooks:
    return Hooks(home, user)


@pytest.fixture
def patient(home: Home, user: Path) -> Hooks:
    """Hooks that wait for their answer as long as it takes: tests of answers are not about how soon they come."""
    launcher = user / "patient.py"
    launcher.write_text(PATIENT)
    return Hooks(home, user, launcher)


@pytest.fixture
def listen(home: Home) -> Iterator[Callable[[Answer], Worker]]:
    """Put a worker that answers as told on the home's socket."""
    workers: list[Worker] = []

    def listen(answer: Answer) -> Worker:
        home.make()
        workers.append(Worker(home, answer))
        return workers[-1]

    yield listen
    for worker in workers:
        worker.stop()


@pytest.fixture
def in_own_mounts() -> Callable[[str, dict[str, str]], "subprocess.CompletedProcess[str]"]:
    """Run a shell script that may mount what it likes: root can write to anything that is only chmod'ed."""
    tried = subprocess.run(
        ["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        cannot(f"this machine lets us mount nothing in a namespace of our own: {tried.stderr.strip()}")

    def run(script: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["unshare", "-m", "sh", "-ec", script],
            capture_output=True,
            text=True,
            env=environment,
            timeout=GUARD_S,
            check=False,
        )

    return run
