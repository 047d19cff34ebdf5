"""How much a memory deserves to be given for a prompt: source weight, recency and match. Pure.

docs/moments.md tells how the numbers were chosen."""

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory

FLOOR = 3.0
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
_ENOUGH = 22
_OF_GUIDANCE = 0.5
_MONTH_DAYS = 30.0
# Unrelated texts are about so near.
_CHANCE_COSINE = 0.05
_BY_MEANING_ALONE = 1.0
# Where nobody can tell what is meant, words have to say more.
_UNTOLD_MEANING = 0.4
_SAME_BRANCH = 1.25
# Of what shares words with a prompt, this tells best if it is about the work at hand.
_SAME_FILE = 16.0
_NAMED_FILE = 8.0
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Match:
    """Evidence that a memory is about a prompt: the words that both have, as far as both mean the same."""

    words: float
    cosine: float | None
    """None when the prompt or the memory has no vector."""

    @property
    def value(self) -> float:
        words = _shown(self.words)
        if self.cosine is None:
            return _shown(words * _UNTOLD_MEANING)
        return _shown((words + _BY_MEANING_ALONE) * max(_shown(self.cosine) - _CHANCE_COSINE, 0.0))

    def explained(self) -> str:
        words = f"words {_shown(self.words):g}"
        if self.cosine is None:
            return f"match {self.value:g} = {words} × {_UNTOLD_MEANING:g} (no meaning to compare)"
        cosine = _shown(self.cosine)
        near = f"(cosine {cosine:g} - {_CHANCE_COSINE:g})" if cosine > _CHANCE_COSINE else f"0 (cosine {cosine:g})"
        return f"match {self.value:g} = ({words} + {_BY_MEANING_ALONE:g}) × {near}"


@dataclass(frozen=True)
class Score:
    """A memory's score for a prompt, by its factors.

    The total is computed from the factors as they are shown, so that it can be checked by hand."""

    weight: float
    recency: float
    match: Match
    support: float
    """What else the same session has to say on it."""
    branch: float
    """More than 1 for work on the same branch."""
    files: float
    """More than 1 for a file that the session is at work on, or that the prompt names."""
    use: float
    """What came of it when it was given before."""

    @cached_property
    def total(self) -> float:
        told = self.parts()
        evidence = told.pop("match") + told.pop("support")
        return _shown(math.prod(told.values()) * evidence)

    def parts(self) -> dict[str, float]:
        """The total is the product of all parts but that match and support are added first."""
        return {
            "weight": _shown(self.weight**_LEANING_ON_WEIGHT),
            "recency": _shown(self.recency**_LEANING_ON_RECENCY),
            "match": self.match.value,
            "support": _shown(self.support),
            "branch": _shown(self.branch),
            "files": _shown(self.files),
            "use": _shown(self.use),
        }

    def explained(self) -> str:
        """The score as a product; factors of 1 and a support of 0 are left out."""
        told = self.parts()
        match, support = told.pop("match"), told.pop("support")
        evidence = f"(match {match:g} + support {support:g})" if support else f"match {match:g}"
        factors = [f"{name} {value:g}" for name, value in told.items() if value != 1.0]
        return f"score {self.total:g} = {' × '.join((evidence, *factors))}"


@dataclass(frozen=True, slots=True)
class Floor:
    """The score that a memory needs to be given for a prompt, as a product of named factors."""

    base: float
    factors: tuple[tuple[float, str], ...] = ()
    """Each with why it holds."""
    exception: str = ""
    """Why no floor holds at all."""

    @property
    def value(self) -> float:
        return _shown(math.prod((self.base, *(factor for factor, _ in self.factors))))

    def times(self, factor: float, why: str) -> "Floor":
        return replace(self, factors=(*self.factors, (factor, why)))

    def explained(self) -> str:
        if self.exception:
            return f"no floor: {self.exception}"
        return f"floor {self.product()}"

    def product(self) -> str:
        """Return the value, and what it is the product of: `1.5 = 3 × 0.5 (learned or decided)`."""
        product = " × ".join((f"{self.base:g}", *(f"{factor:g} ({why})" for factor, why in self.factors)))
        return f"{self.value:g}" + (f" = {product}" if self.factors else "")


@dataclass(frozen=True, slots=True)
class Shared:
    """The words that a memory shares with a prompt, and how much of them it needs."""

    value: float
    total: str
    """The value as a sum."""
    least: float
    exception: str = ""
    """Why fewer will do."""

    @property
    def is_enough(self) -> bool:
        return bool(self.exception) or self.value >= self.least

    def explained(self) -> str:
        held = f"no floor: {self.exception}" if self.exception else f"the floor is {self.least:g}"
        return f"shared {self.total}; {held}"


def floor_among(number: int, floor: float = FLOOR) -> Floor:
    """The floor where there are so many memories: among very few it is lower, since no word of theirs is rare."""
    share = _shown(math.log(number + 2) / math.log(_ENOUGH))
    return Floor(floor).times(share, f"among {number} memories") if share < 1 else Floor(floor)


def floor_of_kind(floor: Floor, kind: Kind) -> Floor:
    """What was learned or decided is given from half the floor on: it is short and there is little of it, and to go
    against it costs more than to read it."""
    is_lower = source_of(kind) in ("guidance", "decision")
    return floor.times(_OF_GUIDANCE, "learned or decided") if is_lower else floor


def _shown(value: float) -> float:
    return round(value, _DIGITS)


def source_of(kind: Kind) -> str:
    """The group of kinds by which weights and hit rates are counted."""
    return _SOURCES.get(kind, "work")


def weight_of(kind: Kind) -> float:
    return _WEIGHTS[source_of(kind)]


def recency_of(memory: Memory, now: datetime) -> float:
    days = max((now - memory.last_seen_at).total_seconds() / 86_400, 0.0)
    return 1 / (1 + days / _MONTH_DAYS)


def branch_of(memory: Memory, branch: str) -> float:
    return _SAME_BRANCH if branch and memory.branch == branch else 1.0


def files_of(memory: Memory, at_work: AbstractSet[str], named: Collection[str]) -> float:
    """Return the factor for the files of a memory: those that the session is at work on, or whose names, in lower case,
    stand in the prompt."""
    if not at_work.isdisjoint(memory.files):
        return _SAME_FILE
    return _NAMED_FILE if any(_name(file) in named for file in memory.files) else 1.0


def _name(file: str) -> str:
    return file.rpartition("/")[2].lower()


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
