"""The page's server as a process: a free port on loopback, and the link that opens it.

How a browser comes by the token: for the code in a link, which opens the page once.

A browser keeps every address it was at, with what stands behind the #, and some carry that to other machines. So what
stands there is worth nothing any more once it was used."""

import asyncio
import contextlib
import hmac
import logging
import os
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from types import FrameType

import uvicorn

from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.paths import Home
from claude_mem_lite.ui.server import make_app

_BYTES = 32


class Entry:
    """The token of one run, and the code that the next browser is let in by. Any thread may ask."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(_BYTES)
        self._code = secrets.token_urlsafe(_BYTES)
        self._used: set[str] = set()
        self._lock = threading.Lock()

    @property
    def code(self) -> str:
        return self._code

    def enter(self, code: str) -> str | None:
        """The token, for the code in force; another holds from then on. None for any other code."""
        with self._lock:
            if not hmac.compare_digest(code.encode(errors="surrogatepass"), self._code.encode()):
                return None
            self._used.add(self._code)
            self._code = secrets.token_urlsafe(_BYTES)
            return self.token

    def was_used(self, code: str) -> bool:
        """Whether a browser was let in by this code before."""
        with self._lock:
            return code in self._used


_HOST = "127.0.0.1"
_LEAVE_S = 3


def serve(
    client: Client, port: int, opened: Callable[[str], None], used: Callable[[str], None], folder: str = ""
) -> None:
    """Serve the page until the process is told to end. `opened` hears the link that opens it once somebody listens,
    `used` the next one when a browser was let in by the last. The page begins with the project of `folder`."""
    entry = Entry()
    with contextlib.closing(_listening(port)) as listener:
        at = listener.getsockname()[1]

        def link() -> str:
            return f"http://{_HOST}:{at}/#{entry.code}"

        def enter(code: str) -> str | None:
            token = entry.enter(code)
            if token is not None:
                used(link())
            return token

        app = make_app(client, entry.token, at, enter, entry.was_used, lambda: server.should_exit, folder)
        # No access log, and no name of the program in the answers: neither helps anybody here.
        config = uvicorn.Config(
            app,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=_LEAVE_S,
        )
        server = uvicorn.Server(config)
        logging.getLogger("uvicorn.error").addFilter(_is_no_cancelling)
        # Whoever presses Ctrl-C wants it to end; the server ends first and passes it on.
        with contextlib.suppress(KeyboardInterrupt), _ended_like_by_ctrl_c(server):
            listener.listen()
            opened(link())
            server.run(sockets=[listener])


def _is_no_cancelling(record: logging.LogRecord) -> bool:
    """Not what is told of requests that were under way when the server ended."""
    kind = record.exc_info[0] if record.exc_info else None
    return not (kind and issubclass(kind, asyncio.CancelledError)) and "graceful shutdown" not in record.getMessage()


@contextmanager
def _ended_like_by_ctrl_c(server: uvicorn.Server) -> Iterator[None]:
    """Whatever ends the process, or closes its terminal, leaves nothing behind."""

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if server.started and not server.should_exit:  # of this signal the server knows nothing
            server.should_exit = True
        else:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def link_file(home: Home, link: str) -> Iterator[str]:
    """A file that leads to the link, for the browser: on its command line every user of the machine would see it."""
    path = home.root / f"ui-{os.getpid()}.html"
    page = f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(link)}"><title>claude-mem-lite</title>'
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(page)
    try:
        yield path.as_uri()
    finally:
        path.unlink(missing_ok=True)


def open_browser(address: str, failed: Callable[[], None]) -> None:
    """Open an address beside the server: some browsers do not come back before they are closed."""

    def opening() -> None:
        try:
            is_opened = webbrowser.open(address)
        except webbrowser.Error:
            is_opened = False
        if not is_opened:
            failed()

    threading.Thread(target=opening, daemon=True).start()


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_HOST, port))
    except OSError as error:
        listener.close()
        why = os.strerror(error.errno or 0)
        raise MemoryLiteError(f"port {port} cannot be used: {why}", "give another by --port, or none") from None
    return listener
