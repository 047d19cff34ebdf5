"""`python -m benchmarks.eval_speed DATA…`: how long `claude-mem-lite eval` takes, and whether its figures are
the kept ones.

Each project is evaluated by the command, in a process of its own. Other work on the machine lengthens the time that
passes, so the time of the processor stands beside it, with the load. The coverage is compared with
`results/injection.json`. The results are kept after each project."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import RESULTS, Figure, keep
from benchmarks.transcripts import Data
from claude_mem_lite.evaluation.measurement import PRODUCT
from claude_mem_lite.paths import HOME_VARIABLE

COMMAND = Path(sys.executable).with_name("claude-mem-lite")
UNIT_MB = 50
MAX_S = 120


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation: seconds that passed, seconds of the processor, load at the end, and coverage."""

    wall_s: float
    cpu_s: float
    load: float
    coverage: float


def main(arguments: Sequence[str]) -> int:
    kept = _kept_coverage()
    figures: list[Figure] = []
    status = 0
    for place in map(Path, arguments):
        for figure in _of_project(place, evaluated(place), kept):
            print(figure.line(), flush=True)
            figures.append(figure)
        status = keep("eval", "Time and figures of `eval`", figures, "python -m benchmarks.eval_speed DATA…")
    return status


def evaluated(place: Path) -> Run:
    """Evaluate a data folder in a process with a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HOME": folder, HOME_VARIABLE: f"{folder}/home"}
        began, before = time.perf_counter(), _cpu_s()
        ran = subprocess.run([COMMAND, "eval", place, "--json"], env=environment, capture_output=True, check=True)
        wall_s, cpu_s = time.perf_counter() - began, _cpu_s() - before
    (project,) = json.loads(ran.stdout)["projects"]
    coverage = float(project["whole"]["starts"][PRODUCT]["coverage"]["mean"])
    return Run(wall_s, cpu_s, os.getloadavg()[0], coverage)


def _of_project(place: Path, run: Run, kept: dict[str, float]) -> Iterator[Figure]:
    megabytes = Data(place).megabytes
    share = UNIT_MB / megabytes
    note = f"{megabytes:.1f} MB in {run.wall_s:.0f} s; load {run.load:.1f} on {os.cpu_count()} processors"
    yield Figure(f"{place.name}: time for {UNIT_MB} MB", round(run.wall_s * share), "s", bar=MAX_S, note=note)
    note = f"{megabytes:.1f} MB in {run.cpu_s:.0f} s"
    yield Figure(f"{place.name}: processor time for {UNIT_MB} MB", round(run.cpu_s * share), "s", note=note)
    if place.name in kept:
        difference = round(abs(round(run.coverage, 3) - kept[place.name]), 3)
        note = f"{run.coverage:.6f}, kept {kept[place.name]:.3f}"
        yield Figure(f"{place.name}: coverage, difference to the kept figure", difference, "", bar=0, note=note)


def _kept_coverage() -> dict[str, float]:
    end = ": coverage: the product"
    figures = json.loads((RESULTS / "injection.json").read_text())["figures"]
    return {str(each["name"])[: -len(end)]: float(each["value"]) for each in figures if each["name"].endswith(end)}


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
