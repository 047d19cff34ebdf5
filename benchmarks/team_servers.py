"""Servers of a team that fail in the ways that networks do, before a real PostgreSQL."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def dead_port() -> Iterator[int]:
    """A port on which connections are refused: bound by nobody else, and not listening."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


@contextmanager
def silent_port() -> Iterator[int]:
    """A port that accepts connections and never answers."""
    with _listening(_swallow) as port:
        yield port


@contextmanager
def slow_port(upstream: int, delay_s: float) -> Iterator[int]:
    """A port before a server, whose every answer comes later."""

    def serve(client: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", upstream)) as server:
            answers = threading.Thread(target=_forward, args=(server, client, delay_s), daemon=True)
            answers.start()
            _forward(client, server, 0.0)
            answers.join()

    with _listening(serve) as port:
        yield port


@contextmanager
def _listening(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Serve each connection in a thread of its own; all end with the block."""
    open_sockets: list[socket.socket] = []

    def run(client: socket.socket) -> None:
        with suppress(OSError), client:
            serve(client)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                open_sockets.append(client)
                threading.Thread(target=run, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            for each in (listener, *open_sockets):
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            accepting.join()


def _forward(source: socket.socket, target: socket.socket, delay_s: float) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            time.sleep(delay_s)
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _swallow(client: socket.socket) -> None:
    while client.recv(65536):
        pass
