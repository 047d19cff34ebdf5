"""`python -m benchmarks.injection DATA`: does a start context tell of the files that its session will touch?

Sessions are walked in time through the product (injection_walk.py). From the eleventh on, each start context is
measured by how much it covers of what the session is going to touch (injection_counting.py), by what it costs in
tokens, and by how much of what it shows is of use: a session or a memory that has to do with a file which this one will
touch. Beside it stand simple ways to choose, from the same home at the same moment, each written as one line a thing,
without a frame around it. `told` counts what a line stands for, `readable` what can be read in it."""

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.injection_counting import Files, Told, Way, as_given, newest_memories, precision, sessions_told
from benchmarks.injection_walk import FIRST, NEWEST, Listed, Visit, Walk
from benchmarks.product import temporary_folder
from benchmarks.ranking import Measured, bootstrapped
from benchmarks.transcripts import Data
from claude_mem_lite.config import Config

COVERAGE = 0.53
SMALLER = (500, 1000)
LAST, MOST_FILES = 10, 5
BETTER = 0.001
"""How much better than a baseline is better."""
PRODUCT = "the product"
TITLES = f"the {NEWEST} newest memories by title"


def main(arguments: Sequence[str]) -> int:
    with temporary_folder() as folder:
        walk = Walk(Data(Path(arguments[0])), folder, SMALLER)
        visits = list(walk.visits())
    figures = list(_figures(visits, walk.listed))
    for figure in figures:
        print(figure.line(), flush=True)
    return keep(
        "injection", "What a start context tells of the work to come", figures, "python -m benchmarks.injection DATA"
    )


def _figures(visits: Sequence[Visit], listed: Sequence[Listed]) -> Iterator[Figure]:
    files = Files(listed)
    ways = _ways(files, [session.id for session in listed])
    told = {name: [way(visit) for visit in visits] for name, way in ways.items()}
    wanted = [visit.session.files for visit in visits]
    covered = {name: _coverage(files, wanted, all_told) for name, all_told in told.items()}
    budget = Config().budget_tokens
    note = f"of {len(listed)}, from number {FIRST + 1} on; {sum(map(bool, wanted))} touch a file"
    yield Figure("sessions that ask for a context", len(visits), "", note=note)
    same = sum(visit.is_same for visit in visits) / len(visits)
    yield Figure(
        "contexts that a hook got, as the API tells them", round(same, 3), "", note="a hook has no time to wait"
    )
    most = max(one.tokens for one in told[PRODUCT])
    yield Figure("tokens of a context, most", most, "", bar=budget, note=_tokens(told[PRODUCT]))
    for name in ways:
        yield from _of_way(name, covered[name], wanted, told[name])
    for name in ways:
        if not name.startswith(PRODUCT):
            yield from _against(name, covered[PRODUCT], covered[name], told[name])
    smaller = _smaller(SMALLER[-1])
    yield from _against(TITLES, covered[smaller], covered[TITLES], told[TITLES], smaller)


def _ways(files: Files, order: Sequence[str]) -> Mapping[str, Way]:
    """The product, within smaller budgets too, and the simple ways to choose."""

    def earlier(visit: Visit) -> list[str]:
        """The sessions before this one, the newest first."""
        return list(reversed(order[: order.index(visit.session.id)]))

    def largest(visit: Visit) -> list[str]:
        return sorted(earlier(visit), key=lambda id_: (-len(files.of[id_]), id_))[:MOST_FILES]

    return {
        PRODUCT: lambda visit: as_given(files, visit.text, visit.shown),
        **{_smaller(budget): _within(files, budget) for budget in SMALLER},
        f"the newest {LAST} sessions": lambda visit: sessions_told(files, visit, earlier(visit)[:LAST]),
        f"the {MOST_FILES} sessions with the most files": lambda visit: sessions_told(files, visit, largest(visit)),
        TITLES: newest_memories,
        f"{TITLES} and files": lambda visit: newest_memories(visit, with_files=True),
        "the whole past": lambda visit: sessions_told(files, visit, earlier(visit)),
    }


def _smaller(budget: int) -> str:
    return f"{PRODUCT}, within {budget} tokens"


def _within(files: Files, budget: int) -> Way:
    return lambda visit: as_given(files, *visit.smaller[budget])


Covered = Mapping[str, Sequence[float]]


def _coverage(files: Files, wanted: Sequence[frozenset[str]], told: Sequence[Told]) -> Covered:
    """By way of counting, one a session that touches anything."""
    pairs = [(own, one) for own, one in zip(wanted, told, strict=True) if own]
    return {
        "told": [files.coverage(own, one.told) for own, one in pairs],
        "readable": [files.coverage(own, files.readable(one.text)) for own, one in pairs],
    }


def _of_way(name: str, covered: Covered, wanted: Sequence[frozenset[str]], told: Sequence[Told]) -> Iterator[Figure]:
    for counted, values in covered.items():
        floor = COVERAGE if name == PRODUCT and counted == "told" else None
        measured = bootstrapped(values)
        note = f"{_interval(measured)}; {_tokens(told)}"
        yield Figure(f"coverage, {counted}: {name}", round(measured.mean, 3), "", floor=floor, note=note)
    pairs = [(own, one) for own, one in zip(wanted, told, strict=True) if own]
    of_sessions = [share for own, one in pairs if (share := precision(own, one.sessions.values())) is not None]
    of_things = [share for own, one in pairs if (share := precision(own, one.things)) is not None]
    if of_sessions:
        yield Figure(f"shown sessions that are of use: {name}", round(statistics.fmean(of_sessions), 3), "")
    if of_things and not name.startswith("the newest"):
        yield Figure(f"shown things that are of use: {name}", round(statistics.fmean(of_things), 3), "")


def _against(
    name: str, product: Covered, other: Covered, told: Sequence[Told], product_name: str = PRODUCT
) -> Iterator[Figure]:
    """The product against a simple way, session by session. The whole past takes more room than there is, and grows."""
    for counted, values in product.items():
        measured = bootstrapped([one - another for one, another in zip(values, other[counted], strict=True)])
        floor = None if name == "the whole past" and counted == "told" else BETTER
        note = f"{_interval(measured)}; {_tokens(told)}"
        what = f"{product_name} against {name}, {counted}"
        yield Figure(what, round(measured.mean, 3), "", floor=floor, note=note)


def _tokens(told: Sequence[Told]) -> str:
    tokens = [one.tokens for one in told]
    return f"{statistics.fmean(tokens):.0f} tokens in the mean, most {max(tokens)}"


def _interval(measured: Measured) -> str:
    return f"95 % {measured.low:.3f} to {measured.high:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
