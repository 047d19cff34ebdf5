"""Past sessions -> the files that the next one will probably touch, each with its share of the coming work.

A file that was edited lately, often or on this branch, or that `git status` names, is likely to be touched again. To
know of a file that every session touches is worth little. docs/context.md has the figures."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

SESSIONS = 100
"""How many past sessions are counted."""
_FADE = 0.93
"""Each session counts this much of the one after it."""
_SAME_BRANCH = 3.0
_TOUCHED_NOW = 3.0
"""Evidence of a file that has changes which are not committed; one session ago counts 1."""
_CERTAINTY = 0.3
USUAL_BRANCHES = frozenset(("", "main", "master", "trunk", "develop", "dev"))
"""Their names say nothing of the work done there."""


@dataclass(frozen=True, slots=True)
class Edited:
    """The files that a session edited, by their path from the root, and the branch that it was on."""

    branch: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """Shares of the coming work by file; all together 1, or none when nothing is known."""

    shares: Mapping[str, float] = field(default_factory=dict)
    sessions: int = 0
    """How many past sessions it was made from."""

    def share(self, files: Iterable[str]) -> float:
        """Return how much of the coming work files are expected to be."""
        # fsum: the same value whatever the order of the set, which differs from process to process
        return math.fsum(self.shares.get(file, 0.0) for file in set(files))

    def telling(self, files: Sequence[str], most: int) -> list[str]:
        """Return the files that tell most of the coming work, in their order."""
        best = sorted(dict.fromkeys(files), key=lambda file: -self.shares.get(file, 0.0))[:most]
        return [file for file in dict.fromkeys(files) if file in best]


def forecast(past: Sequence[Edited], branch: str, touched: Iterable[str]) -> Forecast:
    """Return the forecast for a session on a branch, by the sessions before it, the newest first."""
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
    # In a project with one session every file is in all of them, and yet one of them will be touched.
    if not any(expected.values()):
        expected = evidence
    total = math.fsum(expected.values())
    return Forecast({file: value / total for file, value in expected.items()} if total else {}, len(past))
