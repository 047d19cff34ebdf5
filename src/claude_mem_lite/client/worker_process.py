"""The worker as a process: started when nobody answers, as `hook/starting.py` does it for hooks; found; ended.

For the command line, `install`, `doctor`, the MCP server and the page."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from claude_mem_lite.client.client import MAX_WORKERS, Client
from claude_mem_lite.errors import WorkerRefused, WorkerUnavailable
from claude_mem_lite.paths import HOME_VARIABLE, Home

START_WAIT_S = 10.0
STOP_WAIT_S = 30.0
# A worker that lost the race for the lock ends at once with 0, while the winner needs a second to answer.
AFTER_EXIT_WAIT_S = 3.0
OWN_VARIABLES = "CLAUDE_MEM_LITE_"
_POLL_S = 0.02


def ensure_worker(home: Home, wait_s: float = START_WAIT_S) -> Client:
    """A client with a worker behind it, started when nobody answered; WorkerUnavailable when it cannot be."""
    client = Client(home, next_worker=partial(_follow, home, wait_s))
    if is_answering(client):
        return client
    home.refuse_closed()
    home.make()
    # A worker that meets damage leaves its mark and ends: the next one looks at all of it, and mends it.
    if _comes_up(home, client, wait_s) or (home.suspect.exists() and _comes_up(home, client, wait_s)):
        return client
    _refuse_newer(home)
    raise WorkerUnavailable("the worker did not start", f"look at the end of {home.worker_log}")


def _follow(home: Home, wait_s: float) -> None:
    """Have a worker after one that is ending, which does not answer any more and has the lock until it is gone."""
    client = Client(home)
    wait_until(lambda: is_answering(client) or not _is_locked(home.worker_lock), time.monotonic() + STOP_WAIT_S)
    ensure_worker(home, wait_s)


def stop_worker(client: Client, wait_s: float = STOP_WAIT_S) -> bool:
    """Ask the worker to end and wait until it has; False when none was there."""
    try:
        client.ask_to_stop()
    except WorkerUnavailable:
        if not _is_locked(client.home.worker_lock):
            return False
    if not wait_until(lambda: not is_there(client), time.monotonic() + wait_s):
        raise WorkerUnavailable(
            f"the worker was asked to stop but is still there after {wait_s:g} s",
            f"look into {client.home.worker_log}",
        )
    return True


def is_answering(client: Client) -> bool:
    try:
        client.health()
    except (WorkerUnavailable, WorkerRefused):
        return False
    return True


def is_there(client: Client) -> bool:
    """Whether a worker has this home, be it one that does not answer yet or any more."""
    # Probing the lock while the worker still answers would be harmless but useless: look there last.
    return is_answering(client) or _is_locked(client.home.worker_lock)


def wait_until(holds: Callable[[], bool], deadline: float) -> bool:
    """Look again and again whether something holds, up to a moment of the monotonic clock."""
    while not holds():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _is_locked(lock: Path) -> bool:
    """Whether a worker lives, by the lock it holds: a process id may be a zombie's or another program's."""
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
    """Start a worker; whether one answers, be it another that was faster.

    A worker that finds another one ends at once with 0. When the other one was about to end, the home is free soon, and
    a worker is started once more."""
    deadline = time.monotonic() + wait_s
    for _ in range(MAX_WORKERS):
        was_held = _is_locked(home.worker_lock)
        if _start_and_wait(home, client, deadline) != 0:
            return is_answering(client)
        until = min(time.monotonic() + AFTER_EXIT_WAIT_S, deadline)
        wait_until(partial(_is_answering_or_free, client, was_held), until)
        if is_answering(client) or time.monotonic() >= until:
            break
    return is_answering(client)


def _is_answering_or_free(client: Client, was_held: bool) -> bool:
    return is_answering(client) or (was_held and not _is_locked(client.home.worker_lock))


def _start_and_wait(home: Home, client: Client, deadline: float) -> int | None:
    """Start a worker and wait for an answer or its end; its exit status, None while it runs."""
    process = _start_worker(home)
    try:
        wait_until(lambda: is_answering(client) or process.poll() is not None, deadline)
        return process.returncode
    finally:
        # Detached on purpose: without this, dropping the object warns of a child that still runs.
        process.returncode = 0


def _refuse_newer(home: Home) -> None:
    """SchemaTooNew when that is why no worker can start."""
    from claude_mem_lite.db.integrity import refuse_newer  # here: the MCP server must not load SQLite to start

    refuse_newer(home.memory_db)
    refuse_newer(home.inbox_db)


def worker_interpreter(home: Home) -> str:
    """The interpreter `install` chose for the worker, else the one running now."""
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
    """Ours, without what an agent put in for its own children: some of that is secret."""
    foreign = {name for name in os.environ if name.startswith("CLAUDE") and not name.startswith(OWN_VARIABLES)}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return {**kept, HOME_VARIABLE: str(home.root)}
