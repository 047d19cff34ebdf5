"""A worker that answers what a test tells it to, on a real Unix socket, and a way to run commands against it."""

import fcntl
import json
import os
import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qsl, urlsplit

from claude_mem_lite import __version__
from claude_mem_lite.cli.main import cli, invoke
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home

Answer = tuple[int, JsonValue | bytes]
HEALTH: Mapping[str, JsonValue] = {
    "status": "ok",
    "version": __version__,
    "pid": 4711,
    "uptime_s": 3,
    "queue_depth": 2,
    "observations_today": 1,
    "model": "rules",
    "spend_today": 0.0,
    "last_context_at": None,
    "memories": 5,
    "active": 5,
    "sessions": 1,
}
WAIT_S = 30
COUNTS: Mapping[str, JsonValue] = {"raw": 1, "processing": 1, "done": 7, "error": 0, "skipped": 3}
HIT: dict[str, JsonValue] = {
    "id": "k7f3a9",
    "kind": "bugfix",
    "origin": "assistant",
    "author": "",
    "title": "Fix the token refresh race",
    "summary": "Two refreshes at once\nlogged users out.",
    "session": "s1",
    "project": "github.com/me/shop",
    "created_at": "2026-01-01T00:00:00+00:00",
    "score": 1.5,
    "certain": True,
    "why": ["title has token", "recent"],
}
MEMORY: dict[str, JsonValue] = {
    **HIT,
    "status": "active",
    "detail": "A lock around the refresh.",
    "facts": ["refresh takes 2 s"],
    "files": ["src/auth.py"],
    "tags": ["auth"],
    "scope": "project:github.com/me/shop",
    "last_seen_at": "2026-01-02T00:00:00+00:00",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """One request, as the worker saw it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: JsonValue


@dataclass
class FakeWorker:
    """Answers by method and path; a body in bytes is sent as it is."""

    answers: dict[str, Answer] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    held: set[str] = field(default_factory=set)
    """Paths that are answered only when the worker ends."""
    hang_up: set[str] = field(default_factory=set)
    """Paths that are not answered: the worker is gone."""
    later: dict[str, threading.Event] = field(default_factory=dict)
    """What each of these requests waits for."""

    def answer(self, request: str, body: JsonValue | bytes, status: int = 200) -> None:
        self.answers[request] = (status, body)

    def answer_later(self, request: str, body: JsonValue | bytes) -> threading.Event:
        """Answer so, but not before the event that this returns is set."""
        self.answer(request, body)
        return self.later.setdefault(request, threading.Event())

    def refuse(self, request: str, status: int, code: str, message: str, next_step: str = "") -> None:
        self.answer(request, {"error": {"code": code, "message": message, "next_step": next_step}}, status)

    def last(self, path: str) -> Seen:
        return [each for each in self.seen if each.path == path][-1]


@contextmanager
def fake_worker(home: Home) -> Iterator[FakeWorker]:
    """A worker on the home's socket, with the home's lock, until the block ends or it is told to stop."""
    home.make()
    worker = FakeWorker()
    worker.answer("GET /api/health", HEALTH)
    worker.answer("GET /api/queue/stats", COUNTS)
    worker.answer("GET /api/index/damage", {"damaged": []})
    worker.answer("GET /api/projects/names", {"names": {}})
    worker.answer("POST /api/stop", {"stopping": True})
    lock = os.open(home.worker_lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    server = _serve(home, worker)
    serving = threading.Thread(target=_until_stopped, args=(home, worker, server, lock))
    serving.start()
    try:
        yield worker
    finally:
        worker.stopped.set()
        serving.join()


def run(*arguments: str) -> int:
    """One command line in this process; its exit status."""
    return invoke(cli, "claude-mem-lite", arguments)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def _serve(home: Home, worker: FakeWorker) -> _Server:
    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            asked = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body: JsonValue = json.loads(self.rfile.read(length)) if length else None
            worker.seen.append(Seen(self.command, asked.path, tuple(parse_qsl(asked.query)), body))
            if asked.path in worker.held:
                worker.stopped.wait()
                return
            if asked.path in worker.hang_up:
                return
            if waits_for := worker.later.get(f"{self.command} {asked.path}"):
                waits_for.wait(WAIT_S)
            missing = {"error": {"code": "not_found", "message": f"nothing at {asked.path}", "next_step": ""}}
            status, answer = worker.answers.get(f"{self.command} {asked.path}", (404, missing))
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            if asked.path == "/api/stop":
                worker.stopped.set()

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815

        def address_string(self) -> str:
            return "unix"

        def log_message(self, format: str, *args: object) -> None:
            pass

    before = os.open(".", os.O_RDONLY)
    umask = os.umask(0o177)
    os.chdir(home.root)
    try:
        return _Server(home.socket.name, Handler)
    finally:
        os.umask(umask)
        os.fchdir(before)
        os.close(before)


def _until_stopped(home: Home, worker: FakeWorker, server: _Server, lock: int) -> None:
    serving = threading.Thread(target=server.serve_forever, args=(0.01,))
    serving.start()
    worker.stopped.wait()
    server.shutdown()
    serving.join()
    server.server_close()
    home.socket.unlink()
    os.close(lock)
