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

from claude_mem_lite.deadline import Deadline
from claude_mem_lite.worker.http.messages import HttpError, HttpResponse, Request, error_response, take_request

_TICK_S = 1.0
_READ_BYTES = 256 * 1024
_MAX_SEND_S = 30.0
"""Time within which a client has to read an answer."""
_MAX_SILENCE_S = 60.0
"""Time after which a connection without a request under way is closed."""
MAX_CONNECTIONS = 256
"""Number of connections from which on each new one closes another: the idle one that has done nothing for longest."""
_STOP_WAIT_S = 5.0
log = logging.getLogger(__name__)


class Application(Protocol):
    """Answers requests."""

    def lane_of(self, request: Request) -> str:
        """Return the lane of a request: its group of threads; '' to answer in the thread that reads."""

    def respond(self, request: Request) -> HttpResponse:
        """Return the response to a request. Never raises."""


@dataclass(slots=True, eq=False)
class _Connection:
    socket: socket.socket
    active_at: float
    """Time of the last bytes received, or of the last answer."""
    received: bytearray = field(default_factory=bytearray)
    unsent: memoryview = field(default_factory=lambda: memoryview(b""))
    """Rest of an answer that the client has not read yet."""
    is_last: bool = False
    """True once the answer is the last one on this connection."""
    is_closed: bool = False

    def send(self) -> None:
        """Send what the buffer of the socket takes; many hooks have left and wait for no answer."""
        try:
            while self.unsent:
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.unsent, self.is_last = memoryview(b""), True


class Server:
    """Server on a listening socket. `lanes` has the number of threads of each lane, `clock` counts seconds."""

    def __init__(
        self,
        listener: socket.socket,
        app: Application,
        lanes: Mapping[str, int],
        is_over: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
        max_connections: int = MAX_CONNECTIONS,
    ) -> None:
        self._listener = listener
        self._app = app
        self._lanes = lanes
        self._is_over = is_over
        self._clock = clock
        self._max_connections = max_connections
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._selector = selectors.DefaultSelector()
        self._reading: set[_Connection] = set()
        self._sending: set[_Connection] = set()
        self._connection_count = 0
        """Number of open connections, those with an answer under way included."""
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
                self._go_on_with_answered()
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
        elif key.fileobj is self._woken:
            with suppress(BlockingIOError):
                self._woken.recv(4096)
        elif key.data in self._reading:  # else closed a moment ago, to make room
            self._run_safely(self._read, key.data)
        elif key.data in self._sending:
            self._run_safely(self._send_on, key.data)

    def _run_safely(self, step: Callable[[_Connection], None], connection: _Connection) -> None:
        """Run a step of a connection in the reading thread; an error closes this connection alone."""
        try:
            step(connection)
        except Exception:  # no thread or no memory for it, say: the other clients are served on
            log.exception("a connection failed and was closed")
            self._close(connection)

    def _accept_from_now_on(self) -> None:
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._is_accepting = True

    def _accept_later(self) -> None:
        self._selector.unregister(self._listener)
        self._is_accepting = False

    def _accept(self) -> None:
        while self._is_accepting:
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError, InterruptedError):
                return
            except OSError as error:  # no descriptor is free: tried again with the next tick
                log.warning("a connection could not be accepted", extra={"reason": error.strerror})
                self._accept_later()
                return
            self._make_room()
            self._connection_count += 1
            self._run_safely(self._begin, _Connection(accepted, self._clock()))

    def _begin(self, connection: _Connection) -> None:
        connection.socket.setblocking(False)
        self._register(connection, selectors.EVENT_READ, self._reading)
        self._read(connection)  # most requests are there already

    def _make_room(self) -> None:
        """Close the oldest connection if there are too many, first of those that wait for nothing: clients that never
        finish a request, or read no answer, must not shut hooks out. While all requests are being answered, new
        clients wait for the next tick."""
        if self._connection_count < self._max_connections:
            return
        self._go_on_with_answered()  # those may be closed too
        closable = self._reading | self._sending
        if closable:
            self._close(min(closable, key=lambda one: (bool(one.received or one.unsent), one.active_at)))
        else:
            self._accept_later()

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
            self._unregister(connection)
            self._send(connection, error_response(error.status, "http", str(error)), is_last=True)
            self._answered.append(connection)
            return
        if request is None:
            return
        self._unregister(connection)
        lane = self._app.lane_of(request)
        if not lane:
            self._answer(connection, request)
            return
        self._answer_later(connection, request, lane)

    def _answer_later(self, connection: _Connection, request: Request, lane: str) -> None:
        """Have a thread of a lane answer a request. Raises if no thread can be started and none has taken the request.

        The pool keeps such a request, and would answer it on the closed connection later."""
        untaken = deque([request])
        try:
            future = self._pool(lane).submit(self._answer_in_thread, connection, untaken)
        except (RuntimeError, MemoryError):
            with suppress(IndexError):  # taken by another thread of the lane
                untaken.pop()
                raise
        else:
            self._answering.add(future)
            future.add_done_callback(self._answering.discard)

    def _answer(self, connection: _Connection, request: Request) -> None:
        connection.is_last = True  # without an answer the connection is closed
        try:
            self._send(connection, self._app.respond(request), is_last=self._is_stopping)
        finally:
            self._answered.append(connection)

    def _answer_in_thread(self, connection: _Connection, untaken: deque[Request]) -> None:
        try:
            request = untaken.pop()
        except IndexError:  # given up, and the connection closed
            return
        try:
            self._answer(connection, request)
        except Exception:
            log.exception("a request was not answered")
        finally:
            self._wake()

    def _send(self, connection: _Connection, response: HttpResponse, *, is_last: bool) -> None:
        """Send a response as far as that takes no time; the reading thread sends the rest."""
        connection.unsent, connection.is_last = memoryview(response.encode(is_last=is_last)), is_last
        connection.active_at = self._clock()
        connection.send()

    def _send_on(self, connection: _Connection) -> None:
        """Send more of an answer to a client that has read a part."""
        connection.send()
        if not connection.unsent:
            connection.active_at = self._clock()
            self._unregister(connection)
            self._go_on(connection)

    def _go_on_with_answered(self) -> None:
        while self._answered:
            self._run_safely(self._go_on, self._answered.popleft())

    def _go_on(self, connection: _Connection) -> None:
        """Wait until the rest of the answer can be sent; after the whole answer, for the next request."""
        if connection.is_closed:  # by an error after its answer
            return
        if connection.unsent:
            self._register(connection, selectors.EVENT_WRITE, self._sending)
        elif connection.is_last:
            self._close(connection)
        else:
            self._register(connection, selectors.EVENT_READ, self._reading)
            if connection.received:
                self._answer_next(connection)

    def _register(self, connection: _Connection, events: int, group: set[_Connection]) -> None:
        self._selector.register(connection.socket, events, connection)
        group.add(connection)

    def _unregister(self, connection: _Connection) -> None:
        """Stop waiting for a connection to be read or written; without effect if nothing waits."""
        for group in (self._reading, self._sending):
            if connection in group:
                group.remove(connection)
                self._selector.unregister(connection.socket)

    def _close(self, connection: _Connection) -> None:
        """Close a connection; without effect on a closed connection."""
        if connection.is_closed:
            return
        self._unregister(connection)
        connection.is_closed = True
        self._connection_count -= 1
        with suppress(OSError):
            connection.socket.close()

    def _tick(self) -> None:
        if not self._is_accepting:
            with suppress(OSError):  # no memory for it: tried again with the next tick
                self._accept_from_now_on()
        for group, max_s in ((self._reading, _MAX_SILENCE_S), (self._sending, _MAX_SEND_S)):
            since = self._clock() - max_s
            for connection in [one for one in group if one.active_at < since]:
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
        deadline = Deadline.after(_STOP_WAIT_S)
        wait(set(self._answering), _STOP_WAIT_S)
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        for connection in (*self._reading, *self._sending, *self._answered):
            with suppress(OSError):
                connection.socket.settimeout(max(deadline.left_s(), 0))
                connection.socket.sendall(connection.unsent)
            connection.socket.close()
        self._selector.close()
        for end in (self._woken, self._waker):
            end.close()
