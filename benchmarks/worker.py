"""What the worker costs: its start, its memory, how fast it takes events in."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.stage import Stage, payload, stage
from claude_mem_lite.errors import WorkerUnavailable

STARTS = 10
EVENTS = 3000


def measure() -> Iterator[Figure]:
    with stage() as made:
        yield from _start(made)
        yield from _memory(made)
    with stage() as made:
        yield from _intake(made)


def _start(made: Stage) -> Iterator[Figure]:
    taken = []
    for _ in range(STARTS):
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-I", "-m", "claude_mem_lite.worker"], env=made.environment)
        _until_answer(made)
        taken.append(time.perf_counter() - began)
        made.stop_worker()
        process.wait()
    yield Figure("worker start to first answer", round(max(taken), 2), "s", 1.0, note=f"worst of {STARTS}")
    yield Figure("worker start to first answer, median", round(statistics.median(taken), 2), "s")


def _until_answer(made: Stage) -> None:
    for _ in range(2000):
        try:
            made.client.health()
        except WorkerUnavailable:
            time.sleep(0.005)
        else:
            return
    raise SystemExit("the worker did not come up")


def _memory(made: Stage) -> Iterator[Figure]:
    made.start_worker()
    health = made.client.health()
    yield Figure("worker, idle, empty", round(_resident_mb(health.pid), 1), "MB", 80, note="resident")


def _resident_mb(pid: int) -> float:
    """Resident memory by `ps`, which Linux and macOS both have."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024


def _intake(made: Stage) -> Iterator[Figure]:
    data = payload("PostToolUse", made.folder)
    now = time.time_ns()
    for number in range(EVENTS):
        name = f"{now + number:020d}-{os.getpid()}-{number:08x}-PostToolUse"
        (made.home.spool_new / name).write_bytes(data)
    began = time.perf_counter()
    made.start_worker()
    while any(made.home.spool_new.iterdir()):
        time.sleep(0.01)
    seconds = time.perf_counter() - began
    yield Figure("spool intake, 20 KB events", round(EVENTS / seconds), "events/s", note="worker start included")
    counts = made.client.drain(120.0).counts
    yield Figure("spool intake: events lost", EVENTS - counts.done - counts.skipped, "", 0)
