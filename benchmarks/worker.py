"""What the worker costs: its start, its memory, how fast it takes events in."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.reading import fill
from benchmarks.stage import Stage, payload, stage
from claude_mem_lite.client.queries import Where
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S
from claude_mem_lite.limits import LIMITS

STARTS = 10
COLD_STARTS = 20
FEW = 1_000
MANY = 100_000
IDLE_S = LIMITS.rest_s + 15
INDEXED_S = 1800.0
EVENTS = 3000


def measure() -> Iterator[Figure]:
    with stage() as made:
        yield from _start(made)
    for memories in (0, FEW):
        with stage() as made:
            yield from _cold(made, memories)
    with stage() as made:
        yield from _memory(made)
    with stage() as made:
        yield from _intake(made)


def _start(made: Stage) -> Iterator[Figure]:
    until = {"worker start to a hook's answer": made.until_hook, "worker start to first answer": made.until_answer}
    taken: dict[str, list[float]] = {name: [] for name in until}
    for _ in range(STARTS):
        for name, is_up in until.items():
            began = time.perf_counter()
            process = subprocess.Popen([sys.executable, "-I", "-m", "claude_mem_lite.worker"], env=made.environment)
            is_up()
            taken[name].append(time.perf_counter() - began)
            made.stop_worker()
            process.wait()
    for name, times in taken.items():
        yield Figure(name, round(max(times), 2), "s", 1.0, note=f"worst of {STARTS}, by turns")
        yield Figure(f"{name}, median", round(statistics.median(times), 2), "s")


def _cold(made: Stage, memories: int) -> Iterator[Figure]:
    """Time the whole hook of a session's start while no worker runs, in turns with a bare interpreter."""
    if memories:
        fill(made, memories=memories, sessions=50)
    made.start_worker()
    made.client.drain(INDEXED_S)
    made.stop_worker()
    hooks, bare = [], []
    for number in range(COLD_STARTS):
        bare.append(made.time_pass_s())
        given = payload("SessionStart", made.folder, session=f"cold-{number}", source="startup")
        hooks.append(made.time_hook_s("SessionStart", given))
        made.until_answer()
        made.stop_worker()
    given_up = sum(taken >= ANSWER_WITHIN_S["SessionStart"] for taken in hooks)
    where = f"{memories} memories" if memories else "empty home"
    ratio = statistics.median(hooks) / statistics.median(bare)
    note = f"median of {COLD_STARTS}, {statistics.median(hooks) * 1000:.0f} ms; {given_up} without an answer in time"
    yield Figure(
        f"first hook to its answer, worker cold, {where}", round(ratio, 1), "x `python -c pass`", 25, note=note
    )


def _memory(made: Stage) -> Iterator[Figure]:
    fill(made, memories=MANY, sessions=500)
    made.start_worker()
    pid = made.client.health().pid
    made.client.drain(INDEXED_S)  # vectors too
    yield Figure(f"worker, just indexed, {MANY} memories", round(_resident_mb(pid), 1), "MB")
    for words in ("session config", "error in the build", "hook command path"):
        made.client.search(words, Where(str(made.folder)))
        made.client.context(str(made.folder), None)
    yield Figure(f"worker, just searched, {MANY} memories", round(_resident_mb(pid), 1), "MB")
    time.sleep(IDLE_S)
    note = f"{IDLE_S:g} s after searches"
    yield Figure(f"worker, idle, {MANY} memories", round(_resident_mb(pid), 1), "MB", 80, note=note)


def _resident_mb(pid: int) -> float:
    """Resident memory by `ps`, which Linux and macOS both have."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024


def _intake(made: Stage) -> Iterator[Figure]:
    now = time.time_ns()
    for number in range(EVENTS):
        name = f"{now + number:020d}-{os.getpid()}-{number:08x}-PostToolUse"
        (made.home.spool_new / name).write_bytes(payload("PostToolUse", made.folder))
    began = time.perf_counter()
    made.start_worker()
    while any(made.home.spool_new.iterdir()):
        time.sleep(0.01)
    seconds = time.perf_counter() - began
    yield Figure("spool intake, 20 KB events", round(EVENTS / seconds), "events/s", note="worker start included")
    counts = made.client.drain(120.0)
    yield Figure("spool intake: events lost", EVENTS - counts.done - counts.skipped, "", 0)
