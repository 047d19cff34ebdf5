"""`python -m benchmarks.injection DATA…`: does a start context tell of the files that its session will touch?

The sessions of each project are walked in time through the product (project_walk.py). From the eleventh on, each
start context is measured by how much it covers of what the session is going to touch (coverage.py), by what
it costs in tokens, and by how much of what it shows is of use: a session or a memory that has to do with a file which
this one will touch. Beside it stand simple ways to choose, from the same home at the same moment, each written as one
line a thing, without a frame around it. `told` counts what a line stands for, `readable` what can be read in it.

The bars hold for the mean over projects. BEFORE is what contexts that filled their room by shares measured, in the same
homes."""

import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.project_walk import walked
from claude_mem_lite.context.render import when
from claude_mem_lite.evaluation.coverage import (
    CoverageSample,
    Files,
    Select,
    ShownText,
    newest_sessions,
    product_selection,
    sample,
    session_selection,
)
from claude_mem_lite.evaluation.intervals import Measured, bootstrapped, mean_share
from claude_mem_lite.evaluation.measurement import ProjectWalk
from claude_mem_lite.evaluation.session_walk import FIRST, NEWEST, SessionStart
from claude_mem_lite.evaluation.variants import Variant

SMALLER = (500, 1000)
LAST, MAX_FILES = 10, 5
PRODUCT = "the product"
NEWEST_SESSIONS = f"the newest {LAST} sessions"
MAX_TOKENS = 1100
BEFORE_COVERAGE, BEFORE_USE = 0.540, 0.227
BETTER_USE = 1.5


def main(arguments: Sequence[str]) -> int:
    return keep_all((place.name, walked(place, variants())) for place in map(Path, arguments))


def keep_all(walks: Iterable[tuple[str, ProjectWalk]]) -> int:
    """Print and keep the figures of walked projects, by name."""
    measured: dict[str, dict[str, CoverageSample]] = {}
    figures: list[Figure] = []
    for name, walk in walks:
        measured[name] = measured_ways(walk)
        figures += _told(of_project(name, walk, measured[name]))
    figures += _told(_over_projects(measured))
    title = "What a start context tells of the work to come"
    return keep("injection", title, figures, "python -m benchmarks.injection DATA…")


def variants() -> list[Variant]:
    """The product within smaller budgets."""
    return [Variant(_smaller(budget), budget) for budget in SMALLER]


def measured_ways(walk: ProjectWalk) -> dict[str, CoverageSample]:
    """Every way to choose, over the sessions of a walk with the variants."""
    files = Files(walk.listed)
    ways = _ways(files, [session.id for session in walk.listed])
    return {name: sample(files, walk.starts, way) for name, way in ways.items()}


def _told(figures: Iterator[Figure]) -> Iterator[Figure]:
    for figure in figures:
        print(figure.line(), flush=True)
        yield figure


def of_project(name: str, walk: ProjectWalk, ways: Mapping[str, CoverageSample]) -> Iterator[Figure]:
    """The figures of one project; the exact values are those that `eval` has too."""
    same = sum(visit.is_same for visit in walk.starts) / len(walk.starts)
    note = f"of {len(walk.listed)}, from number {FIRST + 1} on; {same:.3f} of the hooks got the same context"
    yield Figure(f"{name}: sessions that ask for a context", len(walk.starts), "", note=note)
    for way, one in ways.items():
        covered, tokens = mean_share(one.covered), statistics.fmean(one.tokens)
        note = (
            f"{_interval(covered)}; readable {_mean(one.readable):.3f}; {tokens:.0f} tokens in the mean, "
            f"most {max(one.tokens)}; of use {_mean(one.use):.3f}"
        )
        exact = {
            "coverage.mean": covered.mean,
            "coverage.low": covered.low,
            "coverage.high": covered.high,
            "readable": _mean(one.readable),
            "tokens": tokens,
            "max_tokens": max(one.tokens),
            "of_use": _mean(one.use),
        }
        yield Figure(coverage_of(name, way), round(covered.mean, 3), "", note=note, exact=exact)


def coverage_of(name: str, way: str) -> str:
    """The name of a figure of a project."""
    return f"{name}: coverage: {way}"


def _over_projects(measured: Mapping[str, Mapping[str, CoverageSample]]) -> Iterator[Figure]:
    """The means over projects, with the bars."""

    def over(way: str, values: str) -> float:
        return round(statistics.fmean(_mean(getattr(ways[way], values)) for ways in measured.values()), 3)

    ways = next(iter(measured.values()))
    least = {PRODUCT: BEFORE_COVERAGE, _smaller(500): over(NEWEST_SESSIONS, "covered")}
    for way in ways:
        note = f"readable {over(way, 'readable'):.3f}"
        yield Figure(f"mean: coverage: {way}", over(way, "covered"), "", floor=least.get(way), note=note)
    for way in ways:
        most = MAX_TOKENS if way == PRODUCT else None
        yield Figure(f"mean: tokens: {way}", round(over(way, "tokens")), "", bar=most)
    for way in ways:
        floor = round(BETTER_USE * BEFORE_USE, 3) if way == PRODUCT else None
        yield Figure(f"mean: share of what is shown that is of use: {way}", over(way, "use"), "", floor=floor)
    differences = [
        one - another
        for ways in measured.values()
        for one, another in zip(ways[_smaller(500)].covered, ways[NEWEST_SESSIONS].covered, strict=True)
    ]
    gained = bootstrapped(differences)
    name = f"{_smaller(500)} against {NEWEST_SESSIONS}, over all sessions"
    yield Figure(name, round(gained.mean, 3), "", note=_interval(gained))


def _ways(files: Files, order: Sequence[str]) -> Mapping[str, Select]:
    """The product, within smaller budgets too, and the simple ways to choose."""

    def earlier(visit: SessionStart) -> list[str]:
        """The sessions before this one, the newest first."""
        return list(reversed(order[: order.index(visit.session.id)]))

    def largest(visit: SessionStart) -> list[str]:
        return sorted(earlier(visit), key=lambda id_: (-len(files.of[id_]), id_))[:MAX_FILES]

    return {
        PRODUCT: lambda visit: product_selection(files, visit.text, visit.lines),
        **{_smaller(budget): _within(files, budget) for budget in SMALLER},
        NEWEST_SESSIONS: newest_sessions(files, order, LAST),
        f"the {MAX_FILES} sessions with the most files": lambda visit: session_selection(files, visit, largest(visit)),
        f"the {NEWEST} newest memories by title": _newest_memories,
        "the whole past": lambda visit: session_selection(files, visit, earlier(visit)),
    }


def _smaller(budget: int) -> str:
    return f"{PRODUCT}, within {budget} tokens"


def _within(files: Files, budget: int) -> Select:
    return lambda visit: product_selection(files, *visit.variants[_smaller(budget)])


def _newest_memories(visit: SessionStart) -> ShownText:
    """Return the newest memories by their titles, one line each."""
    lines = []
    for memory in visit.newest:
        lines.append(f"- [{memory.kind}, {when(memory.last_seen_at, visit.session.started_at, False)}] {memory.title}")
    own = [frozenset(memory.files) for memory in visit.newest]
    return ShownText("\n".join(lines), frozenset().union(*own), own)


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


def _interval(measured: Measured) -> str:
    return f"95 % {measured.low:.3f} to {measured.high:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
