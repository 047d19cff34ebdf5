"""The scorer of lessons, and how it is measured."""

import json
from pathlib import Path

import pytest
from benchmarks.lessons import Scored, figures_of
from benchmarks.prompt_labels import label_of, references
from benchmarks.prompt_sheets import PastPrompt, sentences_of
from training.lessons import learn_lessons
from training.logistic import save_models
from training.prompts import LabelledPrompt

from claude_mem_lite.compress.lessons.candidates import Scorer, shipped_scorer

TEXT = "Commit it. We never mock the database here, because mocked tests passed while production broke."


def labelled(project: str) -> LabelledPrompt:
    past = PastPrompt(project, "0a1b2c3d-1", 4, "I mocked it.", TEXT, tuple(sentences_of(TEXT)))
    lesson = {"s": "q2", "grade": "strong", "kind": "rule", "lesson": "Never mock the database."}
    (line,) = references([{"prompt": past.name, "lessons": [lesson]}], [past], "r1")
    return LabelledPrompt(past, label_of(json.loads(line)))


def test_a_sentence_has_the_grade_that_its_reader_gave() -> None:
    prompt = labelled("shop")
    assert (prompt.grades, prompt.grade) == ([0, 2], 2)


def test_a_scorer_learns_from_labelled_prompts_and_is_kept_in_a_file(tmp_path: Path) -> None:
    scorer = learn_lessons([labelled("shop"), labelled("till")])
    task, lesson = scorer.probabilities(labelled("shop").sentences, "I mocked it.")
    assert lesson > task
    save_models(vars(scorer), tmp_path / "scorer.npz")
    kept = Scorer.load(tmp_path / "scorer.npz").probabilities(labelled("shop").sentences, "I mocked it.")
    assert kept == pytest.approx([task, lesson], abs=0.01)


def test_an_empty_prompt_has_no_scores() -> None:
    assert shipped_scorer().probabilities([], "Done.") == []


def test_strong_lessons_are_counted_among_the_highest_prompts_of_each_project() -> None:
    rest = [Scored(project, 0, 0.1, (), (), ()) for project in ("a", "b") for _ in range(19)]
    prompts = [Scored("a", 2, 0.9, (2,), (), ()), *rest, Scored("b", 2, 0.05, (), (), ())]
    told = {figure.name: figure for figure in figures_of("all", prompts)}
    assert told["all: strong lessons among 15% of the prompts"].value == 0.5
    assert told["all: sure ones are lessons"].value == 1.0
    assert not told["all: strong lessons among 15% of the prompts"].holds()
