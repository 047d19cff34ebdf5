"""Sentences of a prompt that may be lessons, each with its probability. Called for every prompt."""

from dataclasses import dataclass

from claude_mem_lite.compress.lessons.features import is_request_at_hand
from claude_mem_lite.compress.lessons.scorer import Scorer, shipped_scorer
from claude_mem_lite.compress.lessons.statement import is_standing, stands_alone
from claude_mem_lite.compress.lessons.user_voice import spoken

MIN_SURE = 0.5
"""Sentences over it may be stored at once; their form keeps most others out (docs/labels.md)."""
MIN_UNSURE = 0.4
"""A candidate over it is worth judging: about one prompt in eight has one. A higher one drops lessons and others alike:
over .44 there are 57 % lessons instead of 55 %, and seven of 59 strong ones are lost."""
MAX_PARAGRAPH = 1_200
"""Length of a first paragraph whose sentences are worth judging; those of one over 600 are never sure."""


@dataclass(frozen=True, slots=True)
class LessonCandidate:
    """One sentence that the user says in a prompt."""

    sentence: str
    probability: float
    """The probability of being a lesson that lasts beyond the task."""
    is_sure: bool
    """It is likely, put as something that stands, understood alone, and the user's own beyond doubt."""

    @property
    def is_unsure(self) -> bool:
        """Return whether somebody should judge it: likely enough, and no request for the task at hand."""
        return not self.is_sure and self.probability >= MIN_UNSURE and not is_request_at_hand(self.sentence)


def lesson_candidates(prompt: str, previous_message: str, scorer: Scorer | None = None) -> list[LessonCandidate]:
    """Return the user's own sentences of a prompt, most likely lessons first; pasted text, plans and logs have none.

    `previous_message` is the agent's last message before the prompt, or ''."""
    sentences = spoken(prompt, MAX_PARAGRAPH)
    probabilities = (scorer or shipped_scorer()).probabilities(sentences, previous_message)
    own = spoken(prompt) if any(value >= MIN_SURE for value in probabilities) else ()
    found = [
        LessonCandidate(sentence, value, value >= MIN_SURE and sentence in own and may_be_sure(sentence))
        for sentence, value in zip(sentences, probabilities, strict=True)
    ]
    return sorted(found, key=lambda candidate: -candidate.probability)


def may_be_sure(sentence: str) -> bool:
    """Return whether a sentence has the form of a lesson that needs nobody to judge it."""
    return stands_alone(sentence) and is_standing(sentence) and not is_request_at_hand(sentence)
