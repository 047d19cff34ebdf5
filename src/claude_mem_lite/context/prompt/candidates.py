"""Candidate for a prompt: a memory or raw text with its score, and a reason if left out."""

from collections.abc import Mapping
from dataclasses import dataclass

from claude_mem_lite.context.prompt import scoring
from claude_mem_lite.context.prompt.answers import AnswerCandidate
from claude_mem_lite.context.prompt.scoring import Floor, PromptScore, Shared
from claude_mem_lite.models import Memory


@dataclass(frozen=True, slots=True)
class CandidateMemory:
    """Memory with its score, and a reason if left out."""

    memory: Memory
    score: PromptScore | None
    """None for a memory that only contradicts a chosen memory."""
    floor: Floor
    found: tuple[str, ...] = ()
    """Words of the prompt in the memory."""
    shared: Shared | None = None
    """Strength of the found words; None before the memory was read."""
    left_out: str = ""
    is_stale: bool = False
    since: str = ""
    """Note about new names and locations of the code."""
    answer: AnswerCandidate | None = None
    """Evidence if the prompt is a question; then `score` is None."""

    @property
    def total(self) -> float:
        return self.value or 0.0

    @property
    def value(self) -> float | None:
        """Return the number to compare with the floor; None for a memory that only contradicts another."""
        return self.answer.sure if self.answer else self.score.total if self.score else None

    def parts(self) -> Mapping[str, float]:
        return self.answer.parts if self.answer else self.score.parts() if self.score else {}

    @property
    def reason(self) -> str:
        return f"{scoring.source_of(self.memory.kind)}, score {self.total:.2f}, words {', '.join(self.found[:5])}"

    def explained(self) -> tuple[str, ...]:
        """Return score, match, floor and shared words, each as a line that can be checked by hand."""
        if self.answer is not None:
            return (self.answer.explained(),)
        scored = (self.score.explained(), self.score.match.explained()) if self.score else ()
        return (*scored, self.floor.explained(), *((self.shared.explained(),) if self.shared else ()))
