"""`python -m benchmarks.eval_speed DATA…`: how long `claude-mem-lite eval` takes, and whether its figures are
those of the benchmarks.

Each project is evaluated by the command, in a process of its own. Other work on the machine lengthens the time that
passes, so the time of the processor stands beside it, with the load. Then the same sessions are walked as
`benchmarks.injection` and `benchmarks.prompts` walk them, and every figure that both have is compared, unrounded.
The results are kept after each project; those of other projects stay. With all seven projects in one call, the results
of `benchmarks.injection` and `benchmarks.prompts` are kept as well, since their walk is the same."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import injection, prompts
from benchmarks.figures import RESULTS, Figure, keep
from benchmarks.project_walk import walked
from benchmarks.prompts_walk import Observer
from benchmarks.transcripts import Data
from claude_mem_lite.evaluation.measurement import NEWEST_SESSIONS, PRODUCT, ProjectWalk
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import HOME_VARIABLE

COMMAND = Path(sys.executable).with_name("claude-mem-lite")
UNIT_MB = 50
MAX_S = 120
PROJECTS = 7
Exact = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation: seconds that passed, seconds of the processor, load at the end, and the figures."""

    wall_s: float
    cpu_s: float
    load: float
    figures: Exact
    problems: int


def main(arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        # For both sides: the user's own settings of the agent change what a start says.
        os.environ.update({"HOME": folder, HOME_VARIABLE: f"{folder}/home"})
        return _compare(list(map(Path, arguments)))


def _compare(places: Sequence[Path]) -> int:
    figures = _kept_of_others({place.name for place in places})
    walks: list[prompts.PromptedProject] = []
    status = 0
    for place in places:
        run = evaluated(place)
        observer = Observer()
        walk = walked(place, injection.variants(), observer)
        walks.append(prompts.PromptedProject(place.name, walk, observer.asked(walk.prompts)))
        for figure in (*_times(place, run), _equality(place.name, run.figures, benchmarked(place.name, walk))):
            print(figure.line(), flush=True)
            figures.append(figure)
        status = keep("eval", "Time and figures of `eval`", figures, "python -m benchmarks.eval_speed DATA…")
    if len(walks) == PROJECTS:
        injection.keep_all((project.name, project.walk) for project in walks)
        prompts.keep_all(walks)
    return status


def evaluated(place: Path) -> Run:
    """Evaluate a data folder in a process of its own."""
    began, before = time.perf_counter(), _cpu_s()
    ran = subprocess.run([COMMAND, "eval", place, "--json"], capture_output=True, check=True)
    wall_s, cpu_s = time.perf_counter() - began, _cpu_s() - before
    (project,) = json.loads(ran.stdout)["projects"]
    problems = sum(project["problems"].values())
    return Run(wall_s, cpu_s, os.getloadavg()[0], shared_figures(project["whole"]), problems)


def shared_figures(whole: JsonObject) -> dict[str, float]:
    """The figures of a report of `eval` that the benchmarks have too, by the names of `benchmarked`."""
    parts = {way: _numbers(_at(whole, "starts", way)) for way in (PRODUCT, NEWEST_SESSIONS)}
    parts |= {turns: _numbers(_at(whole, turns)) for turns in ("prompts", "prompts_with_edits")}
    found = {f"{part}: {measure}": value for part, values in parts.items() for measure, value in values.items()}
    plain = _numbers(whole)
    return {
        **found,
        "tokens_per_prompt": plain["tokens_per_prompt"],
        "failures.repeated": plain["failures_repeated"],
        "failures.offered": plain["failures_offered"],
        "failures.low": plain["failures_share.low"],
        "failures.high": plain["failures_share.high"],
    }


def benchmarked(name: str, walk: ProjectWalk) -> dict[str, float]:
    """The same figures as the benchmarks of starts and prompts measure them."""
    starts = {one.name: one.exact for one in injection.of_project(name, walk, injection.measured_ways(walk))}
    given = {one.name: one.exact for one in prompts.of_project(name, walk)}
    parts = {
        PRODUCT: starts[injection.coverage_of(name, injection.PRODUCT)],
        NEWEST_SESSIONS: starts[injection.coverage_of(name, injection.NEWEST_SESSIONS)],
        "prompts": given[prompts.precision_of(name, "all turns")],
        "prompts_with_edits": given[prompts.precision_of(name, prompts.JUDGED)],
    }
    found = {f"{part}: {measure}": value for part, values in parts.items() for measure, value in values.items()}
    failures = {f"failures.{measure}": value for measure, value in given[prompts.failures_of(name)].items()}
    return {**found, **failures, "tokens_per_prompt": given[prompts.tokens_of(name)]["tokens"]}


def _times(place: Path, run: Run) -> Iterator[Figure]:
    megabytes = Data(place).megabytes
    share = UNIT_MB / megabytes
    note = f"{megabytes:.1f} MB in {run.wall_s:.0f} s; load {run.load:.1f} on {os.cpu_count()} processors"
    yield Figure(f"{place.name}: time for {UNIT_MB} MB", round(run.wall_s * share), "s", bar=MAX_S, note=note)
    note = f"{megabytes:.1f} MB in {run.cpu_s:.0f} s"
    yield Figure(f"{place.name}: processor time for {UNIT_MB} MB", round(run.cpu_s * share), "s", note=note)
    yield Figure(f"{place.name}: problems that the worker of the walk logged", run.problems, "", bar=0)


def _equality(name: str, of_eval: Exact, of_benchmarks: Exact) -> Figure:
    """The number of figures that differ at all; a figure that only one of both has differs."""
    names = of_eval.keys() | of_benchmarks.keys()
    different = sorted(measure for measure in names if of_eval.get(measure) != of_benchmarks.get(measure))
    note = "; ".join((f"{len(names)} figures compared, unrounded", *different))
    exact = {measure: of_eval[measure] for measure in sorted(of_eval)}
    return Figure(f"{name}: figures that differ from the benchmarks", len(different), "", 0, note=note, exact=exact)


def _at(value: JsonValue, *keys: str) -> JsonValue:
    for key in keys:
        value = value[key] if isinstance(value, dict) else None
    return value


def _numbers(value: JsonValue) -> dict[str, float]:
    """The numbers of an object, those of objects in it with a dot between the names."""
    found: dict[str, float] = {}
    for name, each in value.items() if isinstance(value, dict) else ():
        if isinstance(each, int | float) and not isinstance(each, bool):
            found[name] = each
        elif isinstance(each, dict):
            found |= {f"{name}.{inner}": number for inner, number in _numbers(each).items()}
    return found


def _kept_of_others(names: set[str]) -> list[Figure]:
    """The kept figures of the projects that are not measured now."""
    path = RESULTS / "eval.json"
    kept = json.loads(path.read_text())["figures"] if path.exists() else []
    found = [Figure(**{name: value for name, value in each.items() if name != "holds"}) for each in kept]
    return [figure for figure in found if figure.name.split(":")[0] not in names]


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
