"""Tests of `worker/http/server.py`: many clients at once, slow ones, ones that leave, and the end of the server."""

import errno
import http.client
import select
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from claude_mem_lite.worker.http import server
from claude_mem_lite.worker.http.messages import HttpResponse, Request
from claude_mem_lite.worker.http.server import Server

if TYPE_CHECKING:
    from _typeshed import TraceFunction

WAIT_S = 30.0
LARGE = 4 * 1024 * 1024
"""Size of an answer that fits no buffer of a socket."""


class Echo:
    """Application that repeats bodies; `/wait` waits for the test, paths with `/here` are answered by the reading
    thread."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.waiting = threading.Semaphore(0)
        self.seen: list[str] = []

    def lane_of(self, request: Request) -> str:
        if request.path == "/no-lane":
            raise ValueError("no lane")
        return "" if request.path.startswith("/here") else "slow" if request.path == "/wait" else "quick"

    def respond(self, request: Request) -> HttpResponse:
        self.seen.append(request.path)
        if request.path == "/wait":
            self.waiting.release()
            self.go_on.wait(WAIT_S)
        if request.path.endswith("/broken"):
            raise ValueError("broken")
        if request.path == "/thread":
            return HttpResponse(body=threading.current_thread().name.encode())
        return HttpResponse(body=request.body or b"none")


class Unregistrable(socket.socket):
    """Socket that no selector takes."""

    def fileno(self) -> int:
        return -1


class Listener(socket.socket):
    """Listening socket for which no descriptor is free at first, or whose first connections no selector takes, if a
    test says so."""

    failures = 0
    unregistrable = 0

    def accept(self) -> "tuple[socket.socket, object]":
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        accepted, address = super().accept()
        if self.unregistrable:
            self.unregistrable -= 1
            return Unregistrable(fileno=accepted.detach()), address
        return accepted, address


class Running:
    """Server in a thread, and connections to it; the test sets its clock."""

    def __init__(self, path: Path, app: Echo, failures: int = 0, max_connections: int = 256) -> None:
        self.path = path
        self.app = app
        self.now = 1000.0
        self.listener = listener = Listener(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen(256)
        listener.failures = failures
        clock = (lambda: self.now) if not failures else time.monotonic
        lanes = {"slow": 2, "quick": 2}
        self.server = Server(listener, app, lanes, clock=clock, max_connections=max_connections)
        self.thread = threading.Thread(target=self.server.serve)
        self.thread.start()

    def connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(WAIT_S)
        connection.connect(str(self.path))
        return connection

    def ask(self, method: str, target: str, body: bytes = b"") -> bytes:
        connection = http.client.HTTPConnection("localhost", timeout=WAIT_S)
        connection.sock = self.connect()
        with closing(connection):
            connection.request(method, target, body)
            return connection.getresponse().read()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with _running(tmp_path) as made:
        yield made


@contextmanager
def _running(folder: Path, failures: int = 0, max_connections: int = 256) -> Iterator[Running]:
    made = Running(folder / "s", Echo(), failures, max_connections)
    try:
        yield made
    finally:
        made.app.go_on.set()
        made.server.stop()
        made.thread.join(WAIT_S)
        assert not made.thread.is_alive()


def _post(path: str, body: bytes = b"") -> bytes:
    return f"POST {path} HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def _received(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length and (chunk := connection.recv(65536)):
        data += chunk
    return data


def test_a_large_body_goes_there_and_back(running: Running) -> None:
    body = bytes(range(256)) * 20_000
    assert running.ask("POST", "/echo", body) == body


def test_requests_follow_each_other_on_one_connection(running: Running) -> None:
    with running.connect() as connection:
        connection.sendall(_post("/echo", b"one"))
        assert connection.recv(65536).endswith(b"one")
        connection.sendall(_post("/here", b"two"))
        assert connection.recv(65536).endswith(b"two")


def test_requests_sent_at_once_are_answered_in_order(running: Running) -> None:
    expected = b"".join(HttpResponse(body=body).encode() for body in (b"one", b"two", b"three"))
    with running.connect() as connection:
        connection.sendall(_post("/echo", b"one") + _post("/here", b"two") + _post("/echo", b"three"))
        assert _received(connection, len(expected)) == expected


def test_two_hundred_clients_at_once_are_all_answered(running: Running) -> None:
    connections = [running.connect() for _ in range(200)]
    for number, connection in enumerate(connections):
        connection.sendall(_post("/echo", f"{number}".encode()))
    for number, connection in enumerate(connections):
        assert connection.recv(65536).endswith(f"\r\n\r\n{number}".encode())
        connection.close()


def test_one_that_sends_slowly_keeps_nobody_waiting(running: Running) -> None:
    with running.connect() as slow:
        slow.sendall(b"POST /echo HTTP/1.1\r\nContent-")
        assert running.ask("POST", "/echo", b"quick") == b"quick"
        slow.sendall(b"Length: 4\r\n\r\nslow")
        assert slow.recv(65536).endswith(b"slow")


def test_one_that_reads_no_answer_keeps_nobody_waiting(running: Running) -> None:
    """The reading thread sends answers itself; a full buffer must not block it."""
    with running.connect() as silent:
        silent.setblocking(False)
        with suppress(BlockingIOError):  # the server reads no more requests of a client that reads no answers
            while True:
                silent.send(_post("/here") * 100)
        with running.connect() as other:
            other.settimeout(WAIT_S / 3)
            other.sendall(_post("/echo", b"quick"))
            assert other.recv(65536).endswith(b"quick")


def test_a_lane_that_is_full_keeps_no_other_lane_waiting(running: Running) -> None:
    waiting = [running.connect() for _ in range(3)]
    for connection in waiting:
        connection.sendall(_post("/wait"))
    for _ in range(2):  # as many as the lane has threads
        assert running.app.waiting.acquire(timeout=WAIT_S)
    assert running.ask("POST", "/echo", b"past") == b"past"
    assert running.ask("POST", "/here", b"past") == b"past"
    running.app.go_on.set()
    for connection in waiting:
        assert connection.recv(65536).endswith(b"none")
        connection.close()


def test_threads_of_a_lane_answer_its_requests(running: Running) -> None:
    assert running.ask("GET", "/thread").startswith(b"quick")


def test_a_request_of_a_client_that_left_is_still_handled(running: Running) -> None:
    with running.connect() as connection:
        connection.sendall(_post("/here"))
    assert running.ask("POST", "/echo", b"next") == b"next"
    assert running.app.seen == ["/here", "/echo"]


def test_what_is_no_request_is_answered_and_the_connection_closed(running: Running) -> None:
    with running.connect() as connection:
        connection.sendall(b"good morning\r\n\r\n")
        answer = _received(connection, 10_000)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b'"code": "http"' in answer
    assert running.app.seen == []


def test_the_end_waits_for_answers_and_refuses_new_connections(tmp_path: Path) -> None:
    with _running(tmp_path) as running, running.connect() as connection:
        connection.sendall(_post("/wait", b"late"))
        assert running.app.waiting.acquire(timeout=WAIT_S)
        running.server.stop()
        running.app.go_on.set()
        answer = _received(connection, 10_000)
        assert answer.endswith(b"late")
        assert b"Connection: close" in answer
        running.thread.join(WAIT_S)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as late, pytest.raises(ConnectionRefusedError):
            late.connect(str(running.path))


def test_the_end_waits_for_a_client_that_still_reads_its_answer(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_STOP_WAIT_S", WAIT_S)  # for a busy machine
    (client,) = _never_reading(running, 1)
    with client:
        assert client.recv(1)
        running.server.stop()
        assert len(_received(client, LARGE)) >= LARGE


def test_what_was_sent_before_the_end_is_still_answered(tmp_path: Path) -> None:
    """A request may hold the only copy of an event."""
    app = Echo()
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        server = Server(listener, app, {"quick": 2})
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as client:
            client.settimeout(WAIT_S)
            client.connect(str(tmp_path / "s"))
            client.sendall(_post("/echo", b"the only copy"))
            server.stop()
            server.serve()
            assert _received(client, 10_000).endswith(b"the only copy")
    assert app.seen == ["/echo"]


def test_a_signal_may_stop_the_server_while_it_is_being_stopped(tmp_path: Path) -> None:
    """A logout sends two signals at once, and a handler interrupts the other at any line."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        server = Server(listener, Echo(), {})
        interrupted: set[tuple[str, int]] = set()

        def interrupt(frame: FrameType, event: str, argument: object) -> "TraceFunction":
            place = frame.f_code.co_filename, frame.f_lineno
            if event == "line" and place not in interrupted:
                interrupted.add(place)
                server.stop()
            return interrupt

        def stop() -> None:
            sys.settrace(interrupt)
            server.stop()
            sys.settrace(None)

        stopping = threading.Thread(target=stop, daemon=True)
        stopping.start()
        stopping.join(WAIT_S / 3)
        assert interrupted
        assert not stopping.is_alive()
        server.serve()


def test_the_server_ends_when_it_is_over(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(tmp_path / "s"))
    listener.listen()
    asked: list[bool] = []

    def is_over() -> bool:
        asked.append(True)
        return len(asked) == 2

    Server(listener, Echo(), {}, is_over).serve()
    assert len(asked) == 2


def test_a_connection_that_says_nothing_for_a_minute_is_closed(running: Running) -> None:
    with running.connect() as silent:
        assert running.ask("POST", "/here", b"accepted later") == b"accepted later"
        running.now += 61
        assert running.ask("POST", "/here", b"wake up") == b"wake up"
        assert silent.recv(65536) == b""


def test_a_connection_is_silent_from_its_last_answer_on(running: Running) -> None:
    with running.connect() as slow:
        slow.sendall(_post("/wait", b"late"))
        assert running.app.waiting.acquire(timeout=WAIT_S)
        running.now += 61
        running.app.go_on.set()
        assert slow.recv(65536).endswith(b"late")
        for _ in range(2):
            running.now += 2
            assert running.ask("POST", "/here", b"wake up") == b"wake up"
        slow.sendall(_post("/echo", b"again"))
        assert slow.recv(65536).endswith(b"again")


def test_a_connection_whose_answer_was_read_slowly_is_silent_from_its_end_on(running: Running) -> None:
    (slow,) = _never_reading(running, 1)
    with slow:
        assert slow.recv(1)
        running.now += 29
        assert len(_received(slow, LARGE)) >= LARGE
        for _ in range(2):
            running.now += 18
            assert running.ask("POST", "/here", b"wake up") == b"wake up"
        slow.sendall(_post("/echo", b"again"))
        assert slow.recv(65536).endswith(b"again")


def test_connections_are_accepted_again_when_a_descriptor_is_free(tmp_path: Path) -> None:
    with _running(tmp_path, failures=1) as running:
        assert running.ask("POST", "/echo", b"later") == b"later"


def _never_reading(running: Running, number: int) -> list[socket.socket]:
    """Return clients that each read nothing of an answer that fits no buffer."""
    clients = [running.connect() for _ in range(number)]
    for client in clients:
        client.sendall(_post("/echo", b"x" * LARGE))
    return clients


def test_clients_that_read_no_answer_hold_no_thread(running: Running) -> None:
    silent = _never_reading(running, 5)  # more than the lane has threads
    assert running.ask("POST", "/echo", b"quick") == b"quick"
    for client in silent:
        assert len(_received(client, LARGE)) >= LARGE  # whoever reads later gets all of it
        client.close()


def test_an_answer_that_is_not_read_in_time_is_given_up(running: Running) -> None:
    (silent,) = _never_reading(running, 1)
    with silent:
        assert running.ask("POST", "/echo", b"answered behind it") == b"answered behind it"
        assert silent.recv(1, socket.MSG_PEEK)  # the answer is on its way
        ended = select.poll()
        ended.register(silent, 0)  # a hang-up is always reported
        while not ended.poll(0):
            running.now += 31
            running.ask("POST", "/here", b"wake up")
        assert len(_received(silent, LARGE)) < LARGE


def test_a_connection_too_many_closes_the_oldest_idle_one(tmp_path: Path) -> None:
    with _running(tmp_path, max_connections=3) as running:
        idle = []
        for _ in range(3):
            running.now += 1
            idle.append(running.connect())
            idle[-1].sendall(_post("/here", b"here"))
            assert idle[-1].recv(65536).endswith(b"here")
        running.now += 1
        assert running.ask("POST", "/here", b"next") == b"next"
        assert idle[0].recv(65536) == b""
        idle[2].sendall(_post("/here", b"again"))
        assert idle[2].recv(65536).endswith(b"again")
        for connection in idle:
            connection.close()


def test_a_connection_with_half_a_request_is_not_closed_before_an_idle_one(tmp_path: Path) -> None:
    with _running(tmp_path, max_connections=2) as running, running.connect() as half, running.connect() as idle:
        half.sendall(b"POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\n")
        for seconds in (0, 1, 1):  # with the second answer, the half request is read for certain
            idle.sendall(_post("/here", b"here"))
            assert idle.recv(65536).endswith(b"here")
            running.now += seconds
        assert running.ask("POST", "/here", b"next") == b"next"
        assert idle.recv(65536) == b""
        half.sendall(b"whole")
        assert half.recv(65536).endswith(b"whole")


def test_a_failed_answer_closes_its_connection_and_no_other(tmp_path: Path) -> None:
    with _running(tmp_path, max_connections=2) as running, running.connect() as kept:
        kept.sendall(_post("/here", b"here"))
        assert kept.recv(65536).endswith(b"here")
        for _ in range(3):
            running.now += 1
            with running.connect() as failing:
                failing.sendall(_post("/broken"))
                assert failing.recv(65536) == b""
        running.now += 1
        kept.sendall(_post("/here", b"again"))
        assert kept.recv(65536).endswith(b"again")


@pytest.mark.parametrize("path", ["/no-lane", "/here/broken"])
def test_an_error_in_the_reading_thread_closes_its_connection_and_no_other(tmp_path: Path, path: str) -> None:
    with _running(tmp_path, max_connections=2) as running, running.connect() as kept:
        kept.sendall(_post("/here", b"here"))
        assert kept.recv(65536).endswith(b"here")
        for _ in range(3):
            running.now += 1
            with running.connect() as failing:
                failing.sendall(_post(path))
                assert failing.recv(65536) == b""
        running.now += 1
        kept.sendall(_post("/here", b"again"))
        assert kept.recv(65536).endswith(b"again")


def test_connections_closed_after_an_error_are_counted_once(tmp_path: Path) -> None:
    with _running(tmp_path, max_connections=2) as running, running.connect() as oldest, running.connect() as other:
        oldest.sendall(_post("/here", b"here"))
        assert oldest.recv(65536).endswith(b"here")
        other.sendall(_post("/here/broken"))
        assert other.recv(65536) == b""
        running.now += 1
        with running.connect() as second, running.connect() as third:
            for connection in (second, third):
                connection.sendall(_post("/here", b"here"))
                assert connection.recv(65536).endswith(b"here")
            assert oldest.recv(65536) == b""


def test_a_connection_that_cannot_be_registered_is_closed_alone(running: Running) -> None:
    with running.connect() as kept:
        kept.sendall(_post("/here", b"here"))
        assert kept.recv(65536).endswith(b"here")
        running.listener.unregistrable = 1
        with running.connect() as refused:
            assert refused.recv(65536) == b""
        kept.sendall(_post("/here", b"again"))
        assert kept.recv(65536).endswith(b"again")


@contextmanager
def _no_new_threads() -> Iterator[None]:
    usual = threading.stack_size(2**47)  # more than there are addresses
    try:
        yield
    finally:
        threading.stack_size(usual)


def test_a_request_for_which_no_thread_can_be_started_is_not_answered_later(running: Running) -> None:
    with _no_new_threads(), running.connect() as failing:
        failing.sendall(_post("/wait", b"lost"))
        assert failing.recv(65536) == b""
    with running.connect() as connection:
        connection.sendall(_post("/wait", b"kept"))
        assert running.app.waiting.acquire(timeout=WAIT_S)
        running.app.go_on.set()
        assert connection.recv(65536).endswith(b"kept")
    assert running.app.seen == ["/wait"]


def test_many_clients_that_never_end_a_request_shut_nobody_out(tmp_path: Path) -> None:
    with _running(tmp_path, max_connections=3) as running:
        hostile = [running.connect() for _ in range(20)]
        for number, connection in enumerate(hostile):
            running.now += 1
            with suppress(BrokenPipeError):  # closed already
                connection.sendall(b"POST /echo HTTP/1.1\r\nContent-Length: 9\r\n\r\n")
            assert running.ask("POST", "/echo", f"{number}".encode()) == f"{number}".encode()
        for connection in hostile:
            connection.close()


def test_many_clients_that_read_no_answer_shut_nobody_out(tmp_path: Path) -> None:
    with _running(tmp_path, max_connections=4) as running:
        silent = []
        for number in range(12):
            running.now += 1
            silent += _never_reading(running, 1)
            assert running.ask("POST", "/echo", f"{number}".encode()) == f"{number}".encode()
        for client in silent:
            client.close()


def test_a_client_waits_while_every_connection_is_being_answered(tmp_path: Path) -> None:
    with _running(tmp_path, max_connections=2) as running:
        waiting = [running.connect() for _ in range(2)]
        for connection in waiting:
            connection.sendall(_post("/wait"))
            assert running.app.waiting.acquire(timeout=WAIT_S)
        with running.connect() as late, running.connect() as later:
            late.sendall(_post("/echo", b"late"))
            later.sendall(_post("/echo", b"later"))
            assert late.recv(65536).endswith(b"late")  # one more than the limit, by which the server sees it
            running.app.go_on.set()
            for connection in waiting:
                assert connection.recv(65536).endswith(b"none")
                connection.close()
            running.now += 2
            assert later.recv(65536).endswith(b"later")
