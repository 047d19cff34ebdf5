"""`python -m benchmarks.reader DATA … --server URL --keep FOLDER`: do a small model's answers get better by memory?

Closed questions about earlier sessions (labels/reader_questions.jsonl) are asked at the beginning of a later session of
the same project, with the notes of each condition (reader_notes.py), of a model behind OpenAI's API on this machine
(reader_model.py), at temperature 0. Answers are scored by normalised match (reader_questions.py). Questions that no
session answers should be answered with "unknown". Intervals of shares are Wilson's; differences are paired, with
intervals by bootstrap over questions.

FOLDER gets the notes and the raw answers, so it must be outside of the repository; with it a run is resumed."""

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.product import temporary_folder
from benchmarks.reader_model import Reader
from benchmarks.reader_notes import CONDITIONS, DEFAULT, MAX_PROMPT_TOKENS, Notes, all_notes
from benchmarks.reader_questions import ReaderQuestion, Verdict, reader_questions
from benchmarks.transcripts import Data
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.evaluation.intervals import mean_difference, share_interval

COMPARED = (("product", "none"), ("product", "headlines"), ("product", "past"))


@dataclass(frozen=True, slots=True)
class Scored:
    """A question with the verdict on its answer in one condition."""

    question: ReaderQuestion
    verdict: Verdict
    tokens: int
    is_in_notes: bool
    """Whether the notes match a pattern of the answer, for whatever reason."""


Scores = Mapping[str, Sequence[Scored]]
"""By condition, the questions in the same order."""


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.reader")
    options.add_argument("data", type=Path, nargs="+")
    options.add_argument("--server", required=True, metavar="URL")
    options.add_argument("--keep", type=Path, required=True, metavar="FOLDER")
    given = options.parse_args(arguments)
    given.keep.mkdir(parents=True, exist_ok=True)
    reader = Reader(given.server, given.keep / "answers.jsonl")
    notes = [one for folder in given.data for one in notes_of(Data(folder), given.keep)]
    scores: dict[str, list[Scored]] = {}
    for condition in CONDITIONS:
        scores[condition] = []
        for one, answer in zip(notes, reader.answers(notes, condition), strict=True):
            is_in_notes = one.question.is_answered_by(one.by_condition[condition])
            scores[condition].append(
                Scored(one.question, one.question.verdict(answer.said), answer.tokens, is_in_notes)
            )
    figures = [*all_figures(scores), *default_figures(notes)]
    for figure in figures:
        print(figure.line(), flush=True)
    return keep(
        "reader", "A small model as reader", figures, "python -m benchmarks.reader DATA … --server URL --keep FOLDER"
    )


def notes_of(data: Data, folder: Path) -> list[Notes]:
    """Return the notes of all questions of a project, made once."""
    own = [one for one in reader_questions() if one.project == data.folder.name]
    file = folder / f"notes-{data.folder.name}.json"
    if not file.exists():
        with temporary_folder() as scratch:
            made = [dict(one.by_condition) for one in all_notes(data, scratch, own)]
        file.write_text(json.dumps(made))
    return [Notes(question, one) for question, one in zip(own, json.loads(file.read_text()), strict=True)]


def all_figures(scores: Scores) -> Iterator[Figure]:
    """Yield the figures of all projects, the differences of conditions, and the figures of each project."""
    for condition, scored in scores.items():
        yield from _figures(f"{condition}, all projects", scored)
    for condition, other in COMPARED:
        yield from _differences(condition, other, scores)
    for project in dict.fromkeys(one.question.project for scored in scores.values() for one in scored):
        for condition, scored in scores.items():
            own = [one for one in scored if one.question.project == project]
            yield _share(f"{condition}, {project}: right", _answerable(own), Verdict.RIGHT)


def default_figures(notes: Sequence[Notes]) -> Iterator[Figure]:
    """Yield how often the notes hold the answer when a prompt has its default budget, and the tokens of that."""
    name = "product with the default budget of a prompt, all projects"
    closed = [one for one in notes if one.question.is_answerable]
    outcomes = [one.question.is_answered_by(one.by_condition[DEFAULT]) for one in closed]
    yield _figure(f"{name}: the answer stands in the notes", outcomes)
    tokens = {budget: [estimate_tokens(one.by_condition[budget]) for one in notes] for budget in (DEFAULT, "product")}
    note = f"with {MAX_PROMPT_TOKENS} tokens for the prompt {statistics.fmean(tokens['product']):.1f}"
    yield Figure(f"{name}: tokens by estimate, mean", round(statistics.fmean(tokens[DEFAULT]), 1), "", note=note)


def _figures(name: str, scored: Sequence[Scored]) -> Iterator[Figure]:
    closed = _answerable(scored)
    nowhere = [one for one in scored if not one.question.is_answerable]
    for verdict in Verdict:
        yield _share(f"{name}: {verdict}, of questions with an answer", closed, verdict)
    yield _figure(f"{name}: the answer stands in the notes", [one.is_in_notes for one in closed])
    yield _share(f"{name}: unknown, of questions without an answer", nowhere, Verdict.UNKNOWN)
    tokens = [one.tokens for one in scored]
    yield Figure(f"{name}: tokens sent, mean", round(statistics.fmean(tokens), 1), "", note=f"most {max(tokens)}")


def _differences(condition: str, other: str, scores: Scores) -> Iterator[Figure]:
    for verdict in (Verdict.RIGHT, Verdict.WRONG):
        pairs = zip(_answerable(scores[condition]), _answerable(scores[other]), strict=True)
        values = [float(one.verdict == verdict) - float(base.verdict == verdict) for one, base in pairs]
        measured = mean_difference(values)
        note = f"95 % {measured.low:+.3f} to {measured.high:+.3f}"
        yield Figure(f"{condition} against {other}: difference of {verdict}", round(measured.mean, 3), "", note=note)


def _answerable(scored: Sequence[Scored]) -> list[Scored]:
    return [one for one in scored if one.question.is_answerable]


def _share(name: str, scored: Sequence[Scored], verdict: Verdict) -> Figure:
    return _figure(name, [one.verdict == verdict for one in scored])


def _figure(name: str, outcomes: Sequence[bool]) -> Figure:
    low, high = share_interval(sum(outcomes), len(outcomes))
    note = f"{sum(outcomes)} of {len(outcomes)}, 95 % {low:.3f} to {high:.3f}"
    return Figure(name, round(sum(outcomes) / max(len(outcomes), 1), 3), "", note=note)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
