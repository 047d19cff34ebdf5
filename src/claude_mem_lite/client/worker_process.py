"""Worker process: start (as `hook/spawn_worker.py` does for hooks), detection, and end.

Used by the command line, `install`, `doctor`, the MCP server and the page.
"""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from claude_mem_lite.client.base import MAX_WORKERS
from claude_mem_lite.client.client import Client
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import WorkerRefused, WorkerUnavailable
from claude_mem_lite.paths import HOME_VARIABLE, Home

START_WAIT_S = 10.0
STOP_WAIT_S = 30.0
# A worker that lost the race for the lock ends at once with 0, while the winner needs a second to answer.
AFTER_EXIT_WAIT_S = 3.0
OWN_VARIABLES = "CLAUDE_MEM_LITE_"
_POLL_S = 0.02


def ensure_worker(home: Home, wait_s: float = START_WAIT_S) -> Client:
    """Return a client of a running worker; start a worker if none answers. Raise WorkerUnavailable on failure."""
    client = Client(home, next_worker=partial(_follow, home, wait_s))
    if is_answering(client):
        return client
    home.refuse_closed()
    home.make()
    # A worker that meets damage leaves its mark and ends: the next one looks at all of it, and mends it.
    if _comes_up(home, client, wait_s) or (home.suspect.exists() and _comes_up(home, client, wait_s)):
        return client
    _refuse_newer(home)
    if home.is_on_full_disk():
        raise WorkerUnavailable(
            f"the worker did not start, because the disk of {home.root} is full", "make room there, then run this again"
        )
    if _is_locked(home.worker_lock):  # a busy machine
        raise WorkerUnavailable(
            f"the worker is there, but did not answer within {wait_s:g} s",
            f"run this again in a moment; if that does not help, see the end of {home.worker_log}",
        )
    raise WorkerUnavailable(
        "the worker did not start", f"run `claude-mem-lite doctor`, and see the end of {home.worker_log}"
    )


def _follow(home: Home, wait_s: float) -> None:
    """Start a worker after an ending worker, which no longer answers but holds the lock until its end."""
    client = Client(home)
    wait_until(lambda: is_answering(client) or not _is_locked(home.worker_lock), Deadline.after(STOP_WAIT_S))
    ensure_worker(home, wait_s)


def stop_worker(client: Client) -> bool:
    """Ask the worker to end and wait for the end; return False without a worker."""
    try:
        client.ask_to_stop()
    except WorkerUnavailable:
        if not _is_locked(client.home.worker_lock):
            return False
    if not wait_until(lambda: not is_there(client), Deadline.after(STOP_WAIT_S)):
        raise WorkerUnavailable(
            f"the worker was asked to stop but is still there after {STOP_WAIT_S:g} s",
            f"see {client.home.worker_log}",
        )
    return True


def is_answering(client: Client) -> bool:
    try:
        client.health()
    except (WorkerUnavailable, WorkerRefused):
        return False
    return True


def is_there(client: Client) -> bool:
    """Return True if a worker has this home, even if the worker does not answer."""
    # Probing the lock while the worker still answers would be harmless but useless: look there last.
    return is_answering(client) or _is_locked(client.home.worker_lock)


def wait_until(holds: Callable[[], bool], deadline: Deadline) -> bool:
    """Wait for a condition; return False if the deadline came first."""
    while not holds():
        if deadline.is_past():
            return False
        time.sleep(_POLL_S)
    return True


def _is_locked(lock: Path) -> bool:
    """Return True if a worker holds the lock: a process id may belong to a zombie or to another program."""
    try:
        handle = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _comes_up(home: Home, client: Client, wait_s: float) -> bool:
    """Start a worker; return True if any worker answers.

    A worker that finds another worker ends at once with 0. If the other worker was about to end, the home is free soon,
    and a worker is started once more.
    """
    deadline = Deadline.after(wait_s)
    for _ in range(MAX_WORKERS):
        was_held = _is_locked(home.worker_lock)
        if _start_and_wait(home, client, deadline) != 0:
            return is_answering(client)
        soon = deadline.at_most(AFTER_EXIT_WAIT_S)
        wait_until(partial(_is_answering_or_free, client, was_held), soon)
        if is_answering(client) or soon.is_past():
            break
    return is_answering(client)


def _is_answering_or_free(client: Client, was_held: bool) -> bool:
    return is_answering(client) or (was_held and not _is_locked(client.home.worker_lock))


def _start_and_wait(home: Home, client: Client, deadline: Deadline) -> int | None:
    """Start a worker and wait for an answer or for its end; return the exit status, None while the worker runs."""
    process = _start_worker(home)
    try:
        wait_until(lambda: is_answering(client) or process.poll() is not None, deadline)
        return process.returncode
    finally:
        # Detached on purpose: without this, dropping the object warns of a child that still runs.
        process.returncode = 0


def _refuse_newer(home: Home) -> None:
    """Raise SchemaTooNew if a newer database keeps workers from starting."""
    from claude_mem_lite.db.integrity import refuse_newer  # here: the MCP server must not load SQLite to start

    refuse_newer(home.memory_db)
    refuse_newer(home.inbox_db)


def worker_interpreter(home: Home) -> str:
    """Return the interpreter that `install` chose for the worker, else the present interpreter."""
    try:
        # Not resolved further: a venv's python is itself a link, and only by its own name finds the venv.
        target = os.readlink(home.worker_python)
    except OSError:
        return sys.executable
    return target if os.access(target, os.X_OK) else sys.executable


def _start_worker(home: Home) -> "subprocess.Popen[bytes]":
    log = os.open(home.worker_log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        return subprocess.Popen(
            [worker_interpreter(home), "-I", "-m", "claude_mem_lite.worker"],
            env=_worker_environment(home),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(log)


def _worker_environment(home: Home) -> dict[str, str]:
    """Return our environment without the variables that an agent sets for its children: some are secret."""
    foreign = {name for name in os.environ if name.startswith("CLAUDE") and not name.startswith(OWN_VARIABLES)}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return {**kept, HOME_VARIABLE: str(home.root)}
