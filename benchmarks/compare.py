"""`python -m benchmarks.compare FOLDER [DATA…] [--part hooks|cold|context|memory|import]`: this and another version.

FOLDER is the checkout of the other version, with a `.venv` of its own. Both run by turns in one run, each on homes that
its own code has filled, so that the load of the machine is the same for both. A ratio above 1 says that this version
is faster, or smaller. Each DATA is a folder of recorded sessions that both versions import."""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks import worker
from benchmarks.figures import Figure, keep, p95
from benchmarks.import_transcripts import TimedImport, difference, held, timed_import
from benchmarks.product import product, temporary_folder, unpack
from benchmarks.reading import MEMORIES, SESSIONS
from benchmarks.stage import Stage, payload, stage
from benchmarks.transcripts import Data
from benchmarks.versions import THIS, Version, ratio, times_less
from claude_mem_lite.paths import Home

HOOK_ROUNDS = 60
CONTEXT_ROUNDS = 100
MIN_IMPORT_RATIO = 2.0
EVENTS = ("PostToolUse", "UserPromptSubmit", "SessionStart")
# Run by the Python of another version, in its checkout: a home has to be written by the version that reads it.
FILL = """
import sys
from pathlib import Path
from types import SimpleNamespace
from benchmarks.reading import fill
from claude_mem_lite.paths import Home
folder = Path(sys.argv[1])
fill(SimpleNamespace(folder=folder, home=Home(folder / "home")), memories=int(sys.argv[2]), sessions=int(sys.argv[3]))
"""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare")
    parser.add_argument("folder", type=Path)
    parser.add_argument("data", type=Path, nargs="*")
    parser.add_argument("--part", choices=[*PARTS, "import"], action="append")
    given = parser.parse_args(arguments)
    other, chosen = Version(given.folder.resolve()), given.part or [*PARTS, "import"]
    figures: list[Figure] = []
    for figure in _measured(other, chosen, [Data(folder) for folder in given.data]):
        print(figure.line(), flush=True)
        figures.append(figure)
    name = "compare" if given.part is None else f"compare_{'_'.join(given.part)}"
    return keep(name, "This version beside an earlier one", figures, "make bench AGAINST=FOLDER DATA=…")


def _measured(other: Version, chosen: Sequence[str], recorded: Sequence[Data]) -> Iterator[Figure]:
    for name, measure in PARTS.items():
        if name in chosen:
            yield from measure(other)
    if recorded and "import" in chosen:
        yield from compare_imports(other, recorded)


def _filled(stages: ExitStack, other: Version, memories: int, sessions: int) -> tuple[Stage, Stage]:
    """Return homes of both versions, indexed and without a worker."""
    before, now = (stages.enter_context(stage(version)) for version in (other, THIS))
    for made in (before, now):
        if memories:
            command = [str(made.version.python), "-c", FILL, str(made.folder), str(memories), str(sessions)]
            subprocess.run(command, cwd=made.version.checkout, check=True)
        made.start_worker()
        made.client.drain(worker.INDEXED_S)
        made.stop_worker()
    return before, now


def _by_turns(rounds: int, before: Stage, now: Stage, time_s: Callable[[Stage, int], float]) -> tuple[list[float], ...]:
    """Return the seconds of each version: first, second, second, first and so on."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for index in (0, 1) if number % 2 else (1, 0):
            taken[index].append(time_s((before, now)[index], number))
    return taken


def _hooks(other: Version) -> Iterator[Figure]:
    with ExitStack() as stages:
        before, now = _filled(stages, other, 0, 0)
        for made in (before, now):
            made.start_worker()
        for event in EVENTS:

            def time_s(made: Stage, number: int, event: str = event) -> float:
                made.client.drain(10.0)
                return made.time_hook_s(event, _payload(event, made, number))

            before_s, now_s = map(statistics.median, _by_turns(HOOK_ROUNDS, before, now, time_s))
            yield ratio(f"{event} hook, worker up", before_s, now_s, f"medians of {HOOK_ROUNDS}")


def _payload(event: str, made: Stage, number: int) -> bytes:
    if event == "SessionStart":
        return payload(event, made.folder, session=f"compared-{number}", source="startup")
    return payload(event, made.folder, prompt="Make the login test pass")


def _cold_starts(other: Version) -> Iterator[Figure]:
    for memories in (0, worker.FEW):
        with ExitStack() as stages:
            before, now = worker.cold_starts(_filled(stages, other, memories, worker.FEW_SESSIONS))
        home = worker.home_of(memories)
        yield ratio(f"cold start, {home}", before.hook_s, now.hook_s, f"medians of {worker.COLD_STARTS}")
        for name, cold in (("earlier version", before), ("this version", now)):
            yield cold.figure(f"cold start, {home}, {name}")


def _contexts(other: Version) -> Iterator[Figure]:
    with ExitStack() as stages:
        before, now = _filled(stages, other, MEMORIES, SESSIONS)
        for made in (before, now):
            made.start_worker()
        before_s, now_s = _by_turns(CONTEXT_ROUNDS, before, now, lambda made, _: _context_s(made))
    name, note = f"start context, {MEMORIES} memories", f"of {CONTEXT_ROUNDS}"
    yield ratio(f"{name}, median", statistics.median(before_s), statistics.median(now_s), note)
    yield ratio(f"{name}, p95", p95(before_s), p95(now_s), note)


def _context_s(made: Stage) -> float:
    began = time.perf_counter()
    made.client.context(str(made.folder), None)
    return time.perf_counter() - began


def _memory(other: Version) -> Iterator[Figure]:
    with ExitStack() as stages:
        taken = [
            worker.resident_after_search(made) for made in _filled(stages, other, worker.MANY, worker.MANY_SESSIONS)
        ]
    for name, before_mb, now_mb in zip(("just searched", "idle"), *taken, strict=True):
        yield times_less(f"memory of the worker, {name}, {worker.MANY} memories", before_mb, now_mb, "MB")


def compare_imports(other: Version, recorded: Sequence[Data]) -> Iterator[Figure]:
    """Import by turns with the other version and this one, and compare all that both have stored."""
    totals = [0.0, 0.0, 0.0, 0.0]
    for data in recorded:
        with temporary_folder() as folder:
            unpack(data, folder / "transcripts")
            found = [_import_with(version, folder, turn) for turn, version in enumerate((other, THIS, THIS, other))]
            differing = difference(held(found[0][1]), held(found[1][1]))
        (before, _), (now, _), (now_again, _), (before_again, _) = found
        clock_s = (before.seconds + before_again.seconds, now.seconds + now_again.seconds)
        worked_s = (before.worked_s + before_again.worked_s, now.worked_s + now_again.worked_s)
        totals = [total + part for total, part in zip(totals, (*clock_s, *worked_s), strict=True)]
        name = f"import of {data.folder.name}"
        yield ratio(f"{name}, by the clock", *_means(clock_s), f"{data.megabytes:.1f} MB")
        yield ratio(f"{name}, processor time", *_means(worked_s))
        note = "rows differ too where rules were changed in between"
        yield Figure(f"{name}, rows that differ", differing, "", note=note)
    yield ratio("import of all, by the clock", *_means(totals[:2]), floor=MIN_IMPORT_RATIO)
    yield ratio("import of all, processor time", *_means(totals[2:]))


def _import_with(version: Version, folder: Path, turn: int) -> tuple[TimedImport, Home]:
    with product(folder / f"home-{turn}", folder / "transcripts", version.command) as made:
        return timed_import(made), made.home


def _means(seconds: Sequence[float]) -> tuple[float, float]:
    """Return the mean of two imports with each version."""
    before_s, now_s = seconds
    return before_s / 2, now_s / 2


PARTS: dict[str, Callable[[Version], Iterator[Figure]]] = {
    "hooks": _hooks,
    "cold": _cold_starts,
    "context": _contexts,
    "memory": _memory,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
