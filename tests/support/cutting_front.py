"""Front before a real PostgreSQL server that cuts connections after a number of bytes."""

import selectors
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_RESET = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class CuttingFront:
    """Listening front for one connection at a time. `left` is the number of bytes, in both directions, until the
    connection is cut; None cuts nothing."""

    port_of_server: int
    left: int | None = None
    on_cut: Callable[[], None] | None = None
    """Runs before the cut, in the thread of the front."""
    cuts: int = 0
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    _thread: threading.Thread | None = None
    _wake: tuple[socket.socket, socket.socket] = field(default_factory=socket.socketpair)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])

    def start(self) -> None:
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._wake[0].close()
        if self._thread is not None:
            self._thread.join()
        self.listener.close()
        self._wake[1].close()

    def _serve(self) -> None:
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.listener, selectors.EVENT_READ)
            waiting.register(self._wake[1], selectors.EVENT_READ)
            while all(key.fileobj is self.listener for key, _ in waiting.select()):
                client, _ = self.listener.accept()
                with client:
                    self._connect(client)

    def _connect(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.port_of_server))
        except OSError:
            _reset(client)
            return
        with server, suppress(OSError):
            self._relay(client, server)

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        other = {client: server, server: client}
        with selectors.DefaultSelector() as waiting:
            for end in other:
                waiting.register(end, selectors.EVENT_READ)
            while True:
                for key, _ in waiting.select():
                    source = client if key.fileobj is client else server
                    data = source.recv(65536)
                    if not data:
                        return
                    allowed = len(data) if self.left is None else min(len(data), self.left)
                    other[source].sendall(data[:allowed])
                    if self.left is not None:
                        self.left -= allowed
                        if not self.left:
                            self._cut(client, server)
                            return

    def _cut(self, client: socket.socket, server: socket.socket) -> None:
        self.cuts += 1
        self.left = None
        if self.on_cut is not None:
            self.on_cut()
            self.on_cut = None
        _reset(server)
        _reset(client)


def _reset(end: socket.socket) -> None:
    """Let the close of a socket send a reset, as a lost connection does."""
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


@contextmanager
def cutting_front(port: int) -> Iterator[CuttingFront]:
    """Run a front before the server on a port of this machine."""
    front = CuttingFront(port)
    front.start()
    try:
        yield front
    finally:
        front.close()
