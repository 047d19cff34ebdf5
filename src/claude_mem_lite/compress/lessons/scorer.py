"""Scorer of sentences that users say: the probability that one is a lesson that lasts beyond its task.

A small logistic model, learned from labelled prompts by `training/`; numpy alone runs it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from claude_mem_lite.compress.lessons.features import lesson_numbers, previous_numbers
from claude_mem_lite.compress.prose.linear_model import Linear, load_models, save_models

WEIGHTS = Path(__file__).parent / "scorer.npz"


@dataclass(frozen=True)
class Scorer:
    """The learned model."""

    lesson: Linear

    def probabilities(self, sentences: Sequence[str], previous_message: str) -> list[float]:
        """Return for each sentence of one prompt the probability of being a lesson."""
        if not sentences:
            return []
        numbers = [[*lesson_numbers(text), *previous_numbers(text, previous_message)] for text in sentences]
        return [float(value) for value in self.lesson.scores((), numbers)[:, 0]]

    def save(self, path: Path) -> None:
        """Write the scorer to a file."""
        save_models({"lesson": self.lesson}, path)

    @classmethod
    def load(cls, path: Path) -> "Scorer":
        """Return the scorer that a file holds."""
        return cls(**load_models(path))


@cache
def shipped_scorer() -> Scorer:
    """Return the scorer whose weights lie in the package."""
    return Scorer.load(WEIGHTS)


def is_loaded() -> bool:
    """Return whether the scorer of the package is in memory: to load it, with numpy, takes a quarter of a second."""
    return shipped_scorer.cache_info().currsize > 0
