"""Sentences of a prompt that may be lessons, each with its probability. Called for every prompt."""

from dataclasses import dataclass

from claude_mem_lite.compress.lessons.scorer import shipped_scorer
from claude_mem_lite.compress.lessons.spoken import spoken

MIN_SURE = 0.55
"""At least nine of ten sentences over it are lessons, on projects that were not trained on."""
MIN_UNSURE = 0.23
"""A candidate over it is worth judging: about one prompt in seven has one."""


@dataclass(frozen=True, slots=True)
class LessonCandidate:
    """One sentence that the user says in a prompt."""

    sentence: str
    probability: float
    """The probability of being a lesson that lasts beyond the task."""


def lesson_candidates(prompt: str, previous_message: str) -> list[LessonCandidate]:
    """Return the user's own sentences of a prompt, most likely lessons first; pasted text, plans and logs have none.

    `previous_message` is the agent's last message before the prompt, or ''."""
    sentences = spoken(prompt)
    probabilities = shipped_scorer().probabilities(sentences, previous_message)
    found = map(LessonCandidate, sentences, probabilities)
    return sorted(found, key=lambda candidate: -candidate.probability)
