"""`python -m benchmarks.questions DATA … [--home FOLDER]`: are questions about a project's past answered?

The questions of labels/questions.jsonl were written by readers of the sessions, in the words of somebody who asks, with
a pattern that a text which answers them matches; others are about what no session speaks of, and those of no project
are of general knowledge, and asked in each. All sessions of each data
folder are imported into one project. Then each question is asked a day after the last session, of search (does the
first hit answer, or one of the first five?), of raw chunks found by words (baselines.py), and as a prompt of a new
session: does the text that it is given answer? A question that nothing answers is best met with silence.

With `--home` the homes are kept there, and used again."""

import argparse
import json
import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from benchmarks.baselines import Chunks
from benchmarks.figures import Figure, keep
from benchmarks.product import temporary_folder
from benchmarks.stored import last_moment, memory_text, remembered
from benchmarks.transcripts import Data, recorded
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.evaluation.in_process_worker import SettableClock, served
from claude_mem_lite.evaluation.intervals import bootstrapped
from claude_mem_lite.evaluation.session_walk import Walk
from claude_mem_lite.models import Memory, Passage
from claude_mem_lite.paths import Home
from claude_mem_lite.search_values import Filters
from claude_mem_lite.worker.answers.prompt import budget_of_prompt, build_now
from claude_mem_lite.worker.services import Services

QUESTIONS = Path(__file__).parent / "labels" / "questions.jsonl"
TOP = 5
MIN_ANSWERED, MIN_SILENT = 0.45, 0.90


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the pattern of its answer; no pattern where nothing answers it."""

    project: str
    """Empty where it is of general knowledge."""
    text: str
    pattern: str

    def is_answered_by(self, text: str) -> bool:
        return bool(self.pattern) and re.search(self.pattern, text, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question with what came of asking it in each way: the place of the first hit that answers, from 0."""

    question: Question
    by_search: int | None
    by_chunks: int | None
    given: str
    """What the prompt was given."""
    tokens: int


def questions(path: Path = QUESTIONS) -> list[Question]:
    told = map(json.loads, path.read_text().splitlines())
    return [Question(one["project"], one["question"], one["answer_pattern"]) for one in told]


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.questions")
    options.add_argument("data", type=Path, nargs="+")
    options.add_argument("--home", type=Path, metavar="FOLDER")
    given = options.parse_args(arguments)
    with temporary_folder() as scratch:
        outcomes = [
            outcome for data in given.data for outcome in asked(Data(data), (given.home or scratch) / data.name)
        ]
    figures = list(all_figures(outcomes))
    for figure in figures:
        print(figure.line(), flush=True)
    return keep("questions", "Questions about the past", figures, "python -m benchmarks.questions DATA …")


def asked(data: Data, folder: Path) -> Iterator[Outcome]:
    """Every question of a project, asked in its home below the folder."""
    own = [one for one in questions() if one.project in (data.folder.name, "")]
    clock = filled(data, folder)
    chunks = Chunks(data.turns())
    with served(Home(folder / "home"), clock) as loop:
        for question in own:
            raw = chunks.best_texts(question.text, TOP)
            yield _asked(loop, folder / "checkout", question, raw)


def filled(data: Data, folder: Path) -> SettableClock:
    """Fill a home with all sessions, unless that was done before; return the clock of the moment of asking."""
    if not folder.exists():
        walk = Walk(recorded(data), folder)
        with served(walk.home, walk.clock):
            walk.go_to(max(turn.began_at for one in walk.past.values() for turn in one.turns) + timedelta(days=1))
    with remembered(Home(folder / "home")) as db:
        return SettableClock(last_moment(db) + timedelta(days=1))


def _asked(loop: Services, root: Path, question: Question, raw: Sequence[str]) -> Outcome:
    place = find_location(str(root))
    with closing(open_for_reading(loop.home.memory_db)) as db:
        hits = loop.search.search(db, question.text, Filters(project=place.project), loop.clock(), TOP)
        request = ContextRequest(place, loop.clock(), "asking")
        built = build_now(loop, db, question.text, request, (), budget_of_prompt(loop.settings.config, 0))
    found = [_text(hit.found) for hit in hits]
    return Outcome(question, _first(question, found), _first(question, raw), built.text, built.tokens)


def _text(found: Memory | Passage) -> str:
    return memory_text(found) if isinstance(found, Memory) else "\n".join((found.title, found.asked, found.answered))


def _first(question: Question, texts: Sequence[str]) -> int | None:
    return next((place for place, text in enumerate(texts) if question.is_answered_by(text)), None)


def all_figures(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    about_projects = [one for one in outcomes if one.question.project]
    yield from _figures("all projects", about_projects, is_judged=True)
    for project in dict.fromkeys(one.question.project for one in about_projects):
        yield from _figures(project, [one for one in outcomes if one.question.project == project], is_judged=False)
    general = [not one.given for one in outcomes if not one.question.project]
    yield _share("general knowledge: silent", general, MIN_SILENT)


def _figures(name: str, outcomes: Sequence[Outcome], *, is_judged: bool) -> Iterator[Figure]:
    closed = [one for one in outcomes if one.question.pattern]
    others = [one for one in outcomes if not one.question.pattern]
    for top, what in ((1, "the first hit"), (TOP, f"one of the first {TOP} hits")):
        yield _share(f"{name}: answered by {what} of search", [_within(one.by_search, top) for one in closed])
        yield _share(f"{name}: answered by {what} of raw chunks", [_within(one.by_chunks, top) for one in closed])
    answered = [one.question.is_answered_by(one.given) for one in closed]
    yield _share(f"{name}: answered by the prompt context", answered, MIN_ANSWERED if is_judged else None)
    yield _share(f"{name}: given anything", [bool(one.given) for one in closed])
    silent = [not one.given for one in others]
    yield _share(f"{name}: silent where nothing answers", silent, MIN_SILENT if is_judged else None)
    tokens = [one.tokens for one in outcomes if one.tokens]
    note = f"most {max(tokens)}" if tokens else ""
    yield Figure(f"{name}: tokens of an answer, median", statistics.median(tokens or [0]), "", note=note)


def _share(name: str, outcomes: Sequence[bool], floor: float | None = None) -> Figure:
    measured = bootstrapped([float(one) for one in outcomes] or [0.0])
    note = f"{sum(outcomes)} of {len(outcomes)}, 95 % {measured.low:.3f} to {measured.high:.3f}"
    return Figure(name, round(measured.mean, 3), "", floor=floor, note=note)


def _within(place: int | None, top: int) -> bool:
    return place is not None and place < top


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
