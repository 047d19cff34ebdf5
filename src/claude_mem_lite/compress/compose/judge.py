"""The judge: probabilities that sentences of a turn carry a memory, and of worth, kind and title of the memory.

Four small logistic models, learned from labelled turns by `training/`; numpy alone runs them. The models never see
names of a project: features.py replaces names by classes."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from claude_mem_lite.compress.compose.candidates import SentenceCandidate
from claude_mem_lite.compress.compose.facts import TurnFacts
from claude_mem_lite.compress.compose.features import ngrams, sentence_ngrams, turn_numbers
from claude_mem_lite.compress.compose.titles import Title, title_ngrams, title_rows, titles_of
from claude_mem_lite.compress.prose.linear_model import Linear, load_models
from claude_mem_lite.compress.prose.titles import split_subject
from claude_mem_lite.models import WorkKind
from claude_mem_lite.values import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]

MAX_HEADS = 3
_MAX_PROMPT = 300
_MAX_ASKED = 200
_NO_TITLE = Title(0, "", "cut")
_DOCS = re.compile(r"(?i)\.(?:md|mdx|rst|txt|adoc)$")
_SETTINGS = re.compile(r"(?i)\.(?:json|toml|ya?ml|ini|cfg|lock|env|sh)$|Makefile|Dockerfile|\.github/")
_TESTS = re.compile(r"(?i)(?:^|[/_.-])(?:tests?|specs?|conftest|fixtures?|testdata)(?:[/_.-]|$)")
ROUTINE_TYPES = ("docs", "test", "tests", "chore", "style", "ci", "build")
_TYPES = ("fix", "feat", "refactor", "chore", "docs", "test")
_MATTERS = (
    re.compile(
        r"(?i)\b(?:fix|bug|broken|crash\w*|fail\w*|error|regression|wrong|doesn'?t work|not working|issue"
        r"|why (?:is|does|do|are)|traceback|exception|incorrect\w*|stuck|hang\w*|leak\w*|missing)\b"
    ),
    re.compile(r"(?i)\b(?:add|implement|create|introduce|build|support|feature|allow)\b"),
    re.compile(
        r"(?i)\b(?:refactor\w*|rename|move|extract|simplif\w*|clean ?up|consolidat\w*|dedup\w*|split|unify"
        r"|reorganiz\w*|dead code)\b"
    ),
    re.compile(r"(?i)\b(?:update|docs?|documentation|readme|comment\w*|bump|upgrade|config\w*|change|remove|tests?)\b"),
)
ROLES = ("carries", "cause", "result", "decision", "finding", "verified", "next", "needs_context", "fits", "head")
"""Outputs of the judge for a sentence, in order."""
CONTENTS = ("cause", "finding", "decision", "result", "verified")
"""Roles of sentences, in the order of a summary."""
KINDS: tuple[WorkKind, ...] = ("bugfix", "feature", "refactor", "decision", "discovery", "change")
WEIGHTS = Path(__file__).parent / "judge.npz"


@frozen
class SentenceVerdict:
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


@frozen
class Judgement:
    """One turn, judged."""

    verdicts: tuple[SentenceVerdict, ...]
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
            tuple(SentenceVerdict(*map(float, row)) for row in scores),
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


def headings_apart(scores: "Scores", candidates: Sequence[SentenceCandidate]) -> "Scores":
    """Return scores with zeros for headings, except the last column: a heading may only become a title."""
    at = [row for row, candidate in enumerate(candidates) if candidate.source in ("heading", "plan")]
    scores[at, :-1] = 0
    return scores


def worth_numbers(scores: "Scores", candidates: Sequence[SentenceCandidate], facts: TurnFacts) -> list[float]:
    """Return the features for the worth of a turn; `scores` has a row for each candidate."""
    bodies = sum(candidate.source == "body" for candidate in candidates)
    closing = sum(candidate.source == "closing" for candidate in candidates)
    return [
        *_top(scores, 0, 3),
        float(scores[:, 0].sum()) / 5,
        *_top(scores, 1, 2),
        *_top(scores, 2, 2),
        *_top(scores, 3, 1),
        *_top(scores, 4, 2),
        *_top(scores, 5, 1),
        *_top(scores, 6, 1),
        float(bool(facts.commits)),
        len(facts.commits) / 3,
        float(bodies > 0),
        math.log1p(bodies),
        float(facts.edits > 0),
        math.log1p(facts.edits),
        float(facts.fixes > 0),
        math.log1p(closing),
        math.log1p(len(facts.message)) / 5,
        float(facts.message.rstrip().endswith("?")),
        float(facts.answers > 0),
        float(facts.plans > 0),
        math.log1p(facts.agents),
        math.log1p(facts.runs),
        math.log1p(facts.reads),
        math.log1p(facts.failed_runs),
        math.log1p(len(facts.prompt)) / 5,
        float(facts.prompt.rstrip().endswith("?")),
        *_commit_numbers(candidates, facts),
    ]


def _commit_numbers(candidates: Sequence[SentenceCandidate], facts: TurnFacts) -> list[float]:
    """Return features of the commits of a turn: prose or lists in messages, and the topic of the last subject."""
    subject = facts.commits[-1] if facts.commits else ""
    type_, *_ = split_subject(subject)
    prose = sum(candidate.source == "body" and candidate.kind == "text" for candidate in candidates)
    paths = [change.path for change in facts.changes]
    return [
        float(bool(subject) and not prose),
        math.log1p(prose),
        *(float(bool(matter.search(subject))) for matter in _MATTERS),
        float(type_ in ROUTINE_TYPES),
        float(bool(paths) and all(is_supporting_file(path) for path in paths)),
    ]


def is_supporting_file(path: str) -> bool:
    """Return whether a file is documentation, a setting or a test."""
    return bool(_DOCS.search(path) or _SETTINGS.search(path) or _TESTS.search(path))


def _top(scores: "Scores", column: int, limit: int) -> list[float]:
    """Return the highest scores of a role, highest first, filled with zeros."""
    best = sorted(map(float, scores[:, column]), reverse=True)[:limit]
    return [*best, *[0.0] * (limit - len(best))]


def heads(scores: "Scores", candidates: Sequence[SentenceCandidate]) -> list[str]:
    """Return the texts that most likely carry the memory of a turn, best first."""
    places = [at for at, candidate in enumerate(candidates) if candidate.source not in ("heading", "plan")]
    order = sorted(places, key=lambda at: -float(scores[at, 0]))
    return [candidates[at].text for at in order[:MAX_HEADS]]


def probable_title(titles: Sequence[tuple[Title, float]]) -> str:
    """Return the probable headline of a memory: the subject of the last commit, else the likeliest title."""
    subjects = [title.text for title, _ in titles if title.form == "subject"]
    if subjects:
        return subjects[-1]
    return max(titles, key=lambda pair: pair[1], default=(_NO_TITLE, 0.0))[0].text


def kind_ngrams(title: str, best: Sequence[str], facts: TurnFacts) -> Iterator[str]:
    """Yield the words that indicate the kind of a turn's memory."""
    yield from ngrams(title, "T:")
    for at, text in enumerate(best):
        yield from ngrams(text, "j:" if at else "k:")
    yield from (gram for gram in ngrams(facts.prompt[:_MAX_PROMPT], "p:") if " " not in gram)
    yield from ngrams(facts.commits[0] if facts.commits else "", "c:")


def kind_numbers(scores: "Scores", title: str, best: Sequence[str], facts: TurnFacts) -> list[float]:
    """Return the numbers that indicate the kind of a turn's memory."""
    files = max(facts.edits, 1)
    paths = [change.path for change in facts.changes]
    symbols = [symbol.action for change in facts.changes for symbol in change.symbols]
    added, removed = (sum(getattr(change, side) for change in facts.changes) for side in ("added", "removed"))
    subject = facts.commits[0] if facts.commits else ""
    type_, *_ = split_subject(subject)
    texts = (facts.prompt[:1_500], " ".join(best), subject, best[0] if best else "", title, facts.prompt[:_MAX_ASKED])
    beside = list(filter(is_supporting_file, paths))
    return [
        *(max(map(float, scores[:, role]), default=0.0) for role in range(5)),
        float(bool(subject)),
        float(bool(paths)),
        math.log1p(len(paths)),
        float(facts.fixes > 0),
        *(sum(bool(kind.search(path)) for path in paths) / files for kind in (_DOCS, _SETTINGS, _TESTS)),
        float(bool(paths) and len(beside) == len(paths)),
        *(sum(change.action == action for change in facts.changes) / files for action in ("new", "deleted")),
        *(symbols.count(action) / max(len(symbols), 1) for action in ("new", "deleted", "modified")),
        math.log1p(added) / 5,
        math.log1p(removed) / 5,
        added / (added + removed + 1),
        *(float(bool(matter.search(text))) for matter in _MATTERS for text in texts),
        *(float(type_ == name) for name in _TYPES),
        float(facts.failed_runs > 0),
        float(facts.answers > 0),
        float(facts.plans > 0),
        float(facts.prompt.rstrip().endswith("?")),
        float(len(facts.prompt) > 700),
    ]
