"""A data folder with real hooks and a real worker, for the tests of the worker and of what can go wrong."""

import fcntl
import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import pytest

import claude_mem_lite
from claude_mem_lite.compress.model.provider_setup import make_provider
from claude_mem_lite.limits import Limits
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import Embedder
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker.composition import open_loop
from claude_mem_lite.worker.models.scheduler import MakeProvider
from claude_mem_lite.worker.services import Services
from claude_mem_lite.worker.shutdown import Package
from tests.support import live_files
from tests.support.folders_in_memory import IN_MEMORY, is_memory_roomy
from tests.support.fork_server import ForkedWorker, fork_worker
from tests.support.patience import PATIENT

COMMAND = Path(sys.executable).with_name("claude-mem-lite")
HOOK = Path(claude_mem_lite.__file__).parent / "hook" / "hook.py"
WAIT_S = 60.0
LATECOMERS_S = 0.5
PROC = Path("/proc")
ON_DISK = Path("/tmp")
Json = Any
Process = subprocess.Popen[bytes] | ForkedWorker
_AN_HOUR_AGO_NS = time.time_ns() - 3600 * 10**9
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a hook ended and what it printed."""

    status: int
    out: bytes
    err: bytes


SILENT = Ran(0, b"", b"")


@dataclass(frozen=True, slots=True)
class InboxRow:
    name: str
    event: str
    session: str
    turn: str
    status: str
    reason: str
    attempts: int
    raw_bytes: int
    payload: str


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Json


@dataclass(slots=True)
class Machine:
    """One home, the hooks that write to it and the worker that serves it.

    `prefix` runs every program in a mount namespace, and `view` is the home as this process sees it there. Workers are
    forked from a process that has imported them, with the modules `also`; `is_cold` has each start by its command."""

    home: Home
    view: Home
    user_home: Path
    prefix: tuple[str, ...] = ()
    is_cold: bool = False
    also: tuple[str, ...] = ()
    workers: list[Process] = field(default_factory=list)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.user_home),
            "CLAUDE_MEM_LITE_HOME": str(self.home.root),
            **(more or {}),
        }

    # Hooks.

    def hook_command(self, event: str) -> list[str]:
        return [*self.prefix, str(self.home.hook_python), "-I", "-S", str(HOOK), event]

    def hook(self, event: str, payload: Json = None, *, raw: bytes | None = None) -> Ran:
        """Run one hook to its end."""
        given = json.dumps(payload).encode() if raw is None else raw
        done = subprocess.run(
            self.hook_command(event), input=given, capture_output=True, env=self.environment(), timeout=WAIT_S
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    # The command line.

    def run(
        self, *arguments: str | Path, cwd: str | Path | None = None, status: int = 0
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, in a folder or else in the user's."""
        done = subprocess.run(
            [*self.prefix, COMMAND, *arguments],
            env=self.environment(),
            cwd=cwd or self.user_home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )
        assert done.returncode == status, done.stderr
        return done

    # The worker.

    def worker_command(self) -> list[str]:
        return [*self.prefix, sys.executable, "-I", "-m", "claude_mem_lite.worker"]

    def spawn_worker(self) -> Process:
        """Start a worker process without waiting for it."""
        is_cold = self.is_cold or self.prefix or not PROC.is_dir()  # macOS forbids forks of what has loaded much
        process = self._spawn_cold() if is_cold else fork_worker(self.environment(), self.also)
        self.workers.append(process)
        return process

    def _spawn_cold(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self.worker_command(),
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def start_worker(self) -> Process:
        """Start a worker and wait until it answers."""
        process = self.spawn_worker()
        wait_until(lambda: self.answers() or process.poll() is not None, "the worker to answer")
        assert process.poll() is None, f"the worker ended with {process.returncode}"
        return process

    def answers(self) -> bool:
        try:
            return self.ask("GET", "/api/health").status == 200
        except (OSError, http.client.HTTPException):
            return False

    def ask(
        self,
        method: str,
        target: str,
        body: Json = None,
        *,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request to the worker, whatever it answers."""
        content = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        kind = {"Content-Type": "application/json"} if content is not None else {}
        with closing(_UnixConnection(self.view.socket)) as connection:
            connection.request(method, target, body=content, headers={**kind, **(headers or {})})
            response = connection.getresponse()
            told = response.read()
        return Answer(response.status, json.loads(told) if told else None)

    def get(self, target: str) -> Json:
        answer = self.ask("GET", target)
        assert answer.status == 200, answer
        return answer.body

    def post(self, target: str, body: Json) -> Json:
        answer = self.ask("POST", target, body)
        assert answer.status == 200, answer
        return answer.body

    def drain(self) -> Json:
        """Wait until the worker has nothing left to do, open turns included."""
        counts = self.post("/api/drain", {"timeout_s": WAIT_S})
        assert counts["drained"], counts
        assert counts["raw"] == counts["processing"] == 0, counts
        return counts

    def stop_worker(self) -> None:
        """End the worker in good order and wait until it has let go of the home."""
        if self.is_served():
            self.post("/api/stop", {})
        wait_until(lambda: not self.is_served(), "the worker to end")
        self.reap()

    def kill_worker(self) -> None:
        """End whatever worker has this home, at once."""
        os.kill(self.worker_pid(), signal.SIGKILL)
        wait_until(lambda: not self.is_served(), "the worker to die")
        self.reap()

    def worker_pid(self) -> int:
        """Return the process that is noted as the worker, once one is."""
        found: list[int] = []

        def is_noted() -> bool:
            found.extend(self._noted_pids())
            return bool(found)

        wait_until(is_noted, "a pid")
        return found[0]

    def _noted_pids(self) -> list[int]:
        try:
            return [int(pid) for pid in self.view.worker_pid.read_text().split()]
        except FileNotFoundError:
            return []

    def is_served(self) -> bool:
        """Whether a worker has this home, by its lock."""
        try:
            handle = os.open(self.view.worker_lock, os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def reap(self) -> None:
        for process in self.workers:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0)

    # What is on disk.

    def rows(self) -> list[InboxRow]:
        """Every event in the inbox, in the order of arrival."""
        names = ", ".join(InboxRow.__slots__)
        return [InboxRow(*row) for row in self.inbox(f"select {names} from inbox order by id")]

    def row_count(self, condition: str = "1") -> int:
        return int(self.inbox(f"select count(*) from inbox where {condition}")[0][0])

    def inbox(self, statement: str) -> Sequence[Sequence[Any]]:
        """Rows of the inbox; asked from inside a namespace, because SQLite follows links out of it."""
        if not self.prefix:
            return query(self.home.inbox_db, statement)
        imports = "import json; from tests.support.running import *"
        program = f"{imports}; print(json.dumps(query(Path({str(self.home.inbox_db)!r}),"
        found = subprocess.run(
            [*self.prefix, sys.executable, "-c", f"{program} {statement!r})))"],
            env={**self.environment(), "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
        )
        if found.returncode and b"NotThereYet" in found.stderr:
            raise NotThereYet(self.home.inbox_db)
        assert found.returncode == 0, found.stderr.decode()
        rows: list[list[Any]] = json.loads(found.stdout)
        return rows

    def spooled(self) -> list[Path]:
        """The events that wait in the spool."""
        return sorted(self.view.spool_new.iterdir()) if self.view.spool_new.is_dir() else []

    def log_lines(self) -> list[Json]:
        lines: list[Json] = []
        for path in sorted(self.view.root.glob("worker.log*"), reverse=True):
            written, _, _ = path.read_text("utf-8").rpartition("\n")  # the last line may be half there
            lines += [json.loads(line) for line in written.splitlines()]
        return lines

    def workers_started(self) -> int:
        return sum(1 for line in self.log_lines() if line["what"] == "worker up")

    def files_with(self, words: str) -> list[str]:
        """The files of the home that hold these words, databases and their logs included."""
        return sorted(path.name for path in live_files.files_with(self.view.root, words.encode()))

    # The end.

    def end(self) -> None:
        """Leave no process behind, also none that a hook has started a moment ago."""
        with suppress(FileNotFoundError):
            self.view.worker_python.unlink()
        # A process that is just becoming a worker has no environment to be known by for a moment.
        until = time.monotonic() + (LATECOMERS_S if self._is_start_noted() else 0)
        while self._kill_all() or time.monotonic() < until:
            time.sleep(0.01)
        for process in self.workers:
            process.wait()

    def _is_start_noted(self) -> bool:
        """Whether a hook has started a worker that did not come up, or not yet."""
        try:
            return bool(self.view.start_lock.read_text())
        except OSError:
            return False

    def _kill_all(self) -> bool:
        """Kill the worker and all that has this home in its environment; whether there was any."""
        found = set(processes_with(f"CLAUDE_MEM_LITE_HOME={self.home.root}"))
        found |= {process.pid for process in self.workers if process.poll() is None}  # no such variable in a fork
        if self.is_served():
            found |= set(self._noted_pids())
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.reap()
        return bool(found)


def processes_with(variable: str) -> list[int]:
    """The processes that have a variable in their environment, where the system tells."""
    found = []
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


@contextmanager
def short_folder(place: Path = ON_DISK) -> Iterator[Path]:
    """A temporary folder with a short name: the path of a Unix socket has some 100 bytes in all."""
    folder = Path(tempfile.mkdtemp(prefix="cml-", dir=place)).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def open_machine(*, is_cold: bool = False) -> Iterator[Machine]:
    """A fresh home, ready for hooks; whatever runs on it is ended afterwards."""
    with short_folder(IN_MEMORY if is_memory_roomy() else ON_DISK) as folder:
        home = Home(folder / "home")
        home.make()
        (folder / "user").mkdir()
        link_interpreters(home)
        machine = Machine(home, home, folder / "user", is_cold=is_cold)
        try:
            yield machine
        finally:
            machine.end()
            for place in home.fallback_spools():
                shutil.rmtree(place, ignore_errors=True)


@contextmanager
def running_loop(
    home: Home,
    clock: Clock,
    make_provider: MakeProvider = make_provider,
    embedder: Embedder | None = None,
    limits: Limits = PATIENT,
    package: Package | None = None,
) -> Iterator[Services]:
    """The services of a worker whose job loop runs in a thread of this process, without HTTP."""
    with open_loop(home, clock, make_provider, embedder, limits, package) as loop:
        jobs = threading.Thread(target=loop.run)
        jobs.start()
        try:
            yield loop.services
        finally:
            loop.services.shutdown.stop()
            jobs.join()


def link_interpreters(home: Home) -> None:
    """The two links that `install` makes."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    home.hook_python.symlink_to(os.path.realpath(base))
    home.worker_python.symlink_to(sys.executable)


def cannot(reason: str) -> NoReturn:
    """Skip what this machine cannot show; where a change is decided upon, that is a failure."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


class NotThereYet(Exception):
    """A database, or a table in it, that somebody has still to make."""


def wait_until(holds: Callable[[], bool], what: str, timeout_s: float = WAIT_S) -> None:
    """Poll until a condition holds; a failure says what was waited for."""
    deadline = time.monotonic() + timeout_s
    while not _holds_by_now(holds):
        assert time.monotonic() < deadline, f"waited {timeout_s} s for {what}"
        time.sleep(0.005)


def _holds_by_now(holds: Callable[[], bool]) -> bool:
    try:
        return holds()
    except NotThereYet:
        return False


def query(path: Path, statement: str) -> Sequence[tuple[Any, ...]]:
    """Rows of a database that another process may be writing; NotThereYet before the database or its table exists."""
    deadline = time.monotonic() + WAIT_S
    while True:
        if not path.is_file():
            raise NotThereYet(path)
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
                return connection.execute(statement).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error) or "unable to open" in str(error):
                raise NotThereYet(path) from error
            # The log of a writer that was killed is mended by the next writer only.
            if "readonly database" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


WRITTEN = ("seq", "stored_at", "told_at")
INDEXED_LATER = ("vectors", "sketches", "unindexed", "derived_by", "sqlite_sequence")
COUNTED = ("migrations", "progress", "pauses")


def dump(path: Path, *, without: Sequence[str] = ()) -> dict[str, list[tuple[Any, ...]]]:
    """What a database holds, table by table, without what only tells when a worker got to write or to index it."""
    tables = [str(name) for (name,) in query(path, "select name from sqlite_master where type = 'table'")]
    kept = [name for name in tables if "_fts_" not in name and name not in (*COUNTED, *INDEXED_LATER, *without)]
    found = {}
    for name in kept:
        columns = [row[1] for row in query(path, f"pragma table_info({name})") if row[1] not in WRITTEN]
        found[name] = sorted(query(path, f"select {', '.join(columns)} from {name}"), key=repr)
    return found


def payload(event: str, session: str = "s-1", cwd: str = "/", **more: Json) -> Json:
    """What the client sends for an event."""
    return {"session_id": session, "cwd": cwd, "hook_event_name": event, **more}


def turn(session: str, prompt: str, *, cwd: str = "/", steps: int = 1) -> list[Json]:
    """The payloads of one whole turn."""
    used = [
        payload(
            "PostToolUse",
            session,
            cwd,
            tool_name="Bash",
            tool_input={"command": f"echo {prompt} {step}"},
            tool_response={"stdout": f"{prompt} {step}", "stderr": "", "interrupted": False},
        )
        for step in range(steps)
    ]
    asked = payload("UserPromptSubmit", session, cwd, prompt=prompt)
    return [asked, *used, payload("Stop", session, cwd, last_assistant_message=f"Finished: {prompt}.")]


def spool_name(event: str, time_ns: int | None = None) -> str:
    """A name as a hook makes it; without a time, later than all before."""
    number = next(_numbers)
    moment = _AN_HOUR_AGO_NS + number * 1_000_000 if time_ns is None else time_ns
    return f"{moment:020d}-{4_194_304 + number}-{number:08x}-{event}"


def leave(home: Home, given: Json, *, event: str = "", name: str = "", raw: bytes | None = None) -> str:
    """Leave an event in the spool as a hook does; returns its name."""
    kind = event or given["hook_event_name"]
    chosen = name or spool_name(kind)
    file = home.root / f"unfinished-{chosen}"  # not in spool/tmp: what a dead process left there is taken in
    file.write_bytes(json.dumps(given).encode() if raw is None else raw)
    file.rename(home.spool_new / chosen)
    return chosen


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=WAIT_S + 10)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(WAIT_S + 10)
        try:
            self.sock.connect(str(self._path))
        except BaseException:
            self.sock.close()
            raise


@contextmanager
def hung(machine: Machine) -> Iterator[None]:
    """While this lasts, the worker is there and answers nobody."""
    pid = machine.worker_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
