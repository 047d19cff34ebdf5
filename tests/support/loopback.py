"""A server on loopback for as long as a test needs it, which answers as its handler says."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a port of its own; the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    # Asked every 20 ms whether to stop: the default of half a second is paid by every test.
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def dead_port() -> Iterator[int]:
    """Return a port that refuses everybody, and that nobody else can take meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])
