"""The worker as a process: one per home by lock, a private socket, an orderly end."""

import asyncio
import ctypes
import fcntl
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from claude_mem_lite import hook_program
from claude_mem_lite.paths import Home, identity

if TYPE_CHECKING:
    import uvicorn

    from claude_mem_lite.worker.loop import Loop

_BACKLOG = 1024
_M_ARENA_MAX = -8
# How long a thread keeps the interpreter when another wants it; by default 5 ms, which is what an answer may take.
_SWITCH_S = 0.001
# A worker that was told to end takes up to 5 s to finish what it is answering.
_LOCK_WAIT_S = 8.0
_LOCK_LOOK_S = 0.02
log = logging.getLogger(__name__)


def run(home: Home) -> int:
    """Serve until idle, stopped or told to end by a signal; 0 at once when another worker serves the home."""
    os.umask(0o077)
    # numpy, when it is imported, would start a thread for each processor; for one vector at a time they gain nothing.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _share_freed_memory()
    sys.setswitchinterval(_SWITCH_S)
    home.make()
    lock = _take_lock(home)
    if lock is None:
        return 0
    if home.hook_program.exists():  # this worker may be the first of a new version
        hook_program.make(home)
    # Bound before the heavy imports: hooks that come meanwhile wait in the backlog, not in vain.
    listener = _listen(home)
    bound = identity(home.socket)
    try:
        _serve(home, listener)
    finally:
        if identity(home.socket) == bound:  # else the folder was replaced, and it is another worker's
            home.socket.unlink(missing_ok=True)
    return 0


def _share_freed_memory() -> None:
    """glibc would keep freed memory apart for each of the threads that build contexts; musl and macOS do not."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def _take_lock(home: Home) -> int | None:
    """The lock that makes this the home's only worker, held until the process ends. Never unlinked."""
    lock = os.open(home.worker_lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            # Who holds it without listening is about to end, and may have looked into the spool for the last time.
            if _is_listening(home) or time.monotonic() > until:
                os.close(lock)
                return None
            time.sleep(_LOCK_LOOK_S)


def _is_listening(home: Home) -> bool:
    os.chdir(home.root)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(home.socket.name)
        except BlockingIOError:  # there, with a long queue before it
            return True
        except OSError:
            return False
    return True


def _listen(home: Home) -> socket.socket:
    """A listening socket of mode 0600, in place of any that a dead worker left."""
    with suppress(FileNotFoundError):
        home.socket.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # By a relative name: a path over some 100 bytes does not fit a socket address.
    os.chdir(home.root)
    umask = os.umask(0o177)
    listener.bind(home.socket.name)
    os.umask(umask)
    listener.listen(_BACKLOG)
    return listener


def _serve(home: Home, listener: socket.socket) -> None:
    # Imported here and below: they cost more than the rest of the start, and the socket must be there first.
    from claude_mem_lite.db.integrity import is_damage
    from claude_mem_lite.worker import json_log as worker_log
    from claude_mem_lite.worker.services import open_loop

    worker_log.set_up(home.worker_log)
    try:
        with ExitStack() as at_the_end, open_loop(home) as loop:
            # Not before: a start that fails leaves the mark of the worker that was killed before it.
            at_the_end.callback(_remove_own_pid, home)
            _serve_loop(home, listener, loop)
    except Exception as error:
        log.exception("worker failed")
        if is_damage(error):  # met on a page that the quick look did not read: the next worker is to read all of them
            home.suspect.touch(mode=0o600)
        raise


def _remove_own_pid(home: Home) -> None:
    """Remove the mark of this worker, and not that of another one in a folder that took the place of the home."""
    with suppress(OSError):
        if home.worker_pid.read_text() == str(os.getpid()):
            home.worker_pid.unlink()


def _serve_loop(home: Home, listener: socket.socket, loop: "Loop") -> None:
    """HTTP in this thread, jobs in another, until the serving ends."""
    # A session that starts is what a worker is mostly started for, and its context searches.
    threading.Thread(target=loop.search.make_ready, name="ready", daemon=True).start()
    import uvicorn

    from claude_mem_lite.worker.api.app import make_app

    class Server(uvicorn.Server):
        """Leaves signals to us: the original raises them again after it has shut down."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    def stop() -> None:
        server.should_exit = True

    config = uvicorn.Config(
        make_app(loop, stop),
        log_config=None,
        access_log=False,
        lifespan="off",
        http="h11",
        loop="asyncio",
        timeout_graceful_shutdown=5,
    )
    server = Server(config)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop())
    home.worker_pid.write_text(str(os.getpid()))
    # Hooks may start a worker again at once if this one should end.
    home.start_lock.write_text("")
    log.info("worker up", extra={"pid": os.getpid()})
    if home.dropped.exists():
        log.error("events were let go, because too many waited and no worker came")
        home.dropped.unlink()

    def work() -> None:
        try:
            loop.run()
        finally:  # without its job thread a worker would only seem to work
            stop()

    jobs = threading.Thread(target=work, name="jobs")
    jobs.start()
    try:
        asyncio.run(_until_idle(server, listener, loop))
    finally:
        loop.stop()
        jobs.join()
        log.info("worker down", extra={"pid": os.getpid()})


async def _until_idle(server: "uvicorn.Server", listener: socket.socket, loop: "Loop") -> None:
    """Serve, and end the serving when nothing has happened for long."""

    async def watch() -> None:
        while not server.should_exit:
            await asyncio.sleep(1.0)
            if loop.activity.idle_s() > loop.config.idle_exit_s:
                log.info("nothing to do; ending")
                server.should_exit = True

    watcher = asyncio.create_task(watch())
    await server.serve(sockets=[listener])
    watcher.cancel()
