"""Score of a memory for a prompt: source weight, recency and match. Pure.

docs/moments.md explains the choice of the numbers."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory
from claude_mem_lite.values import frozen

FLOOR = 3.0
"""Minimum score of an injected memory."""
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
# Exponents below 1: with full weight and recency precision was lower than by chance.
_LEANING_ON_WEIGHT = 0.25
_LEANING_ON_RECENCY = 0.25
# 20 memories, plus two as in the logarithm.
_ENOUGH = 22
_OF_GUIDANCE = 0.5
_MONTH_DAYS = 30.0
# Usual cosine of unrelated texts.
_CHANCE_COSINE = 0.05
_BY_MEANING_ALONE = 1.0
# Without a vector words need to say more.
_WITHOUT_MEANING = 0.4
_SAME_BRANCH = 1.25
# Among memories that share words with a prompt, files are the best evidence for relevance.
_SAME_FILE = 16.0
_NAMED_FILE = 8.0
_DIGITS = 3


@frozen
class Match:
    """Evidence that a memory is about a prompt: shared words, weighted by similarity of meaning."""

    words: float
    cosine: float | None
    """None if the prompt or the memory has no vector."""

    @property
    def value(self) -> float:
        words = _rounded(self.words)
        if self.cosine is None:
            return _rounded(words * _WITHOUT_MEANING)
        return _rounded((words + _BY_MEANING_ALONE) * max(_rounded(self.cosine) - _CHANCE_COSINE, 0.0))

    def explained(self) -> str:
        words = f"words {_rounded(self.words):g}"
        if self.cosine is None:
            return f"match {self.value:g} = {words} × {_WITHOUT_MEANING:g} (no meaning to compare)"
        cosine = _rounded(self.cosine)
        near = f"(cosine {cosine:g} - {_CHANCE_COSINE:g})" if cosine > _CHANCE_COSINE else f"0 (cosine {cosine:g})"
        return f"match {self.value:g} = ({words} + {_BY_MEANING_ALONE:g}) × {near}"


@dataclass(frozen=True)
class PromptScore:
    """Score of a memory for a prompt, by factors.

    The total is computed from rounded factors, to be checked by hand."""

    weight: float
    recency: float
    match: Match
    support: float
    """Matches of other memories of the same session."""
    branch: float
    """More than 1 for work on the same branch."""
    files: float
    """More than 1 for a file that the session works on, or that the prompt names."""
    use: float
    """Factor by outcomes of earlier injections."""
    team: float = 1.0
    """Less than 1 for a teammate's memory."""

    @cached_property
    def total(self) -> float:
        factors = self.parts()
        evidence = factors.pop("match") + factors.pop("support")
        return _rounded(math.prod(factors.values()) * evidence)

    def parts(self) -> dict[str, float]:
        """Return the factors of the total; match and support are summands of one factor."""
        return {
            "weight": _rounded(self.weight**_LEANING_ON_WEIGHT),
            "recency": _rounded(self.recency**_LEANING_ON_RECENCY),
            "match": self.match.value,
            "support": _rounded(self.support),
            "branch": _rounded(self.branch),
            "files": _rounded(self.files),
            "use": _rounded(self.use),
            "team": _rounded(self.team),
        }

    def explained(self) -> str:
        """Return the score as a product, without factors of 1 and without a support of 0."""
        parts = self.parts()
        match, support = parts.pop("match"), parts.pop("support")
        evidence = f"(match {match:g} + support {support:g})" if support else f"match {match:g}"
        factors = [f"{name} {value:g}" for name, value in parts.items() if value != 1.0]
        return f"score {self.total:g} = {' × '.join((evidence, *factors))}"


@frozen
class Floor:
    """Minimum score of a memory for a prompt, as a product of named factors."""

    base: float
    factors: tuple[tuple[float, str], ...] = ()
    """Factors, each with its reason."""
    exception: str = ""
    """Reason why no floor applies."""

    @property
    def value(self) -> float:
        return _rounded(math.prod((self.base, *(factor for factor, _ in self.factors))))

    def times(self, factor: float, why: str) -> "Floor":
        return replace(self, factors=(*self.factors, (factor, why)))

    def explained(self) -> str:
        if self.exception:
            return f"no floor: {self.exception}"
        return f"floor {self.product()}"

    def product(self) -> str:
        """Return the value as a product: `1.5 = 3 × 0.5 (learned or decided)`."""
        product = " × ".join((f"{self.base:g}", *(f"{factor:g} ({why})" for factor, why in self.factors)))
        return f"{self.value:g}" + (f" = {product}" if self.factors else "")


@frozen
class Shared:
    """Words that a memory shares with a prompt, with the minimum."""

    value: float
    total: str
    """Value as a sum."""
    minimum: float
    exception: str = ""
    """Reason why fewer words are enough."""

    @property
    def is_enough(self) -> bool:
        return bool(self.exception) or self.value >= self.minimum

    def explained(self) -> str:
        floor = f"no floor: {self.exception}" if self.exception else f"the floor is {self.minimum:g}"
        return f"shared {self.total}; {floor}"


def floor_among(number: int, floor: float = FLOOR) -> Floor:
    """Return the floor for a number of memories: lower among very few, since none of their words is rare."""
    share = _rounded(math.log(number + 2) / math.log(_ENOUGH))
    return Floor(floor).times(share, f"among {number} memories") if share < 1 else Floor(floor)


def floor_of_kind(floor: Floor, kind: Kind) -> Floor:
    """Return half the floor for guidance and decisions: short and few, and ignoring them costs more than reading."""
    is_lower = source_of(kind) in ("guidance", "decision")
    return floor.times(_OF_GUIDANCE, "learned or decided") if is_lower else floor


def _rounded(value: float) -> float:
    return round(value, _DIGITS)


def source_of(kind: Kind) -> str:
    """Return the group of a kind, for weights and hit rates."""
    return _SOURCES.get(kind, "work")


def weight_of(kind: Kind) -> float:
    return _WEIGHTS[source_of(kind)]


def recency_of(memory: Memory, now: datetime) -> float:
    days = max((now - memory.last_seen_at).total_seconds() / 86_400, 0.0)
    return 1 / (1 + days / _MONTH_DAYS)


def branch_of(memory: Memory, branch: str) -> float:
    return _SAME_BRANCH if branch and memory.branch == branch else 1.0


@frozen
class NamedFiles:
    """Files that a prompt names, by path or by bare name."""

    by_name: Mapping[str, Collection[str]]
    """Paths and bare names in lower case, by bare name."""
    known: Mapping[str, int]
    """Number of known files by bare name: one of many files is hardly named by its bare name."""

    def strength(self, file: str) -> float:
        """Return 1 for a file that is named by path, a share for one of several files with a named bare name."""
        path = file.lower()
        name = _name(path)
        named = self.by_name.get(name, ())
        if any("/" in one and _is_end(one, path) for one in named):
            return 1.0
        return 1 / max(self.known.get(name, 0), 1) if name in named else 0.0


def named_files(named: Iterable[str], known: Iterable[str]) -> NamedFiles:
    """Return the files that a prompt names; `known` are the files to tell apart."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for path in named:
        by_name[_name(path)].append(path)
    return NamedFiles(by_name, Counter(_name(path) for path in {file.lower() for file in known}))


def _is_end(named: str, path: str) -> bool:
    """Return whether a named path is a file, from the root of the project, from within, or from the root of all."""
    is_whole = named.startswith(("/", "~")) and named.endswith(f"/{path}")
    return is_whole or f"/{path}".endswith(f"/{named}")


def files_of(memory: Memory, at_work: AbstractSet[str], named: NamedFiles) -> float:
    """Return the factor for the files of a memory: files that the session works on, or that the prompt names.

    A memory with many files is hardly about the few that the prompt names."""
    if not at_work.isdisjoint(memory.files):
        return _SAME_FILE
    found = [strength for file in memory.files if (strength := named.strength(file))]
    share = max(found) * math.sqrt(len(found) / len(memory.files)) if found else 0.0
    return max(_NAMED_FILE * share, 1.0)


def _name(file: str) -> str:
    return file.rpartition("/")[2]


def supports(matches: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return the support by session: the matches of its memories besides the best; the second counts half, the third a
    quarter."""
    by_session: defaultdict[str, list[float]] = defaultdict(list)
    for session, match in matches:
        by_session[session].append(match)
    return {
        session: sum(value / 2**place for place, value in enumerate(sorted(matches_, reverse=True)) if place)
        for session, matches_ in by_session.items()
        if session
    }
