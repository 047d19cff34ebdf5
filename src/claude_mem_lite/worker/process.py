"""Process of the worker: a single process for a home by lock, a private socket, a log of JSON lines, an orderly end."""

import ctypes
import fcntl
import json
import logging
import logging.handlers
import os
import signal
import socket
import sys
import threading
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from claude_mem_lite import hook_program
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.limits import LIMITS, Limits
from claude_mem_lite.paths import Home, identity

if TYPE_CHECKING:
    from claude_mem_lite.worker.loop import Loop

_BACKLOG = 1024
_M_ARENA_MAX = -8
# Time for which a thread keeps the interpreter when another waits; the default, 5 ms, is the time of a whole answer.
_SWITCH_S = 0.001
# A worker that ends takes up to 5 s to finish its answers.
_LOCK_WAIT_S = 8.0
_LOCK_POLL_S = 0.02
_MAX_LOG_BYTES = 1024 * 1024
_KEPT_LOGS = 3
_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
log = logging.getLogger(__name__)


class _JsonLines(logging.Formatter):
    """Formatter that makes a line of each record: message, and extra fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "what": record.getMessage(),
        }
        line.update({key: value for key, value in vars(record).items() if key not in _PLAIN})
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = type(record.exc_info[1]).__name__
            line["where"] = _where(record.exc_info[1])
            if isinstance(record.exc_info[1], MemoryLiteError):
                line["why"] = str(record.exc_info[1])
        return json.dumps(line, default=str)


def _where(error: BaseException) -> list[str]:
    """Return the frames of a failure, without the message, which may quote content."""
    frames = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        frames.append(f"{os.path.basename(code.co_filename)}:{step.tb_lineno} {code.co_name}")
        step = step.tb_next
    return frames[-6:]


def set_up_log(path: Path) -> None:
    """Send every log record of the process to a file. A failing log stops nothing."""
    logging.raiseExceptions = False
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=_MAX_LOG_BYTES, backupCount=_KEPT_LOGS, delay=True)
    handler.setFormatter(_JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)


def run(home: Home, limits: Limits = LIMITS) -> int:
    """Serve until idle, stopped, or ended by a signal; return 0 at once when another worker serves the home."""
    os.umask(0o077)
    # numpy would start a thread for each processor at its import; single vectors gain nothing from threads.
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
        _serve(home, listener, limits)
    finally:
        if identity(home.socket) == bound:  # else the folder was replaced, and the socket is of another worker
            home.socket.unlink(missing_ok=True)
    return 0


def _share_freed_memory() -> None:
    """Share freed memory between threads: glibc would keep a separate arena for each; musl and macOS do not."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def _take_lock(home: Home) -> int | None:
    """Return the lock of the home's only worker, held until the process ends and never unlinked; None if taken."""
    lock = os.open(home.worker_lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    deadline = Deadline.after(_LOCK_WAIT_S)
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            # A holder that does not listen is about to end, and may have read the spool for the last time.
            if _is_listening(home) or deadline.is_past():
                os.close(lock)
                return None
            time.sleep(_LOCK_POLL_S)


def _is_listening(home: Home) -> bool:
    os.chdir(home.root)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(home.socket.name)
        except BlockingIOError:  # a worker listens, with a full backlog
            return True
        except OSError:
            return False
    return True


def _listen(home: Home) -> socket.socket:
    """Return a listening socket of mode 0600, in place of the socket of a dead worker."""
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


def _serve(home: Home, listener: socket.socket, limits: Limits) -> None:
    # Imported late: the imports cost more than the rest of the start, and the socket must exist first.
    from claude_mem_lite.db.integrity import is_damage
    from claude_mem_lite.worker.composition import open_loop

    set_up_log(home.worker_log)
    try:
        with ExitStack() as at_the_end, open_loop(home, limits=limits) as loop:
            # Not before: a failed start must leave the pid file of a killed worker.
            at_the_end.callback(_remove_own_pid, home)
            _serve_loop(home, listener, loop)
    except Exception as error:
        log.exception("worker failed")
        if is_damage(error):  # on a page that the quick check did not read: the next worker checks all pages
            home.suspect.touch(mode=0o600)
        raise


def _remove_own_pid(home: Home) -> None:
    """Remove the pid file of this worker, but not of another one in a folder that replaced the home."""
    with suppress(OSError):
        if home.worker_pid.read_text() == str(os.getpid()):
            home.worker_pid.unlink()


def _serve_loop(home: Home, listener: socket.socket, loop: "Loop") -> None:
    """Serve HTTP in this thread and run jobs in another, until the server ends."""
    services = loop.services
    from claude_mem_lite.search import plain_index

    if not plain_index.suffices(services.readers.open):  # else after the first answer, which needs no numpy
        threading.Thread(target=loop.make_search_ready, name="ready", daemon=True).start()
    from claude_mem_lite.worker.api.app import LANES, App
    from claude_mem_lite.worker.http.server import Server

    def is_idle() -> bool:
        if services.activity.idle_s() <= services.settings.config.idle_exit_s:
            return False
        log.info("nothing to do; ending")
        return True

    def stop() -> None:
        server.stop()

    loop.make_way_if_idle()
    server = Server(listener, App(services, stop), LANES, is_idle)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop())
    home.worker_pid.write_text(str(os.getpid()))
    # Hooks may start another worker at once if this one ends.
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
        server.serve()
    finally:
        services.shutdown.stop()
        jobs.join()
        log.info("worker down", extra={"pid": os.getpid()})
