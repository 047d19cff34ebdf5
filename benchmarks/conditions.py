"""`python -m benchmarks.conditions DATA … [--home FOLDER]`: do planted facts help when they hold, and never harm?

A home gets the whole real past of a project, and facts about its files, functions and commands (planted_facts.py),
stored by the command of the user, by a prompt or by an agent's closing message (planted_homes.py). Four days after the
last session each fact is asked for by the same question in these conditions, each in a home of its own:

- present: the fact was stored. Right: its value is given.
- early: it was stored in the middle of the real past, so that later sessions may speak of its subject.
- absent: nothing was stored of it. Wrong: the question is given any item.
- adjacent: the same of a sibling, or something else of the same subject was stored. Wrong: any item is given.
- beside another: the same of a sibling was stored, in a sentence that names the subject too. Wrong: any item is given.
- superseded: a newer statement has another value. Wrong: the old value is given.
- superseded in other words: the newer statement has other words than the question.
- contradictory: two statements whose order says nothing. Wrong: exactly one value is given.
- reworded: the fact was stored in other words than those of the question. Told only.

The start context, which answers no question, may have neither the old value nor one of two alone. Beside the
product stand the three best chunks by words, always given, and silence. With `--home` the homes are kept there, and
used again; those of `benchmarks.questions` are the same."""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.baselines import Chunks
from benchmarks.figures import Figure, keep
from benchmarks.planted_facts import CONDITIONS, Case, Condition, cases
from benchmarks.planted_homes import past_text, planted_home, real_subjects
from benchmarks.product import temporary_folder
from benchmarks.questions import filled
from benchmarks.transcripts import Data, RawTurn, recorded
from claude_mem_lite.evaluation.intervals import share_interval

CASES = 30
NAIVE_ITEMS = 3
MIN_PRESENT = 0.9
MIN_CASES = 200
MAX_WRONG = 0
HELD_OUT = ("forge", "agent-swarm")
"""Projects by which nothing was chosen."""
_JUDGED: tuple[Condition, ...] = ("absent", "adjacent", "beside another", "superseded", "superseded in other words")
_SILENT: tuple[Condition, ...] = ("absent", "adjacent", "beside another")
"""Conditions in which nothing answers."""
_INJECTORS = ("product", "naive")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Text that a question was given in a condition, and the start context of the home."""

    project: str
    condition: Condition
    case: Case
    given: str
    injector: str = "product"
    start: str = ""

    @property
    def verdict(self) -> str:
        return verdict(self.condition, self.case, self.given)


def verdict(condition: Condition, case: Case, given: str) -> str:
    """Return `right`, `silent` or `wrong`; silence is right where nothing answers."""
    first, second, other = (_has(given, value) for value in case.values)
    if condition in _SILENT:
        return "wrong" if given else "right"
    if condition in ("present", "early", "reworded"):
        return "right" if first and not other else "silent" if not given else "wrong"
    if condition in ("superseded", "superseded in other words"):
        return "wrong" if first else "right" if second else "silent"
    return "right" if first and second else "wrong" if first or second else "silent"


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.conditions")
    options.add_argument("data", type=Path, nargs="+")
    options.add_argument("--home", type=Path, metavar="FOLDER")
    options.add_argument("--cases", type=int, default=CASES, help="of each condition and project")
    options.add_argument("--shown", action="store_true", help="print what was wrong or silent")
    given = options.parse_args(arguments)
    outcomes: list[Outcome] = []
    with temporary_folder() as scratch:
        for data in map(Data, given.data):
            outcomes += asked(data, (given.home or scratch) / data.folder.name, scratch / "run", given.cases)
            print(f"{data.folder.name}: {len(outcomes)} answers", file=sys.stderr, flush=True)
    if given.shown:
        show(outcomes)
    figures = list(all_figures(outcomes))
    for figure in figures:
        print(figure.line(), flush=True)
    return keep("conditions", "Planted facts", figures, "python -m benchmarks.conditions DATA …")


def asked(data: Data, base: Path, folder: Path, number: int) -> Iterator[Outcome]:
    """Yield the outcome of every case of a project in every condition, for the product and for the naive injector."""
    last = filled(data, base).at
    recording, raw = recorded(data), list(data.turns())
    project = data.folder.name
    made = cases(real_subjects(recording, project), past_text(recording), number, project)
    for condition in CONDITIONS:
        plants = [plant for case in made for plant in case.plants(condition)]
        with planted_home(base, folder, recording, last) as home:
            home.plant(plants)
            start = home.start()
            for case in made:
                given = home.ask(case.question, f"asking-{case.number}")
                yield Outcome(project, condition, case, given, start=start)
        if condition == "reworded":
            continue
        chunks = Chunks([*raw, *(RawTurn("planted", plant.text) for plant in plants)])
        for case in made:
            best = chunks.best_texts(case.question, NAIVE_ITEMS)
            yield Outcome(project, condition, case, "\n".join(best), "naive")


def all_figures(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    product = [one for one in outcomes if one.injector == "product"]
    for condition in CONDITIONS:
        yield Figure(
            f"{condition}: cases", len(_of(product, condition)), "", floor=MIN_CASES if condition in _JUDGED else None
        )
    yield from _group("all", product, is_judged=True)
    yield from _starts(product)
    yield from _group("three best chunks", [one for one in outcomes if one.injector == "naive"])
    yield Figure(
        "nothing: present, right", 0.0, "", note="silence is right only in absent, adjacent and beside another"
    )
    yield from _groups("project", product, lambda one: one.project)
    yield from _groups("by", product, lambda one: one.case.path)
    yield from _groups("about a", product, lambda one: one.case.subject.sort)
    yield from _groups("names", product, lambda one: "in backticks" if one.case.subject.is_quoted else "as words")
    yield from _groups("templates", product, lambda one: f"written {one.case.template.written}")
    apart = [one for one in product if one.project in HELD_OUT and one.case.template.written == "after all rules"]
    yield from _group("held-out projects and templates", apart)


def _starts(product: Sequence[Outcome]) -> Iterator[Figure]:
    """Yield how many facts the start context of a session gets wrong."""
    for condition in ("superseded", "superseded in other words", "contradictory"):
        verdicts = [verdict(condition, one.case, one.start) for one in _of(product, condition)]
        yield _share(f"start context, {condition}: right", [one == "right" for one in verdicts])
        yield _share(f"start context, {condition}: wrong", [one == "wrong" for one in verdicts], MAX_WRONG)


def _groups(name: str, outcomes: Sequence[Outcome], key: Callable[[Outcome], str]) -> Iterator[Figure]:
    for group in dict.fromkeys(map(key, outcomes)):
        yield from _group(f"{name} {group}", [one for one in outcomes if key(one) == group])


def _group(name: str, outcomes: Sequence[Outcome], *, is_judged: bool = False) -> Iterator[Figure]:
    for condition in CONDITIONS:
        chosen = _of(outcomes, condition)
        if not chosen:
            continue
        verdicts = [one.verdict for one in chosen]
        floor = MIN_PRESENT if is_judged and condition == "present" else None
        if condition not in _SILENT:
            yield _share(f"{name}: {condition}, right", [one == "right" for one in verdicts], floor=floor)
        bar = MAX_WRONG if is_judged and condition in _JUDGED else None
        yield _share(f"{name}: {condition}, wrong", [one == "wrong" for one in verdicts], bar)
        if condition in ("adjacent", "beside another"):
            leaked = [_has(one.given, one.case.values[2]) for one in chosen]
            yield _share(f"{name}: {condition}, its value given", leaked)


def _of(outcomes: Sequence[Outcome], condition: Condition) -> list[Outcome]:
    return [one for one in outcomes if one.condition == condition]


def _share(name: str, found: Sequence[bool], bar: float | None = None, floor: float | None = None) -> Figure:
    low, high = share_interval(sum(found), len(found))
    note = f"{sum(found)} of {len(found)}, 95 % {max(low, 0.0):.3f} to {high:.3f}"
    return Figure(name, round(sum(found) / max(len(found), 1), 3), "", bar, floor, note)


def _has(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def show(outcomes: Sequence[Outcome]) -> None:
    """Print what the product got wrong or was silent about; to the terminal alone: it holds text of sessions."""
    for one in outcomes:
        if one.injector == "product" and one.verdict != "right":
            planted = [f"{plant.path}: {plant.text}" for plant in one.case.plants(one.condition)]
            print("=" * 20, one.project, one.condition, one.verdict, one.case.template.name, one.case.path)
            print(one.case.question, *planted, one.given[:1500], sep="\n  ")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
