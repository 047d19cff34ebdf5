"""How the scorer of lessons does on a project when its settings and its threshold are chosen on the other projects.

The constants of the product were chosen on the figures of `benchmarks.lessons`, which flatters these. Here strength,
weight of brief sentences and threshold of each project come from folds over the others alone. Cues, form of the
features and forms of sure sentences are still those that were chosen on all of them. Called by `benchmarks.lessons`."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from training.lessons import learn_lessons, numbers_of
from training.prompts import LabelledPrompt

from claude_mem_lite.compress.lessons.candidates import may_be_sure
from claude_mem_lite.compress.lessons.user_voice import own_sentences
from claude_mem_lite.evaluation.intervals import share_interval

SETTINGS = tuple(itertools.product((5.0, 8.0, 12.0, 20.0), (0.1, 0.2, 0.3)))
"""Pairs of strength and weight of the brief sentences."""
SHARES = tuple(share / 100 for share in range(6, 31, 2))
"""Shares of the prompts over which settings are compared: what is best at one share alone is best by chance."""
MIN_PRECISION, CERTAINTY = 0.75, 1.28
"""The threshold is the lowest over which lessons are this frequent at the lower end of an 80 % interval: so few stand
over it that a plain share of nine in ten is often luck."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """One prompt as scored by a model whose settings were chosen without its project."""

    project: str
    grade: int
    best: float
    sentences: tuple[tuple[float, int], ...]
    """Probability and grade of the sentences that may be sure."""


def chosen_without(prompts: Sequence[LabelledPrompt], project: str) -> tuple[list[Chosen], list[int]]:
    """Return the prompts of a project, and the grades of those of its sentences that would be sure."""
    others = [prompt for prompt in prompts if prompt.project != project]
    folds = {setting: _folds(others, *setting) for setting in SETTINGS}
    best = max(SETTINGS, key=lambda setting: sum(found(folds[setting], share) for share in SHARES))
    threshold = _threshold(folds[best])
    scored = list(_scored(others, [prompt for prompt in prompts if prompt.project == project], *best))
    return scored, [grade for prompt in scored for value, grade in prompt.sentences if value >= threshold]


def found(prompts: Sequence[Chosen], share: float) -> int:
    """Return how many prompts with a strong lesson are among the highest of their projects."""
    hits = 0
    for project in {prompt.project for prompt in prompts}:
        own = sorted((one for one in prompts if one.project == project), key=lambda one: -one.best)
        hits += sum(one.grade == 2 for one in own[: round(share * len(own))])
    return hits


def _folds(prompts: Sequence[LabelledPrompt], strength: float, brief_weight: float) -> list[Chosen]:
    scored: list[Chosen] = []
    for project in sorted({prompt.project for prompt in prompts}):
        train, test = ([one for one in prompts if (one.project == project) is own] for own in (False, True))
        scored += _scored(train, test, strength, brief_weight)
    return scored


def _scored(
    train: Sequence[LabelledPrompt], test: Sequence[LabelledPrompt], strength: float, brief_weight: float
) -> Iterator[Chosen]:
    scorer = learn_lessons(train, strength, brief_weight)
    for prompt in test:
        numbers = numbers_of(prompt)
        values = [float(row[0]) for row in scorer.lesson.scores((), numbers)] if numbers else []
        own = own_sentences(prompt.past.prompt)
        graded = zip(prompt.sentences, values, prompt.grades, strict=True)
        sure = tuple((value, grade) for text, value, grade in graded if text in own and may_be_sure(text))
        yield Chosen(prompt.project, prompt.grade, max(values, default=0.0), sure)


def _threshold(prompts: Sequence[Chosen]) -> float:
    """Return the lowest threshold that is precise enough; 1 when none is."""
    ranked = sorted((pair for prompt in prompts for pair in prompt.sentences), reverse=True)
    lowest, right = 1.0, 0
    for count, (value, grade) in enumerate(ranked, 1):
        right += grade > 0
        if share_interval(right, count, CERTAINTY)[0] >= MIN_PRECISION:
            lowest = value
    return lowest
