"""The judge: probabilities that sentences of a turn carry a memory, and of worth, kind and title of the memory.

Four small logistic models, learned from labelled turns by `training/`; numpy alone runs them. The models never see
names of a project: features.py replaces names by classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from claude_mem_lite.compress.compose.candidates import SentenceCandidate
from claude_mem_lite.compress.compose.facts import TurnFacts
from claude_mem_lite.compress.compose.features import sentence_ngrams, turn_numbers
from claude_mem_lite.compress.compose.titles import Title, title_ngrams, title_rows, titles_of
from claude_mem_lite.compress.compose.turn_features import (
    headings_apart,
    heads,
    kind_ngrams,
    kind_numbers,
    probable_title,
    worth_numbers,
)
from claude_mem_lite.compress.prose.linear_model import Linear, load_models, save_models
from claude_mem_lite.models import WorkKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]

ROLES = ("carries", "cause", "result", "decision", "finding", "verified", "next", "needs_context", "fits", "head")
"""Outputs of the judge for a sentence, in order."""
CONTENTS = ("cause", "finding", "decision", "result", "verified")
"""Roles of sentences, in the order of a summary."""
KINDS: tuple[WorkKind, ...] = ("bugfix", "feature", "refactor", "decision", "discovery", "change")
MODELS = ("sentence", "worth", "kind", "title")
WEIGHTS = Path(__file__).parent / "judge.npz"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Probabilities of the roles of one sentence."""

    carries: float
    cause: float
    result: float
    decision: float
    finding: float
    verified: float
    next: float
    needs_context: float
    fits: float
    """A sentence that carries the memory would be good in the summary, and stands alone."""
    head: float
    """The sentence says the same as the title."""

    @property
    def role(self) -> str:
        """Return the most likely content of the sentence."""
        return max(CONTENTS, key=lambda role: float(getattr(self, role)))


@dataclass(frozen=True, slots=True)
class Judgement:
    """One turn, judged."""

    verdicts: tuple[Verdict, ...]
    """Verdicts in the order of the candidates."""
    worth: float
    """The probability that a memory of the turn helps an agent."""
    kinds: dict[WorkKind, float]
    titles: tuple[tuple[Title, float], ...] = ()
    """Each possible headline with the probability of being good."""


NOTHING = Judgement((), 0.0, dict.fromkeys(KINDS, 0.0))
"""The judgement of a turn without sentences."""


@dataclass(frozen=True)
class Judge:
    """The four models."""

    sentence: Linear
    worth: Linear
    kind: Linear
    title: Linear

    def judge(self, candidates: Sequence[SentenceCandidate], facts: TurnFacts) -> Judgement:
        """Return the judgement of a turn with at least one candidate."""
        numbers = turn_numbers(candidates, facts)
        scored = self.sentence.scores(map(sentence_ngrams, candidates), numbers)
        titles = titles_of(candidates)
        rows = title_rows(titles, candidates, numbers, scored.tolist(), facts)
        good = self.title.scores(map(title_ngrams, titles), rows)[:, 0].tolist() if titles else []
        graded = tuple(zip(titles, good, strict=True))
        title = probable_title(graded)
        scores = headings_apart(scored, candidates)
        best = heads(scores, candidates)
        worth = self.worth.scores([()], [worth_numbers(scores, candidates, facts)])
        kinds = self.kind.scores([kind_ngrams(title, best, facts)], [kind_numbers(scores, title, best, facts)])
        return Judgement(
            tuple(Verdict(*map(float, row)) for row in scores),
            float(worth[0, 0]),
            dict(zip(KINDS, map(float, kinds[0]), strict=True)),
            graded,
        )


@cache
def shipped_judge() -> Judge:
    """Return the judge with the weights of the package."""
    return load(WEIGHTS)


def load(path: Path) -> Judge:
    return Judge(**load_models(path))


def save(judge: Judge, path: Path) -> None:
    save_models({name: getattr(judge, name) for name in MODELS}, path)
