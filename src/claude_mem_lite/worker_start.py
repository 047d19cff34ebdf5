"""Starting a worker when nobody answers: for the command line and `doctor`, as `hook/starting.py` does it for hooks."""

import os
import subprocess
import sys
import time

from claude_mem_lite.client import Client, wait_until
from claude_mem_lite.errors import WorkerUnavailable
from claude_mem_lite.paths import HOME_VARIABLE, Home

START_WAIT_S = 10.0
# A worker that lost the race for the lock ends at once with 0, while the winner needs a second to answer.
AFTER_EXIT_WAIT_S = 3.0
OWN_VARIABLES = "CLAUDE_MEM_LITE_"


def ensure_worker(home: Home, wait_s: float = START_WAIT_S) -> Client:
    """A client with a worker behind it, started when nobody answered; WorkerUnavailable when it cannot be."""
    client = Client(home)
    if client.is_answering():
        return client
    home.make()
    # A worker that meets damage leaves its mark and ends: the next one looks at all of it, and mends it.
    if _comes_up(home, client, wait_s) or (home.suspect.exists() and _comes_up(home, client, wait_s)):
        return client
    _refuse_newer(home)
    raise WorkerUnavailable("the worker did not start", f"look at the end of {home.worker_log}")


def _comes_up(home: Home, client: Client, wait_s: float) -> bool:
    """Start a worker; whether one answers, be it another that was faster."""
    process = _start_worker(home)
    started = time.monotonic()
    try:
        if not wait_until(lambda: client.is_answering() or process.poll() is not None, started + wait_s):
            return False
        left_s = 0.0 if process.returncode else min(AFTER_EXIT_WAIT_S, started + wait_s - time.monotonic())
        return wait_until(client.is_answering, time.monotonic() + left_s)
    finally:
        # Detached on purpose: without this, dropping the object warns of a child that still runs.
        process.returncode = 0


def _refuse_newer(home: Home) -> None:
    """SchemaTooNew when that is why no worker can start."""
    from claude_mem_lite.db.soundness import refuse_newer  # here: the MCP server must not load SQLite to start

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
