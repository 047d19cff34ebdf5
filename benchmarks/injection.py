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
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.injection_counting import Files, Told, Way, as_given, newest_memories, precision, sessions_told
from benchmarks.injection_walk import FIRST, NEWEST, Listed, Visit, Walk
from benchmarks.product import temporary_folder
from benchmarks.ranking import Measured, bootstrapped
from benchmarks.transcripts import Data

SMALLER = (500, 1000)
LAST, MAX_FILES = 10, 5
PRODUCT = "the product"
NEWEST_SESSIONS = f"the newest {LAST} sessions"
MAX_TOKENS = 1100
BEFORE_COVERAGE, BEFORE_USE = 0.540, 0.227
BETTER_USE = 1.5


@dataclass(frozen=True, slots=True)
class Measurement:
    """One way to choose, in one project."""

    told: Sequence[float]
    """Coverage, one a session that touches anything."""
    readable: Sequence[float]
    tokens: Sequence[int]
    use: Sequence[float]
    """The share of what is shown that is of use, one a session that is shown anything."""


def main(arguments: Sequence[str]) -> int:
    measured: dict[str, dict[str, Measurement]] = {}
    figures: list[Figure] = []
    for place in map(Path, arguments):
        with temporary_folder() as folder:
            walk = Walk(Data(place), folder, SMALLER)
            visits = list(walk.visits())
        measured[place.name] = _measured(visits, walk.listed)
        figures += _told(_of_project(place.name, visits, walk.listed, measured[place.name]))
    figures += _told(_over_projects(measured))
    title = "What a start context tells of the work to come"
    return keep("injection", title, figures, "python -m benchmarks.injection DATA…")


def _told(figures: Iterator[Figure]) -> Iterator[Figure]:
    for figure in figures:
        print(figure.line(), flush=True)
        yield figure


def _measured(visits: Sequence[Visit], listed: Sequence[Listed]) -> dict[str, Measurement]:
    files = Files(listed)
    ways = _ways(files, [session.id for session in listed])
    return {name: _measure(files, visits, [way(visit) for visit in visits]) for name, way in ways.items()}


def _measure(files: Files, visits: Sequence[Visit], told: Sequence[Told]) -> Measurement:
    pairs = [(visit.session.files, one) for visit, one in zip(visits, told, strict=True) if visit.session.files]
    use = [precision(wanted, one.things) for wanted, one in pairs]
    return Measurement(
        told=[files.coverage(wanted, one.told) for wanted, one in pairs],
        readable=[files.coverage(wanted, files.readable(one.text)) for wanted, one in pairs],
        tokens=[one.tokens for one in told],
        use=[share for share in use if share is not None],
    )


def _of_project(
    name: str, visits: Sequence[Visit], listed: Sequence[Listed], ways: Mapping[str, Measurement]
) -> Iterator[Figure]:
    same = sum(visit.is_same for visit in visits) / len(visits)
    note = f"of {len(listed)}, from number {FIRST + 1} on; {same:.3f} of the hooks got the context in time"
    yield Figure(f"{name}: sessions that ask for a context", len(visits), "", note=note)
    for way, one in ways.items():
        covered, tokens = bootstrapped(one.told), statistics.fmean(one.tokens)
        note = (
            f"{_interval(covered)}; readable {statistics.fmean(one.readable):.3f}; {tokens:.0f} tokens in the mean, "
            f"most {max(one.tokens)}; of use {_mean(one.use):.3f}"
        )
        yield Figure(f"{name}: coverage: {way}", round(covered.mean, 3), "", note=note)


def _over_projects(measured: Mapping[str, Mapping[str, Measurement]]) -> Iterator[Figure]:
    """The means over projects, with the bars."""

    def over(way: str, values: str) -> float:
        return round(statistics.fmean(_mean(getattr(ways[way], values)) for ways in measured.values()), 3)

    ways = next(iter(measured.values()))
    least = {PRODUCT: BEFORE_COVERAGE, _smaller(500): over(NEWEST_SESSIONS, "told")}
    for way in ways:
        note = f"readable {over(way, 'readable'):.3f}"
        yield Figure(f"mean: coverage: {way}", over(way, "told"), "", floor=least.get(way), note=note)
    for way in ways:
        most = MAX_TOKENS if way == PRODUCT else None
        yield Figure(f"mean: tokens: {way}", round(over(way, "tokens")), "", bar=most)
    for way in ways:
        floor = round(BETTER_USE * BEFORE_USE, 3) if way == PRODUCT else None
        yield Figure(f"mean: share of what is shown that is of use: {way}", over(way, "use"), "", floor=floor)
    differences = [
        one - another
        for ways in measured.values()
        for one, another in zip(ways[_smaller(500)].told, ways[NEWEST_SESSIONS].told, strict=True)
    ]
    gained = bootstrapped(differences)
    name = f"{_smaller(500)} against {NEWEST_SESSIONS}, over all sessions"
    yield Figure(name, round(gained.mean, 3), "", note=_interval(gained))


def _ways(files: Files, order: Sequence[str]) -> Mapping[str, Way]:
    """The product, within smaller budgets too, and the simple ways to choose."""

    def earlier(visit: Visit) -> list[str]:
        """The sessions before this one, the newest first."""
        return list(reversed(order[: order.index(visit.session.id)]))

    def largest(visit: Visit) -> list[str]:
        return sorted(earlier(visit), key=lambda id_: (-len(files.of[id_]), id_))[:MAX_FILES]

    return {
        PRODUCT: lambda visit: as_given(files, visit.text, visit.shown),
        **{_smaller(budget): _within(files, budget) for budget in SMALLER},
        NEWEST_SESSIONS: lambda visit: sessions_told(files, visit, earlier(visit)[:LAST]),
        f"the {MAX_FILES} sessions with the most files": lambda visit: sessions_told(files, visit, largest(visit)),
        f"the {NEWEST} newest memories by title": newest_memories,
        "the whole past": lambda visit: sessions_told(files, visit, earlier(visit)),
    }


def _smaller(budget: int) -> str:
    return f"{PRODUCT}, within {budget} tokens"


def _within(files: Files, budget: int) -> Way:
    return lambda visit: as_given(files, *visit.smaller[budget])


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


def _interval(measured: Measured) -> str:
    return f"95 % {measured.low:.3f} to {measured.high:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
