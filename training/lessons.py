"""Labelled prompts -> the scorer of lessons."""

from collections.abc import Sequence

import numpy as np

from claude_mem_lite.compress.language.linear import Linear
from claude_mem_lite.compress.lessons.features import lesson_ngrams, lesson_numbers
from claude_mem_lite.compress.lessons.scorer import Scorer
from training.logistic import fit, rows, vocabulary
from training.prompts import LabelledPrompt

TARGETS = (0.0, 0.4, 1.0)
"""Target of a sentence by its grade: none, weak, strong."""
STRENGTH = 12.0
"""Penalty on the weights."""
MIN_COUNT, MIN_PROJECTS = 4, 2
"""How often, and in how many projects, an n-gram has to be seen to be one of the vocabulary."""


def learn_lessons(given: Sequence[LabelledPrompt]) -> Scorer:
    """Return the scorer of some labelled prompts."""
    sentences = [sentence for prompt in given for sentence in prompt.sentences]
    projects = [prompt.project for prompt in given for _ in prompt.sentences]
    targets = np.array([TARGETS[grade] for prompt in given for grade in prompt.grades])
    grams = [list(lesson_ngrams(sentence)) for sentence in sentences]
    words = vocabulary(grams, projects, at_least=MIN_COUNT, in_projects=MIN_PROJECTS)
    numbers = [lesson_numbers(sentence, prompt.past.before) for prompt in given for sentence in prompt.sentences]
    examples = rows(grams, numbers, words)
    weights = fit(examples, targets, np.ones_like(targets), strength=STRENGTH)
    return Scorer(Linear({word: at for at, word in enumerate(words)}, weights[:, None].astype(np.float32)))
