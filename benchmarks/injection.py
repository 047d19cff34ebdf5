"""`python -m benchmarks.injection DATA…`: does a start context tell of the files that its session will touch?

The sessions of each project are walked in time through the product (injection_walk.py). From the eleventh on, each
start context is measured by how much it covers of what the session is going to touch (injection_counting.py), by what
it costs in tokens, and by how much of what it shows is of use: a session or a memory that has to do with a file which
this one will touch. Beside it stand simple ways to choose, from the same home at the same moment, each written as one
line a thing, without a frame around it. `told` counts what a line stands for, `readable` what can be read in it.

The bars hold for the mean over projects. BEFORE is what contexts that filled their room by shares measured, in the same
homes."""

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.transcripts import Data, recorded
from claude_mem_lite.evaluation.coverage import (
    CoverageSample,
    Files,
    Select,
    memory_selection,
    newest_sessions,
    product_selection,
    sample,
    session_selection,
)
from claude_mem_lite.evaluation.intervals import Measured, bootstrapped
from claude_mem_lite.evaluation.recording import ListedSession
from claude_mem_lite.evaluation.session_walk import FIRST, NEWEST, SessionStart, Walk
from claude_mem_lite.evaluation.trigger_walk import walk_in_time
from claude_mem_lite.evaluation.variants import Variant
from claude_mem_lite.evaluation.walk_folder import walk_folder

SMALLER = (500, 1000)
LAST, MAX_FILES = 10, 5
PRODUCT = "the product"
NEWEST_SESSIONS = f"the newest {LAST} sessions"
MAX_TOKENS = 1100
BEFORE_COVERAGE, BEFORE_USE = 0.540, 0.227
BETTER_USE = 1.5


def main(arguments: Sequence[str]) -> int:
    measured: dict[str, dict[str, CoverageSample]] = {}
    figures: list[Figure] = []
    for place in map(Path, arguments):
        walk, visits = walked(place)
        measured[place.name] = _measured(visits, walk.listed)
        figures += _told(_of_project(place.name, visits, walk.listed, measured[place.name]))
    figures += _told(_over_projects(measured))
    title = "What a start context tells of the work to come"
    return keep("injection", title, figures, "python -m benchmarks.injection DATA…")


def measured_ways(place: Path) -> dict[str, CoverageSample]:
    """Every way to choose, over the sessions of a data folder."""
    walk, visits = walked(place)
    return _measured(visits, walk.listed)


def walked(place: Path) -> tuple[Walk, list[SessionStart]]:
    """A walk that is over, with the starts of its sessions."""
    with walk_folder() as folder:
        walk = Walk(recorded(Data(place)), folder, [Variant(_smaller(budget), budget) for budget in SMALLER])
        return walk, [visit for visit in walk_in_time(walk) if isinstance(visit, SessionStart)]


def _told(figures: Iterator[Figure]) -> Iterator[Figure]:
    for figure in figures:
        print(figure.line(), flush=True)
        yield figure


def _measured(visits: Sequence[SessionStart], listed: Sequence[ListedSession]) -> dict[str, CoverageSample]:
    files = Files(listed)
    ways = _ways(files, [session.id for session in listed])
    return {name: sample(files, visits, way) for name, way in ways.items()}


def _of_project(
    name: str, visits: Sequence[SessionStart], listed: Sequence[ListedSession], ways: Mapping[str, CoverageSample]
) -> Iterator[Figure]:
    same = sum(visit.is_same for visit in visits) / len(visits)
    note = f"of {len(listed)}, from number {FIRST + 1} on; {same:.3f} of the hooks got the context in time"
    yield Figure(f"{name}: sessions that ask for a context", len(visits), "", note=note)
    for way, one in ways.items():
        covered, tokens = bootstrapped(one.covered), statistics.fmean(one.tokens)
        note = (
            f"{_interval(covered)}; readable {statistics.fmean(one.readable):.3f}; {tokens:.0f} tokens in the mean, "
            f"most {max(one.tokens)}; of use {_mean(one.use):.3f}"
        )
        yield Figure(f"{name}: coverage: {way}", round(covered.mean, 3), "", note=note)


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
        f"the {NEWEST} newest memories by title": memory_selection,
        "the whole past": lambda visit: session_selection(files, visit, earlier(visit)),
    }


def _smaller(budget: int) -> str:
    return f"{PRODUCT}, within {budget} tokens"


def _within(files: Files, budget: int) -> Select:
    return lambda visit: product_selection(files, *visit.variants[_smaller(budget)])


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


def _interval(measured: Measured) -> str:
    return f"95 % {measured.low:.3f} to {measured.high:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
