"""How often prompts are given something, and how much of that is of use.

An item is of use when the session that its memory is of began earlier and touched a file which this session touches,
as `sessions.json` tells of both. Precision is over items, so that a prompt with three counts three times; its interval
comes from drawing whole sessions, because the prompts of one session share their fate."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.injection_walk import Listed

ROUNDS = 2000


@dataclass(frozen=True, slots=True)
class Judged:
    """One prompt: the session it is of, whether its turn changed files, and of each item it was given whether it is of
    use."""

    session: str
    has_edits: bool
    useful: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Rates:
    """Over some prompts: how many of them spoke, and the share of items that are of use with its 95 % interval."""

    prompts: int
    spoke: int
    items: int
    useful: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.spoke / self.prompts if self.prompts else 0.0

    @property
    def precision(self) -> float:
        return self.useful / self.items if self.items else 0.0

    def told(self) -> str:
        return (
            f"{self.useful} of {self.items} items, 95 % {self.low:.3f} to {self.high:.3f}; "
            f"{self.spoke} of {self.prompts} prompts ({100 * self.share:.1f} %)"
        )


def is_useful(session: Listed, source: str, sessions: Mapping[str, Listed]) -> bool:
    """Whether what comes from another session is of use in this one."""
    other = sessions.get(source)
    return other is not None and other.started_at < session.started_at and bool(other.files & session.files)


def judge(session: Listed, has_edits: bool, given: Sequence[str], sessions: Mapping[str, Listed]) -> Judged:
    """A prompt with the sessions that what it was given is of; what is of its own session does not count."""
    others = [source for source in given if source != session.id]
    return Judged(session.id, has_edits, tuple(is_useful(session, source, sessions) for source in others))


def with_edits(judged: Sequence[Judged], has_edits: bool | None) -> list[Judged]:
    """Those whose turns changed files, or did not; all for None."""
    return [one for one in judged if has_edits is None or one.has_edits is has_edits]


def rates(judged: Sequence[Judged]) -> Rates:
    items = [useful for one in judged for useful in one.useful]
    low, high = _interval(judged)
    return Rates(len(judged), sum(bool(one.useful) for one in judged), len(items), sum(items), low, high)


def highest_floor(floors: Sequence[float], shares: Sequence[float], least: float) -> int | None:
    """The place of the highest floor at which at least so many prompts are given something."""
    enough = [place for place, share in enumerate(shares) if share >= least]
    return max(enough, key=lambda place: floors[place], default=None)


def held_out(curve: Sequence[Sequence[Judged]], floors: Sequence[float], least: float, folds: int = 5) -> list[Judged]:
    """Each prompt at the floor that the sessions of the other folds choose: the highest where so many speak."""
    sessions = list(dict.fromkeys(one.session for one in curve[0]))
    fold_of = {session: place % folds for place, session in enumerate(sessions)}
    kept: list[Judged] = []
    for fold in range(folds):
        others = [[one for one in judged if fold_of[one.session] != fold] for judged in curve]
        place = highest_floor(floors, [_share(judged) for judged in others], least)
        if place is not None:
            kept += [one for one in curve[place] if fold_of[one.session] == fold]
    return kept


def _share(judged: Sequence[Judged]) -> float:
    return sum(bool(one.useful) for one in judged) / len(judged) if judged else 0.0


def score_floor(best: Sequence[float], share: float) -> float:
    """The score that the best item of so many prompts reaches."""
    ranked = sorted(best, reverse=True)
    return ranked[min(max(round(share * len(ranked)) - 1, 0), len(ranked) - 1)]


def _interval(judged: Sequence[Judged]) -> tuple[float, float]:
    sums: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for one in judged:
        useful, items = sums[one.session]
        sums[one.session] = (useful + sum(one.useful), items + len(one.useful))
    drawn = random.Random(0)
    pairs = list(sums.values())
    found = []
    for _ in range(ROUNDS if pairs else 0):
        chosen = drawn.choices(pairs, k=len(pairs))
        if items := sum(number for _, number in chosen):
            found.append(sum(useful for useful, _ in chosen) / items)
    found.sort()
    return (found[int(len(found) * 0.025)], found[int(len(found) * 0.975)]) if found else (0.0, 0.0)
