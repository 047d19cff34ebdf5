"""Process of the page's server: a free port on loopback, and the link that opens the page.

The link contains a code, and a browser exchanges the code for the token. Browsers store every address with the part
behind the #, and some send addresses to other machines: so a code is worthless after the first use.
"""

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


class PageAccess:
    """Token of one run, and the code for the next browser. Safe for any thread."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(_BYTES)
        self._code = secrets.token_urlsafe(_BYTES)
        self._used: set[str] = set()
        self._lock = threading.Lock()

    @property
    def code(self) -> str:
        return self._code

    def enter(self, code: str) -> str | None:
        """Return the token for the valid code, and replace the code; None for any other code."""
        with self._lock:
            if not hmac.compare_digest(code.encode(errors="surrogatepass"), self._code.encode()):
                return None
            self._used.add(self._code)
            self._code = secrets.token_urlsafe(_BYTES)
            return self.token

    def was_used(self, code: str) -> bool:
        """Return True if a browser has already used this code."""
        with self._lock:
            return code in self._used


_HOST = "127.0.0.1"
_LEAVE_S = 3


def serve(
    client: Client, port: int, opened: Callable[[str], None], used: Callable[[str], None], folder: str = ""
) -> None:
    """Serve the page until a signal ends the process. `opened` gets the link when the server listens, `used` the next
    link when a browser has used the last. The page begins with the project of `folder`."""
    entry = PageAccess()
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
    """Return False for log records about requests that the end of the server cancelled."""
    kind = record.exc_info[0] if record.exc_info else None
    return not (kind and issubclass(kind, asyncio.CancelledError)) and "graceful shutdown" not in record.getMessage()


@contextmanager
def _ended_like_by_ctrl_c(server: uvicorn.Server) -> Iterator[None]:
    """End the server on SIGTERM and SIGHUP as on Ctrl-C, so that no file is left behind."""

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
    """Yield the address of a file that redirects to the link: every user of the machine can read a command line, so the
    browser gets the file instead of the link."""
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
    """Open an address in a thread: some browsers return only when the user closes them."""

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
