"""`python -m benchmarks.prompts DATA [DATA …]`: is what prompts are given of use, and are most of them left alone?

All prompts that were typed, from the eleventh session on, are walked in time through the product (prompts_walk.py).
Told is how many of them are given something, how much of that is of use (prompt_use.py), what it costs in tokens,
and how both change with the floor below which nothing is given. A turn that changed no file cannot show by files
whether memory helped it, so turns with edits and turns without are told apart: judged are those with edits, and all
together stand beside them. Compared with it are raw text found by words (prompts_raw.py), with and without a floor on
the score, and the plain formula (prompts_plain.py). A floor of raw text is laid where the wanted share of these same
prompts is above it, which flatters it.

Of several data folders only what the product gives is told, of each and in the mean over those that were given
anything."""

import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.figures import Figure, keep, p95
from benchmarks.project_walk import walked
from benchmarks.prompts_floors import held_out, highest_floor, score_floor
from benchmarks.prompts_plain import LEAST
from benchmarks.prompts_raw import TOP, Found, above, given_once, raw_found
from benchmarks.prompts_walk import FLOORS, Asked, Observer
from benchmarks.transcripts import Data
from claude_mem_lite.context.prompt.builder import MAX_ITEMS
from claude_mem_lite.context.prompt.scoring import FLOOR
from claude_mem_lite.evaluation.intervals import share_interval
from claude_mem_lite.evaluation.measurement import ProjectWalk
from claude_mem_lite.evaluation.prompt_use import JudgedPrompt, Rates, judge, rates, with_edits
from claude_mem_lite.evaluation.recording import ListedSession
from claude_mem_lite.evaluation.session_walk import FIRST
from claude_mem_lite.evaluation.trigger_walk import Answer

PRECISION, SHARE = 0.75, 0.20
SHARE_OF_PROJECTS = 0.15
STRICT_PRECISION, STRICT_SHARE = 0.92, 0.09
MEDIAN_TOKENS = 300
FIRST_PROMPTS = 6
RAW_SHARES = (0.30, 0.18, 0.09)
TURNS: Mapping[str, bool | None] = {"turns with edits": True, "turns without edits": False, "all turns": None}
JUDGED = "turns with edits"
RAW = {"raw text": False, "raw text with names split": True}
Raw = Sequence[Sequence[Found]]
"""What was found of raw text for each prompt."""
Choice = Callable[[Asked], Sequence[str]]
"""The sessions that the items for a prompt are of."""


def main(arguments: Sequence[str]) -> int:
    if len(arguments) > 1:
        return keep_all(map(walked_project, map(Path, arguments)))
    data = Data(Path(arguments[0]))
    began = time.monotonic()
    project = walked_project(data.folder)
    took_s = time.monotonic() - began
    order = [one.id for one in project.walk.listed]
    raw = {name: raw_found(data, order, project.asked, is_split=is_split) for name, is_split in RAW.items()}
    figures = list(all_figures(project.asked, project.walk.listed, raw, took_s))
    for figure in figures:
        print(figure.line(), flush=True)
    return keep("prompts", "What prompts are given", figures, "python -m benchmarks.prompts DATA")


@dataclass(frozen=True, slots=True)
class PromptedProject:
    """A project whose prompts were walked, with what other floors would have given."""

    name: str
    walk: ProjectWalk
    asked: Sequence[Asked]


def walked_project(folder: Path) -> PromptedProject:
    """All prompts of a data folder at their moments."""
    observer = Observer()
    walk = walked(folder, observe=observer)
    return PromptedProject(folder.name, walk, observer.asked(walk.prompts))


def keep_all(projects: Iterable[PromptedProject]) -> int:
    """Print and keep what the product gives, by project and in the mean."""
    figures = []
    for figure in over_projects(projects):
        print(figure.line(), flush=True)
        figures.append(figure)
    title = "What prompts are given, by project"
    return keep("prompts_projects", title, figures, "python -m benchmarks.prompts DATA …")


def of_project(name: str, walk: ProjectWalk) -> Iterator[Figure]:
    """What the product gives in one project; the exact values are those that `eval` has too."""
    sessions = {one.id: one for one in walk.listed}
    judged = [judge(one.trigger.session, one.trigger.has_edits, one.answer.sessions, sessions) for one in walk.prompts]
    for turns in (JUDGED, "all turns"):
        measured = rates(with_edits(judged, TURNS[turns]))
        figure = _figure(precision_of(name, turns), measured.precision, measured.note())
        yield replace(figure, exact=asdict(measured))
    tokens = statistics.fmean([one.answer.tokens for one in walk.prompts] or [0.0])
    yield Figure(tokens_of(name), round(tokens, 1), "", exact={"tokens": tokens})
    failures = [failure for one in walk.prompts for failure in one.failures]
    offered = sum(failure.is_offered for failure in failures)
    low, high = share_interval(offered, len(failures))
    note = f"95 % {low:.3f} to {high:.3f}; of {len(failures)} that came back with a known fix"
    exact = {"repeated": len(failures), "offered": offered, "low": low, "high": high}
    yield Figure(failures_of(name), offered, "", note=note, exact=exact)


def precision_of(name: str, turns: str) -> str:
    """The name of a figure of a project, as are those below."""
    return f"{name}: precision, {turns}"


def tokens_of(name: str) -> str:
    return f"{name}: tokens per prompt, mean over all prompts"


def failures_of(name: str) -> str:
    return f"{name}: failures that would have been given their known fix"


def over_projects(projects: Iterable[PromptedProject]) -> Iterator[Figure]:
    """What the product gives to turns with edits, by project and in the mean."""
    measured: list[Rates] = []
    for project in projects:
        judging = _Judging(project.asked, project.walk.listed)
        measured.append(rates(with_edits(judging.by(lambda one: one.product.sessions), True)))
        yield from of_project(project.name, project.walk)
        for place, floor in enumerate(FLOORS):
            at = rates(with_edits(judging.by(lambda one, place=place: one.at_floors[place].sessions), True))  # type: ignore[misc]
            chosen = " (chosen)" if floor == FLOOR else ""
            yield _figure(f"{project.name}: curve, floor {floor}{chosen}", at.precision, at.note())
    given = [one.precision for one in measured if one.items]
    told = f"of {len(given)} projects that were given anything"
    yield _figure(f"mean over projects: precision, {JUDGED}", statistics.fmean(given), told, PRECISION)
    share = statistics.fmean(one.share for one in measured)
    told = f"of all {len(measured)} projects"
    yield _figure(f"mean over projects: share of prompts given something, {JUDGED}", share, told, SHARE_OF_PROJECTS)


def all_figures(
    asked: Sequence[Asked], listed: Sequence[ListedSession], raw: Mapping[str, Raw], took_s: float
) -> Iterator[Figure]:
    judging = _Judging(asked, listed)
    edited = sum(one.has_edits for one in asked)
    note = (
        f"of {len(listed) - FIRST} sessions, from number {FIRST + 1} on; {edited} with edits; walked in {took_s:.0f} s"
    )
    yield Figure("prompts that were typed", len(asked), "", note=note)
    yield from _of_product(asked, judging)
    curve = [judging.by(lambda one, place=place: one.at_floors[place].sessions) for place in range(len(FLOORS))]  # type: ignore[misc]
    yield from _strict(curve)
    yield from _held_out(curve)
    yield from _curve(curve)
    yield from _baselines(asked, judging, raw)


class _Judging:
    """Tells of ways to choose how much of what they give is of use."""

    def __init__(self, asked: Sequence[Asked], listed: Sequence[ListedSession]) -> None:
        self._asked = asked
        self._sessions = {one.id: one for one in listed}

    def by(self, choose: Choice, first: int | None = None) -> list[JudgedPrompt]:
        return self.of([choose(one) for one in self._asked], first)

    def of(self, chosen: Sequence[Sequence[str]], first: int | None = None) -> list[JudgedPrompt]:
        """What was given for each prompt, judged; only the first prompts of each session if told so."""
        return [
            judge(one.session, one.has_edits, given, self._sessions)
            for one, given in zip(self._asked, chosen, strict=True)
            if first is None or one.number < first
        ]


def _of_product(asked: Sequence[Asked], judging: _Judging) -> Iterator[Figure]:
    judged = judging.by(lambda one: one.product.sessions)
    for name, has_edits in TURNS.items():
        measured = rates(with_edits(judged, has_edits))
        is_judged = name == JUDGED
        share = f"{measured.answered} of {measured.prompts} prompts"
        yield _figure(f"share of prompts given something, {name}", measured.share, share, SHARE if is_judged else None)
        yield _figure(f"precision, {name}", measured.precision, measured.note(), PRECISION if is_judged else None)
    own = sum(one.product.sessions.count(one.session.id) for one in asked)
    note = "after its conversation was compacted; they do not count, neither as of use nor as of none"
    yield Figure("items that are of the session itself", own, "", note=note)
    yield from _tokens([one.product for one in asked])
    at_floor = FLOORS.index(FLOOR)
    same = sum(one.product == one.at_floors[at_floor] for one in asked) / len(asked)
    note = "the worker's own has the budget of the session, and tells again what was compacted"
    yield _figure("answers that are the same in the curve", same, note)
    yield Figure("building one, p95", round(p95([one.build_ms for one in asked]), 1), "ms", note="at the lowest floor")


def _tokens(given: Sequence[Answer]) -> Iterator[Figure]:
    spoken = [one.tokens for one in given if one.tokens]
    note = f"p95 {p95(spoken):.0f}, most {max(spoken)}"
    yield Figure("tokens of an answer, median", statistics.median(spoken), "", MEDIAN_TOKENS, note=note)
    mean = statistics.fmean(one.tokens for one in given)
    yield Figure("tokens per prompt, mean over all prompts", round(mean, 1), "", note="most prompts are given none")


def _strict(curve: Sequence[Sequence[JudgedPrompt]]) -> Iterator[Figure]:
    """The points of the curve that the bars ask for, with the share and the precision of the same turns."""
    for least, bar, what in ((SHARE, None, "a fifth"), (STRICT_SHARE, STRICT_PRECISION, "9 %")):
        for name in (JUDGED, "all turns"):
            at = [rates(with_edits(judged, TURNS[name])) for judged in curve]
            place = highest_floor(FLOORS, [one.share for one in at], least)
            if place is not None:
                told = f"floor {FLOORS[place]}; {at[place].note()}"
                floor = bar if name == JUDGED else None
                yield _figure(f"precision where {what} of the prompts speak, {name}", at[place].precision, told, floor)


def _held_out(curve: Sequence[Sequence[JudgedPrompt]]) -> Iterator[Figure]:
    """The same with the floor chosen on other sessions than those it is judged by; the other constants stay."""
    edited = [with_edits(judged, True) for judged in curve]
    for least, what in ((SHARE, "a fifth"), (STRICT_SHARE, "9 %")):
        measured = rates(held_out(edited, FLOORS, least))
        name = f"precision where {what} of the prompts speak, {JUDGED}, the floor chosen on other sessions"
        yield _figure(name, measured.precision, measured.note())


def _curve(curve: Sequence[Sequence[JudgedPrompt]]) -> Iterator[Figure]:
    for floor, judged in zip(FLOORS, curve, strict=True):
        edits, others, everything = (rates(with_edits(judged, has_edits)) for has_edits in TURNS.values())
        note = (
            f"{_both(edits)} with edits, {_both(others)} without, {_both(everything)} together; "
            f"95 % {edits.low:.3f} to {edits.high:.3f} with edits"
        )
        chosen = " (chosen)" if floor == FLOOR else ""
        yield _figure(f"curve, floor {floor}{chosen}: precision with edits", edits.precision, note)


def _baselines(asked: Sequence[Asked], judging: _Judging, raw: Mapping[str, Raw]) -> Iterator[Figure]:
    for first, prompts in ((FIRST_PROMPTS, f"first {FIRST_PROMPTS} prompts of a session"), (None, "all prompts")):
        is_counted = [first is None or one.number < first for one in asked]
        for name, found in raw.items():
            for top in (TOP, 1):
                chosen = [[one.session for one in chunks[:top]] for chunks in found]
                yield _baseline(f"{name}, top {top}, {prompts}", judging.of(chosen, first))
            best = [chunks[0].score if chunks else 0.0 for chunks in itertools.compress(found, is_counted)]
            for share in RAW_SHARES:
                floor = score_floor(best, share)
                yield _baseline(f"{name}, BM25 above {floor:.1f}, {prompts}", judging.of(above(found, floor), first))
                once = given_once(asked, found, floor, MAX_ITEMS)
                told = f"{name}, BM25 above {floor:.1f}, nothing twice, {MAX_ITEMS} at most, {prompts}"
                yield _baseline(told, judging.of(once, first))
        yield _baseline(
            f"the plain formula above {LEAST}, {prompts}", judging.by(lambda one: one.plain.sessions, first)
        )
        yield _baseline(f"the product, {prompts}", judging.by(lambda one: one.product.sessions, first))


def _baseline(name: str, judged: Sequence[JudgedPrompt]) -> Figure:
    everything = rates(judged)
    edits = rates(with_edits(judged, True))
    return _figure(f"precision, {name}", everything.precision, f"{everything.note()}; {_both(edits)} with edits")


def _both(measured: Rates) -> str:
    return f"{measured.precision:.3f} at {100 * measured.share:.1f} %"


def _figure(name: str, value: float, note: str, floor: float | None = None) -> Figure:
    return Figure(name, round(value, 3), "", floor=floor, note=note)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
