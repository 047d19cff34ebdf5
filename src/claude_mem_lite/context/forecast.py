"""Past sessions -> files that the next session will probably touch, each with a share of the coming work.

Files edited lately, often or on the same branch, and files named by `git status`, are probable. A file that every
session touches gets a low share. docs/context.md has the figures."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

MAX_SESSIONS = 100
"""Number of past sessions that count."""
_FADE = 0.93
"""Weight of a session relative to the next newer session."""
_SAME_BRANCH = 3.0
_TOUCHED_NOW = 3.0
"""Evidence of uncommitted changes in a file; an edit in the last session counts 1."""
_CERTAINTY = 0.3
USUAL_BRANCHES = frozenset(("", "main", "master", "trunk", "develop", "dev"))
"""Branch names without information about the work."""


@dataclass(frozen=True, slots=True)
class EditedFiles:
    """Files that a session edited, relative to the root, and the branch of the session."""

    branch: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Shares of the coming work by file; the sum is 1, or 0 without evidence."""

    shares: Mapping[str, float] = field(default_factory=dict)
    sessions: int = 0
    """Number of past sessions behind the forecast."""

    def share(self, files: Iterable[str]) -> float:
        """Return the share of the coming work that files are expected to be."""
        # fsum: the order of a set differs between processes and must not change the sum
        return math.fsum(self.shares.get(file, 0.0) for file in set(files))

    def most_expected(self, files: Sequence[str], limit: int) -> list[str]:
        """Return the files with the highest shares, in their given order."""
        best = sorted(dict.fromkeys(files), key=lambda file: -self.shares.get(file, 0.0))[:limit]
        return [file for file in dict.fromkeys(files) if file in best]


def forecast(past: Sequence[EditedFiles], branch: str, touched: Iterable[str]) -> Forecast:
    """Return the forecast for a session on a branch, from earlier sessions, newest first."""
    evidence: dict[str, float] = {}
    sessions: dict[str, int] = {}
    for age, session in enumerate(past):
        is_same = session.branch == branch and branch not in USUAL_BRANCHES
        weight = _FADE**age * (_SAME_BRANCH if is_same else 1.0)
        for file in set(session.files):
            evidence[file] = evidence.get(file, 0.0) + weight
            sessions[file] = sessions.get(file, 0) + 1
    for file in touched:
        evidence[file] = evidence.get(file, 0.0) + _TOUCHED_NOW
    expected = {
        file: (1 - math.exp(-_CERTAINTY * seen)) * math.log((len(past) + 1) / sessions.get(file, 1))
        for file, seen in evidence.items()
    }
    # Without past sessions every logarithm is 0; then the evidence itself is the forecast.
    if not any(expected.values()):
        expected = evidence
    total = math.fsum(expected.values())
    return Forecast({file: value / total for file, value in expected.items()} if total else {}, len(past))
