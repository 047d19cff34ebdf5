"""HTTP server of the worker on its Unix socket: one thread reads requests, a few threads answer them.

Written by hand, because a start hook waits for it: asyncio, uvicorn and Starlette took 12 MB, and 110 of the 425 ms of
processor time until the first answer. It serves our own clients only, through a socket that no other user can open."""

import logging
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from claude_mem_lite.worker.http.messages import HttpError, Request, Response, error_response, take_request

_TICK_S = 1.0
_READ_BYTES = 256 * 1024
_SEND_TIMEOUT_S = 30.0
_NO_WAIT = 0.0
"""Timeout of answers in the reading thread: they fit the buffer of a socket, unless their client reads none of them."""
_MAX_SILENCE_S = 60.0
"""Time after which a connection without a request under way is closed."""
_STOP_WAIT_S = 5.0
log = logging.getLogger(__name__)


class Application(Protocol):
    """Answers requests."""

    def lane_of(self, request: Request) -> str:
        """Return the lane of a request: its group of threads; '' to answer in the thread that reads."""

    def respond(self, request: Request) -> Response:
        """Return the response to a request. Never raises."""


@dataclass(slots=True, eq=False)
class _Connection:
    socket: socket.socket
    active_at: float
    received: bytearray = field(default_factory=bytearray)


class Server:
    """Server on a listening socket. `lanes` has the number of threads of each lane, `clock` counts seconds."""

    def __init__(
        self,
        listener: socket.socket,
        app: Application,
        lanes: Mapping[str, int],
        is_over: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener = listener
        self._app = app
        self._lanes = lanes
        self._is_over = is_over
        self._clock = clock
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._selector = selectors.DefaultSelector()
        self._reading: set[_Connection] = set()
        self._answering: set[Future[None]] = set()
        self._answered: deque[_Connection] = deque()
        # Not a pipe: a descriptor that was closed may be another file's already, a closed socket object refuses.
        self._woken, self._waker = socket.socketpair()
        self._is_stopping = False  # no event: its lock would block a signal handler that interrupts `stop`
        self._is_accepting = False

    def stop(self) -> None:
        """End the server once the requests under way are answered. Any thread and any signal handler may call it."""
        self._is_stopping = True
        self._wake()

    def serve(self) -> None:
        """Serve until `stop`, or until `is_over`, which is asked every second."""
        self._listener.setblocking(False)
        for end in (self._woken, self._waker):
            end.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._accept_from_now_on()
        ticked_at = self._clock()
        try:
            while not self._is_stopping:
                for key, _ in self._selector.select(_TICK_S):
                    self._handle(key)
                while self._answered:
                    self._read_on(self._answered.popleft())
                if self._clock() - ticked_at >= _TICK_S:
                    ticked_at = self._clock()
                    self._tick()
            for key, _ in self._selector.select(0):  # a request may hold the only copy of an event
                self._handle(key)
        finally:
            self._end()

    def _handle(self, key: selectors.SelectorKey) -> None:
        if key.fileobj is self._listener:
            self._accept()
        elif isinstance(key.data, _Connection):
            self._read(key.data)
        else:
            with suppress(BlockingIOError):
                self._woken.recv(4096)

    def _accept_from_now_on(self) -> None:
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._is_accepting = True

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError, InterruptedError):
                return
            except OSError as error:  # no descriptor is free: tried again with the next tick
                log.warning("a connection could not be accepted", extra={"reason": error.strerror})
                self._selector.unregister(self._listener)
                self._is_accepting = False
                return
            accepted.setblocking(False)
            connection = _Connection(accepted, self._clock())
            self._reading.add(connection)
            self._selector.register(accepted, selectors.EVENT_READ, connection)
            self._read(connection)  # most requests are there already

    def _read(self, connection: _Connection) -> None:
        try:
            chunk = connection.socket.recv(_READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._close(connection)
            return
        connection.received += chunk
        connection.active_at = self._clock()
        self._answer_next(connection)

    def _answer_next(self, connection: _Connection) -> None:
        """Answer the first request that a connection has received as a whole, if any."""
        try:
            request = take_request(connection.received)
        except HttpError as error:
            self._pause(connection)
            _send(connection, error_response(error.status, "http", str(error)), _NO_WAIT, is_last=True)
            connection.socket.close()
            return
        if request is None:
            return
        self._pause(connection)
        lane = self._app.lane_of(request)
        if not lane:
            self._answer(connection, request, _NO_WAIT)
            return
        future = self._pool(lane).submit(self._answer, connection, request, _SEND_TIMEOUT_S)
        self._answering.add(future)
        future.add_done_callback(self._answering.discard)

    def _answer(self, connection: _Connection, request: Request, timeout_s: float) -> None:
        if _send(connection, self._app.respond(request), timeout_s, is_last=self._is_stopping):
            self._answered.append(connection)
            self._wake()
        else:
            connection.socket.close()

    def _read_on(self, connection: _Connection) -> None:
        """Wait for the next request on a connection whose last one is answered."""
        connection.active_at = self._clock()
        connection.socket.setblocking(False)
        self._reading.add(connection)
        self._selector.register(connection.socket, selectors.EVENT_READ, connection)
        if connection.received:
            self._answer_next(connection)

    def _pause(self, connection: _Connection) -> None:
        self._reading.discard(connection)
        self._selector.unregister(connection.socket)

    def _close(self, connection: _Connection) -> None:
        self._pause(connection)
        connection.socket.close()

    def _tick(self) -> None:
        if not self._is_accepting:
            self._accept_from_now_on()
        silent_since = self._clock() - _MAX_SILENCE_S
        for connection in [one for one in self._reading if one.active_at < silent_since]:
            self._close(connection)
        if self._is_over():
            self._is_stopping = True

    def _pool(self, lane: str) -> ThreadPoolExecutor:
        if lane not in self._pools:
            self._pools[lane] = ThreadPoolExecutor(self._lanes[lane], thread_name_prefix=lane)
        return self._pools[lane]

    def _wake(self) -> None:
        with suppress(OSError):  # full: the reading thread is about to wake; closed: it has ended
            self._waker.send(b"\0")

    def _end(self) -> None:
        """Refuse new connections, finish the answers under way, and close everything."""
        self._listener.close()
        wait(set(self._answering), _STOP_WAIT_S)
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        for connection in (*self._reading, *self._answered):
            connection.socket.close()
        self._selector.close()
        for end in (self._woken, self._waker):
            end.close()


def _send(connection: _Connection, response: Response, timeout_s: float, *, is_last: bool) -> bool:
    """Send a response; return whether the connection can be used again."""
    try:
        connection.socket.settimeout(timeout_s)
        connection.socket.sendall(response.encode(is_last=is_last))
    except OSError:  # many hooks do not wait for an answer
        return False
    return not is_last
