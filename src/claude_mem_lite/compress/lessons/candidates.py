"""Sentences of a prompt that may be lessons, each with its probability. Called for every prompt."""

from dataclasses import dataclass

from claude_mem_lite.compress.language.spoken import spoken
from claude_mem_lite.compress.language.statement import is_standing, stands_alone
from claude_mem_lite.compress.lessons.scorer import Scorer, shipped_scorer
from claude_mem_lite.patterns import lazy

MIN_SURE = 0.5
"""Sentences over it may be stored at once; their form keeps most others out (docs/labels.md)."""
MIN_UNSURE = 0.4
"""A candidate over it is worth judging: about one prompt in seven has one."""
MAX_PARAGRAPH = 1_200
"""Length of a first paragraph whose sentences are worth judging; those of one over 600 are never sure."""
# "No, use pnpm": too short for the scorer to tell which tool is meant for the step at hand alone.
_CORRECTS = lazy(
    r"(?i)\W*(?:no|nope|nah|stop|wait|wrong)\b[\s,.!:;–—-]+(?:(?:please|we|you|should|must|don'?t|do not)\s+)*use\s+\w"
)


@dataclass(frozen=True, slots=True)
class LessonCandidate:
    """One sentence that the user says in a prompt."""

    sentence: str
    probability: float
    """The probability of being a lesson that lasts beyond the task."""
    is_sure: bool
    """It is likely, put as something that stands, understood alone, and the user's own beyond doubt."""


def lesson_candidates(prompt: str, previous_message: str, scorer: Scorer | None = None) -> list[LessonCandidate]:
    """Return the user's own sentences of a prompt, most likely lessons first; pasted text, plans and logs have none.

    `previous_message` is the agent's last message before the prompt, or ''."""
    sentences = spoken(prompt, MAX_PARAGRAPH)
    probabilities = (scorer or shipped_scorer()).probabilities(sentences, previous_message)
    if sentences and _CORRECTS.match(sentences[0]):
        probabilities[0] = max(probabilities[0], MIN_UNSURE)
    own = spoken(prompt) if any(value >= MIN_SURE for value in probabilities) else ()
    found = [
        LessonCandidate(sentence, value, value >= MIN_SURE and sentence in own and may_be_sure(sentence))
        for sentence, value in zip(sentences, probabilities, strict=True)
    ]
    return sorted(found, key=lambda candidate: -candidate.probability)


def may_be_sure(sentence: str) -> bool:
    """Return whether a sentence has the form of a lesson that needs nobody to judge it."""
    return stands_alone(sentence) and is_standing(sentence)
