"""What walking the sessions tells: how many memories were stale, noticed, marked, or silenced though still true.

Every share is over memories at the start of a session, so one memory counts in as many sessions as it was there for;
the 95 % intervals are by bootstrap over sessions. Only memories that have lines to be told by are counted."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import get_args

from benchmarks.figures import Figure
from benchmarks.staleness import Seen, Visit
from benchmarks.truth import LAX, SHARE, STRICT
from claude_mem_lite.code.freshness.verdicts import Verdict
from claude_mem_lite.evaluation.intervals import ROUNDS, Measured
from claude_mem_lite.evaluation.sightings import RecordedSession

Which = Callable[[Seen], bool]
JUDGED_TWICE = ("without a look: stale", "with a look: stale", "still true and not given")


def stale_figures(visits: Sequence[Visit], sessions: Sequence[RecordedSession]) -> Iterator[Figure]:
    """All that is told of the walk."""
    yield from _numbers(visits)
    yield from _of_given(visits, SHARE)
    for share, name in ((STRICT, "stricter"), (LAX, "laxer")):
        for one in _of_given(visits, share):
            if one.name.startswith(JUDGED_TWICE):
                yield Figure(f"{one.name}, by a {name} truth ({share:.0%} of the lines)", one.value, "", note=one.note)
    yield from _coverage(visits, sessions)
    yield from _table(visits)
    yield from _of_tied(visits, "tied to code", lambda one: one.is_anchored)
    yield from _of_tied(
        visits, "tied to code, its files seen by the session itself", lambda one: one.is_anchored and one.is_sure
    )


def _numbers(visits: Sequence[Visit]) -> Iterator[Figure]:
    seen = [one for visit in visits for one in visit.seen]
    for name, given in (("without", [one for one in seen if one.given]), ("with", [one for one in seen if one.told])):
        note = f"at {len(visits)} starts, {sum(one.standing is not None for one in given)} of them with lines"
        yield Figure(f"memories given {name} a look", len(given), "", note=note)


def _of_given(visits: Sequence[Visit], share: float) -> Iterator[Figure]:
    """Of what the start context gives."""

    def is_stale(one: Seen) -> bool:
        return one.is_stale(share)

    def is_given(one: Seen) -> bool:
        return one.given

    def is_told(one: Seen) -> bool:
        return one.told

    def is_gone(one: Seen) -> bool:
        return not one.told and one.verdict == "gone"

    def is_displaced(one: Seen) -> bool:
        return not one.told and one.verdict != "gone"

    yield _share("without a look: stale when given", visits, is_given, is_stale)
    yield _share("with a look: stale and given unmarked", visits, is_told, lambda one: is_stale(one) and not one.marked)
    yield _share("with a look: marked", visits, is_told, lambda one: one.marked)
    yield _share("with a look: marked, and stale", visits, lambda one: one.marked, is_stale)
    yield _share("given without a look, left out as gone with one", visits, is_given, is_gone)
    yield _share("given without a look, with one given up for others that are fresh", visits, is_given, is_displaced)
    is_true = _both(is_given, lambda one: not is_stale(one))
    yield _share("still true and not given: gone", visits, is_true, is_gone)
    yield _share("still true and not given: given up for others that are fresh", visits, is_true, is_displaced)


def _coverage(visits: Sequence[Visit], sessions: Sequence[RecordedSession]) -> Iterator[Figure]:
    """Of the files that a session will change, weighted by how rarely that is done, the share that it hears of."""
    changed = {session.id: {one.file for one in session.sightings if one.is_change} for session in sessions}
    number = Counter(file for files in changed.values() for file in files)
    weight = {file: math.log(len(sessions) / times) for file, times in number.items()}
    heard: dict[str, list[float]] = {"without": [], "with": []}
    for visit in visits:
        total = sum(weight[file] for file in changed[visit.session])
        if total:
            for name in heard:
                given = [one for one in visit.seen if (one.given if name == "without" else one.told)]
                named = frozenset().union(*(one.files for one in given)) & changed[visit.session]
                heard[name].append(sum(weight[file] for file in named) / total)
    for name, shares in heard.items():
        what = f"files to be changed that memories given {name} a look name"
        note = f"mean over {len(shares)} sessions, each file weighted by its rarity"
        yield Figure(what, round(sum(shares) / len(shares), 3), "", note=note)


def _table(visits: Sequence[Visit]) -> Iterator[Figure]:
    """Of all active memories that are tied to code, given or not: what the look says, and what is true."""
    tied = [one for visit in visits for one in visit.seen if one.is_anchored and one.standing is not None]
    table = Counter((one.verdict, one.is_stale()) for one in tied)
    for verdict in get_args(Verdict):
        for stale in (False, True):
            name = f"tied to code: {verdict} by the look, {'stale' if stale else 'true'} by its lines"
            yield Figure(name, table[verdict, stale], "", note=f"of {table.total()}")


def _of_tied(visits: Sequence[Visit], name: str, which: Which) -> Iterator[Figure]:
    def is_stale(one: Seen) -> bool:
        return one.is_stale()

    def is_true(one: Seen) -> bool:
        return not one.is_stale()

    def is_noticed(one: Seen) -> bool:
        return one.verdict in ("changed", "gone")

    yield _share(f"{name}: stale", visits, which, is_stale)
    yield _share(f"{name}: stale ones noticed", visits, _both(which, is_stale), is_noticed)
    yield _share(f"{name}: noticed ones that are stale", visits, _both(which, is_noticed), is_stale)
    yield _share(
        f"{name}: true ones taken for changed", visits, _both(which, is_true), lambda one: one.verdict == "changed"
    )
    yield _share(f"{name}: true ones taken for gone", visits, _both(which, is_true), lambda one: one.verdict == "gone")


def _both(first: Which, second: Which) -> Which:
    return lambda one: first(one) and second(one)


def _share(name: str, visits: Sequence[Visit], among: Which, which: Which) -> Figure:
    """How many of some are such, of those that have lines."""
    found = [[which(one) for one in visit.seen if one.standing is not None and among(one)] for visit in visits]
    counts = [(sum(some), len(some)) for some in found if some]
    share = _bootstrapped(counts)
    number = f"{sum(having for having, _ in counts)} of {sum(number for _, number in counts)}"
    note = f"{number}, 95 % interval {share.low:.3f} to {share.high:.3f}"
    return Figure(name, round(share.mean, 3), "", note=note)


def _bootstrapped(counts: Sequence[tuple[int, int]]) -> Measured:
    """The share over all sessions, with its interval by drawing sessions."""
    if not counts:
        return Measured(0.0, 0.0, 0.0)
    order = random.Random(0)
    drawn = sorted(_ratio(order.choices(counts, k=len(counts))) for _ in range(ROUNDS))
    return Measured(_ratio(counts), drawn[int(ROUNDS * 0.025)], drawn[int(ROUNDS * 0.975)])


def _ratio(counts: Sequence[tuple[int, int]]) -> float:
    return sum(having for having, _ in counts) / sum(number for _, number in counts)
