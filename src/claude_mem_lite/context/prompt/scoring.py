"""How much a memory deserves to be given for a prompt: source weight, recency and match. Pure.

docs/moments.md tells how the numbers were chosen."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory

FLOOR = 2.2
"""Below this nothing is given."""
_WEIGHTS: dict[str, float] = {
    "guidance": 1.0,
    "decision": 0.9,
    "failure": 0.8,
    "handoff": 0.7,
    "project_fact": 0.6,
    "work": 0.5,
    "note": 0.3,
    "goal": 0.3,
}
_SOURCES: dict[Kind, str] = {
    **dict.fromkeys(GUIDANCE_KINDS, "guidance"),
    "decision": "decision",
    "architecture": "decision",
    "failure": "failure",
    "bugfix": "failure",
    "handoff": "handoff",
    "project_fact": "project_fact",
    "note": "note",
    "goal": "goal",
}
# Weight and recency only lean: in full they made what is precise rarer than what was picked by chance.
_LEANING_ON_WEIGHT = 0.25
_LEANING_ON_RECENCY = 0.25
# The logarithm is of two more than there are memories.
_ENOUGH = 102
_OF_GUIDANCE = 0.5
_MONTH_DAYS = 30.0
# Unrelated texts are about so near.
_CHANCE_COSINE = 0.05
_BY_MEANING_ALONE = 1.0
# Where nobody can tell what is meant, words have to say more.
_UNTOLD_MEANING = 0.4
_SAME_BRANCH = 1.25


@dataclass(frozen=True, slots=True)
class Score:
    """A memory's score for a prompt, by its parts."""

    weight: float
    recency: float
    match: float
    support: float
    """What else the same session has to say on it."""
    branch: float
    """More than 1 for work on the same branch."""
    use: float
    """What came of it, and of its kind, when it was given before."""

    @property
    def total(self) -> float:
        leaning: float = self.weight**_LEANING_ON_WEIGHT * self.recency**_LEANING_ON_RECENCY
        return round(leaning * (self.match + self.support) * self.branch * self.use, 3)

    def parts(self) -> dict[str, float]:
        names = ("weight", "recency", "match", "support", "branch", "use")
        return {name: round(getattr(self, name), 3) for name in names}


def floor_among(number: int, floor: float = FLOOR) -> float:
    """The floor where there are so many memories: among few it is lower, since hardly any fits by chance."""
    return floor * min(math.log(number + 2) / math.log(_ENOUGH), 1.0)


def share_of_floor(kind: Kind) -> float:
    """What was learned or decided is given from half the floor on: it is short and there is little of it, and to go
    against it costs more than to read it."""
    return _OF_GUIDANCE if source_of(kind) in ("guidance", "decision") else 1.0


def source_of(kind: Kind) -> str:
    """The group of kinds by which weights and hit rates are counted."""
    return _SOURCES.get(kind, "work")


def weight_of(kind: Kind) -> float:
    return _WEIGHTS[source_of(kind)]


def recency_of(memory: Memory, now: datetime) -> float:
    days = max((now - memory.last_seen_at).total_seconds() / 86_400, 0.0)
    return 1 / (1 + days / _MONTH_DAYS)


def match_of(words: float, cosine: float | None) -> float:
    """How much speaks for a memory: the words it shares with the prompt, as far as both mean the same."""
    if cosine is None:
        return words * _UNTOLD_MEANING
    return (words + _BY_MEANING_ALONE) * max(cosine - _CHANCE_COSINE, 0.0)


def branch_of(memory: Memory, branch: str) -> float:
    return _SAME_BRANCH if branch and memory.branch == branch else 1.0


def supports(matches: Sequence[tuple[str, float]]) -> dict[str, float]:
    """What each session has to say besides its best memory, of the sessions and matches of memories: the second counts
    half, the third a quarter."""
    of_session: defaultdict[str, list[float]] = defaultdict(list)
    for session, match in matches:
        of_session[session].append(match)
    return {
        session: sum(value / 2**place for place, value in enumerate(sorted(found, reverse=True)) if place)
        for session, found in of_session.items()
        if session
    }
