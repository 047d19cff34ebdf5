"""Sentences of a prompt that may be lessons, each with its probability. Called for every prompt."""

from dataclasses import dataclass

from claude_mem_lite.compress.language.spoken import spoken
from claude_mem_lite.compress.lessons.scorer import Scorer, shipped_scorer
from claude_mem_lite.patterns import lazy

MIN_SURE = 0.7
"""Sentences over it are stored at once: ten of the labelled ones, all lessons. Cautious, because a lower threshold that
is chosen on some projects does not hold on another (docs/labels.md)."""
MIN_UNSURE = 0.34
"""A candidate over it is worth judging: about one prompt in seven has one."""
MAX_PARAGRAPH = 1_200
"""Length of a first paragraph whose sentences are worth judging; those of one over 600 are never sure."""
MIN_WORDS = 4
_POINTS_BACK = lazy(
    r"(?i)^\W*(?:(?:and|but|so|also|hmm+),? )*(?:this|that|it|these|those|they|them|then|yes|yeah|yep|ok(?:ay)?|sure|go"
    r"|great|perfect|thanks?|good|therefore|instead|agree|\d+|[a-d]|(?:in )?(?:this|that|the (?:first|second|last)))\b"
    r"|\boption \w\b"
)
_JUST_UNSURE = MIN_SURE - 0.001


@dataclass(frozen=True, slots=True)
class LessonCandidate:
    """One sentence that the user says in a prompt."""

    sentence: str
    probability: float
    """The probability of being a lesson that lasts beyond the task; below `MIN_SURE` unless the sentence can be
    understood alone and is the user's own beyond doubt."""


def lesson_candidates(prompt: str, previous_message: str, scorer: Scorer | None = None) -> list[LessonCandidate]:
    """Return the user's own sentences of a prompt, most likely lessons first; pasted text, plans and logs have none.

    `previous_message` is the agent's last message before the prompt, or ''."""
    sentences = spoken(prompt, MAX_PARAGRAPH)
    probabilities = (scorer or shipped_scorer()).probabilities(sentences, previous_message)
    own = spoken(prompt) if any(value >= MIN_SURE for value in probabilities) else ()
    found = [
        LessonCandidate(sentence, value if sentence in own and stands_alone(sentence) else min(value, _JUST_UNSURE))
        for sentence, value in zip(sentences, probabilities, strict=True)
    ]
    return sorted(found, key=lambda candidate: -candidate.probability)


def stands_alone(sentence: str) -> bool:
    """Return whether a sentence can be understood without the agent's message before it."""
    return len(sentence.split()) >= MIN_WORDS and not _POINTS_BACK.search(sentence)
