"""`python -m benchmarks.lessons DATA …`: does the scorer find what careful readers took for lessons?

The prompts of each data folder are scored by a model that was trained on the labels of the others (docs/labels.md).

- *found*: of the prompts with a strong lesson, the share among the 15 % and 30 % of a project's prompts with the
  highest scores.
- *sure*: of the sentences that would be stored at once as the user's word, the share that readers took for a lesson,
  strong or weak. Sentences that ask to be remembered are stored as well; they are left out here.
- *unsure*: the same of the candidates that are kept aside until somebody judges them.
- *stated*: the same of the sentences in which the user states a lesson in so many words, by `reading.py`.

The constants of the product were chosen on these figures; benchmarks/lesson_choices.py tells what comes of choosing
them without the project that is measured. Last, precision and recall of `reading.py` on the German and Chinese
sentences of labels/sentences.jsonl."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.lessons import learn_lessons
from training.prompts import LabelledPrompt, labelled_prompts, written_sentences

from benchmarks.figures import Figure, keep
from benchmarks.lesson_choices import Chosen, chosen_without, found
from claude_mem_lite.compress.lessons.candidates import Scorer, lesson_candidates
from claude_mem_lite.compress.lessons.reader import read
from claude_mem_lite.evaluation.intervals import share_interval
from claude_mem_lite.knowledge.lessons.collection import MAX_OF_PROMPT

BARS = ((0.15, 0.55), (0.30, 0.70))
"""Share of the prompts, and the share of the strong lessons that has to be among them."""
MIN_PRECISION = 0.85


@dataclass(frozen=True, slots=True)
class Scored:
    """One labelled prompt as a model of the other projects scores it."""

    project: str
    grade: int
    best: float
    """Highest probability of its sentences."""
    sure: tuple[int, ...]
    """Grades of the sentences that would be stored at once."""
    stated: tuple[int, ...]
    """Grades of the sentences that state a lesson in so many words."""
    unsure: tuple[int, ...]
    """Grades of the candidates that need somebody to judge them."""


def scored(prompt: LabelledPrompt, scorer: Scorer) -> Scored:
    """Return how a scorer sees a prompt."""
    grades = dict(zip(prompt.sentences, prompt.grades, strict=True))
    candidates = lesson_candidates(prompt.past.prompt, prompt.past.before, scorer)
    return Scored(
        prompt.project,
        prompt.grade,
        max((candidate.probability for candidate in candidates), default=0.0),
        tuple(grades[one.sentence] for one in candidates if one.is_sure and not read(one.sentence)),
        tuple(grade for sentence, grade in grades.items() if read(sentence)),
        tuple(grades[one.sentence] for one in candidates if one.is_unsure)[:MAX_OF_PROMPT],
    )


def figures_of(name: str, prompts: Sequence[Scored]) -> Iterator[Figure]:
    """Yield the measures of some prompts; each project is cut by itself, so that none takes the place of another."""
    is_all = len({prompt.project for prompt in prompts}) > 1
    for share, bar in BARS:
        hits = [prompt.grade == 2 for prompt in _highest(prompts, share)]
        total = sum(prompt.grade == 2 for prompt in prompts)
        place = f"{name}: strong lessons among {share:.0%} of the prompts"
        yield _share(place, sum(hits), total, bar if is_all else None)
    yield Figure(f"{name}: AUC of a strong lesson", round(_auc(prompts), 3), "")
    sure = [grade for prompt in prompts for grade in prompt.sure]
    yield _share(f"{name}: sure ones are lessons", _lessons(sure), len(sure), MIN_PRECISION if is_all else None)
    stated = [grade for prompt in prompts for grade in prompt.stated]
    yield _share(f"{name}: stated ones are lessons", _lessons(stated), len(stated))
    unsure = [grade for prompt in prompts for grade in prompt.unsure]
    yield _share(f"{name}: unsure candidates are lessons", _lessons(unsure), len(unsure))
    yield _share(f"{name}: prompts with an unsure candidate", sum(bool(one.unsure) for one in prompts), len(prompts))


def _highest(prompts: Sequence[Scored], share: float) -> Iterator[Scored]:
    for project in sorted({prompt.project for prompt in prompts}):
        own = sorted((one for one in prompts if one.project == project), key=lambda one: -one.best)
        yield from own[: round(share * len(own))]


def _lessons(grades: Sequence[int]) -> int:
    return sum(grade > 0 for grade in grades)


def _auc(prompts: Sequence[Scored]) -> float:
    """Return the mean over projects of how often a prompt with a strong lesson is scored above one without."""
    means = []
    for project in {prompt.project for prompt in prompts}:
        own = [one for one in prompts if one.project == project]
        strong, others = ([one.best for one in own if (one.grade == 2) is wanted] for wanted in (True, False))
        wins = [(high > low) + (high == low) / 2 for high in strong for low in others]
        means.append(sum(wins) / len(wins) if wins else 0.5)
    return sum(means) / len(means)


def _share(name: str, hits: int, total: int, floor: float | None = None) -> Figure:
    low, high = share_interval(hits, total)
    value = round(hits / total, 3) if total else 0.0
    return Figure(name, value, "", floor=floor, note=f"{hits} of {total}; 95 % interval {low:.2f} to {high:.2f}")


def figures_of_choices(prompts: Sequence[LabelledPrompt]) -> Iterator[Figure]:
    """Yield the same measures with settings and threshold chosen without the project: the fairest figures here."""
    chosen: list[Chosen] = []
    sure: list[int] = []
    for project in sorted({prompt.project for prompt in prompts}):
        scored_prompts, grades = chosen_without(prompts, project)
        chosen += scored_prompts
        sure += grades
    name, total = "settings chosen without the project", sum(prompt.grade == 2 for prompt in prompts)
    for share, bar in BARS:
        yield _share(f"{name}: strong lessons among {share:.0%} of the prompts", found(chosen, share), total, bar)
    yield _share(f"{name}: sure ones are lessons", _lessons(sure), len(sure), MIN_PRECISION)


def language_figures(name: str, language: str) -> Iterator[Figure]:
    """Yield precision and recall of the forms of a language."""
    pairs = [(teaches, read(text) is not None) for text, teaches in written_sentences(language)]
    right = sum(teaches and found for teaches, found in pairs)
    yield _share(f"{name}: precision", right, sum(found for _, found in pairs), 0.9)
    yield _share(f"{name}: recall", right, sum(teaches for teaches, _ in pairs), 0.9)


def main(arguments: Sequence[str]) -> int:
    given = labelled_prompts(map(Path, arguments))
    projects = sorted({prompt.project for prompt in given})
    if len(projects) < 2:
        print("python -m benchmarks.lessons DATA … needs labelled prompts of two projects at least (docs/labels.md)")
        return 2
    scores: list[Scored] = []
    for project in projects:
        scorer = learn_lessons([prompt for prompt in given if prompt.project != project])
        scores += [scored(prompt, scorer) for prompt in given if prompt.project == project]
    figures = list(figures_of("all", scores))
    for project in projects:
        figures += figures_of(project, [prompt for prompt in scores if prompt.project == project])
    figures += figures_of_choices(given)
    for name, language in (("German", "de"), ("Chinese", "zh")):
        figures += language_figures(name, language)
    for figure in figures:
        print(figure.line())
    return keep("lessons", "Lessons in prompts", figures, "python -m benchmarks.lessons DATA …")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
