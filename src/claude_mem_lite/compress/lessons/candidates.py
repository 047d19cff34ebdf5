"""Candidates for lessons: the sentences of a prompt that may hold beyond its task, each with a probability.

Provisional: a few cue words stand in for the learned scorer, which has the same shape."""

from dataclasses import dataclass

from claude_mem_lite.compress.lessons.spoken import spoken
from claude_mem_lite.patterns import lazy

MIN_SURE = 0.9
MIN_UNSURE = 0.35
_CUES = lazy(
    r"(?i)^(?:no|hmm|but|stop)\b|\bi(?:'d| would)? (?:like|prefer|think we should)\b|\b(?:because|since|so that)\b"
    r"|\b(?:everywhere|wherever|on purpose|intentional|from now on|in this repo|always|never|in general)\b"
)
_MIN_LENGTH, _MAX_LENGTH = 20, 400


@dataclass(frozen=True, slots=True)
class LessonCandidate:
    """A sentence of a prompt."""

    sentence: str
    """The user's words."""
    probability: float


def lesson_candidates(prompt: str, previous_message: str) -> list[LessonCandidate]:  # noqa: ARG001  of the scorer
    """Return the user's own sentences of a prompt that may be lessons, best first."""
    said = [one for one in spoken(prompt) if _MIN_LENGTH <= len(one) <= _MAX_LENGTH]
    found = [LessonCandidate(one, min(0.3 + 0.15 * len(_CUES.findall(one)), 0.85)) for one in said]
    return sorted((one for one in found if one.probability >= MIN_UNSURE), key=lambda one: -one.probability)
