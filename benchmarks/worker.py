"""`python -m benchmarks.worker [--part start|cold|memory|intake]`: what the worker costs: its start, its memory, how
fast it takes events in."""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from benchmarks.figures import Figure, keep
from benchmarks.reading import fill
from benchmarks.stage import Stage, payload, stage
from claude_mem_lite.client.queries import Where
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S
from claude_mem_lite.limits import LIMITS

STARTS = 10
COLD_STARTS = 20
MAX_COLD = 25
FEW = 1_000
MANY = 100_000
FEW_SESSIONS = 50
MANY_SESSIONS = 500
MAX_IDLE_MB, MAX_SEARCHED_MB = 60, 80
IDLE_S = LIMITS.rest_s + 15
INDEXED_S = 1800.0
EVENTS = 3000


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker")
    parser.add_argument("--part", choices=PARTS)
    asked = parser.parse_args(arguments)
    how = f"python -m benchmarks.worker {' '.join(['--part', asked.part] if asked.part else [])}".strip()
    figures = _printed(PARTS[asked.part]() if asked.part else measure())
    return keep(f"worker_{asked.part}" if asked.part else "worker", "Worker", figures, how)


def _printed(figures: Iterable[Figure]) -> list[Figure]:
    """Print each figure when it is measured, and return all."""
    printed = []
    for figure in figures:
        print(figure.line(), flush=True)
        printed.append(figure)
    return printed


def measure() -> Iterator[Figure]:
    for part in PARTS.values():
        yield from part()


def _measure_start() -> Iterator[Figure]:
    with stage() as made:
        yield from _start(made)


def _measure_cold() -> Iterator[Figure]:
    for memories in (0, FEW):
        with stage() as made:
            _fill_few(made, memories)
            (cold,) = cold_starts([made])
        yield cold.figure(f"first hook to its answer, worker cold, {home_of(memories)}", MAX_COLD)


def _measure_memory() -> Iterator[Figure]:
    with stage() as made:
        yield from _memory(made)


def _measure_intake() -> Iterator[Figure]:
    with stage() as made:
        yield from _intake(made)


PARTS: Mapping[str, Callable[[], Iterator[Figure]]] = {
    "start": _measure_start,
    "cold": _measure_cold,
    "memory": _measure_memory,
    "intake": _measure_intake,
}


def home_of(memories: int) -> str:
    return f"{memories} memories" if memories else "empty home"


def _fill_few(made: Stage, memories: int) -> None:
    """Fill a home, and make its vectors."""
    if memories:
        fill(made, memories=memories, sessions=FEW_SESSIONS)
    made.start_worker()
    made.client.drain(INDEXED_S)
    made.stop_worker()


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


class ColdStarts:
    """Times of hooks that start a session while no worker runs, and of a bare interpreter before each."""

    def __init__(self, made: Stage) -> None:
        self._made = made
        self._hooks: list[float] = []
        self._bare: list[float] = []

    def measure_next(self) -> None:
        made = self._made
        self._bare.append(made.time_pass_s())
        given = payload("SessionStart", made.folder, session=f"cold-{len(self._bare)}", source="startup")
        self._hooks.append(made.time_hook_s("SessionStart", given))
        made.until_answer()
        made.stop_worker()

    @property
    def hook_s(self) -> float:
        return statistics.median(self._hooks)

    def figure(self, name: str, bar: float | None = None) -> Figure:
        late = sum(taken >= ANSWER_WITHIN_S["SessionStart"] for taken in self._hooks)
        note = f"median of {len(self._hooks)}, {self.hook_s * 1000:.0f} ms; {late} without an answer in time"
        times = self.hook_s / statistics.median(self._bare)
        return Figure(name, round(times, 1), "x `python -c pass`", bar, note=note)


def cold_starts(stages: Sequence[Stage]) -> list[ColdStarts]:
    """Measure the cold start of each stage, by turns: first, second, second, first and so on."""
    measured = [ColdStarts(made) for made in stages]
    for number in range(COLD_STARTS):
        for cold in measured[:: -1 if number % 2 else 1]:
            cold.measure_next()
    return measured


def _memory(made: Stage) -> Iterator[Figure]:
    """Measure a worker that has just indexed everything, and one that finds everything indexed."""
    fill(made, memories=MANY, sessions=MANY_SESSIONS)
    made.start_worker()
    made.client.drain(INDEXED_S)  # vectors too
    yield Figure(f"worker, just indexed, {MANY} memories", _resident_mb(made), "MB")
    _search_some(made)
    yield Figure(f"worker, just indexed and searched, {MANY} memories", _resident_mb(made), "MB", MAX_SEARCHED_MB)
    made.stop_worker()
    searched_mb, idle_mb = resident_after_search(made)
    yield Figure(f"worker, just searched, {MANY} memories", searched_mb, "MB", MAX_SEARCHED_MB)
    note = f"{IDLE_S:g} s after searches"
    yield Figure(f"worker, idle, {MANY} memories", idle_mb, "MB", MAX_IDLE_MB, note=note)


def resident_after_search(made: Stage) -> tuple[float, float]:
    """Start the worker and return its resident memory after searches, and when it is idle again."""
    made.start_worker()
    _search_some(made)
    searched_mb = _resident_mb(made)
    time.sleep(IDLE_S)
    return searched_mb, _resident_mb(made)


def _search_some(made: Stage) -> None:
    for words in ("session config", "error in the build", "hook command path"):
        made.client.search(words, Where(str(made.folder)))
        made.client.context(str(made.folder), None)


def _resident_mb(made: Stage) -> float:
    """Return the worker's resident memory by `ps`, which Linux and macOS both have."""
    pid = made.client.health().pid
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return round(int(shown.stdout) / 1024, 1)


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
