"""A memory or raw text that was thought of for a prompt, with what speaks for it and why it is not given."""

from collections.abc import Mapping
from dataclasses import dataclass

from claude_mem_lite.context.prompt import scoring
from claude_mem_lite.context.prompt.answers import Answer
from claude_mem_lite.context.prompt.scoring import Floor, Score, Shared
from claude_mem_lite.models import Memory


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory with its score, and why it is not given."""

    memory: Memory
    score: Score | None
    """None for one that is only told beside what it contradicts."""
    floor: Floor
    found: tuple[str, ...] = ()
    """The words of the prompt that it has."""
    shared: Shared | None = None
    """How much these count; None until it was read."""
    left_out: str = ""
    is_stale: bool = False
    since: str = ""
    """What its code is called now and where it is."""
    answer: Answer | None = None
    """What speaks for it where the prompt is a question; then it has no score."""

    @property
    def total(self) -> float:
        return self.value or 0.0

    @property
    def value(self) -> float | None:
        """What is held against the floor; None for one that is only told beside another."""
        return self.answer.sure if self.answer else self.score.total if self.score else None

    def parts(self) -> Mapping[str, float]:
        return self.answer.parts if self.answer else self.score.parts() if self.score else {}

    @property
    def reason(self) -> str:
        return f"{scoring.source_of(self.memory.kind)}, score {self.total:.2f}, words {', '.join(self.found[:5])}"

    def explained(self) -> tuple[str, ...]:
        """Its score, match, floor and shared words, each as a line that can be checked by hand."""
        if self.answer is not None:
            return (self.answer.explained(),)
        scored = (self.score.explained(), self.score.match.explained()) if self.score else ()
        return (*scored, self.floor.explained(), *((self.shared.explained(),) if self.shared else ()))
