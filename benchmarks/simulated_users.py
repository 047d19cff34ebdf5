"""Simulated users whose sessions have a known effect: made-up outcomes, and outcomes of recorded sessions drawn again.

Every session has two outcomes, with memory and without; a coin of the experiment's share chooses which of them is seen.
A drifting user has good and bad weeks (an autocorrelated factor) and halves every outcome over 1,000 sessions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from claude_mem_lite.experiment.wealth import Floats, Scale, scores

SESSIONS = 1_000
_WEEK = 0.9
"""Correlation of the drifting factor between neighbouring sessions."""
_SPREAD_OF_WEEKS = 0.4
_BLOCK = 10
"""Recorded sessions are drawn in runs of ten neighbours, so that what hangs together stays together."""

Draw: TypeAlias = Callable[[np.random.Generator, Floats], Floats]
"""Outcomes of sessions from a factor for each: users by sessions."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One kind of outcome: the scale on which it is compared, and a pair of draws with a common state of the user."""

    name: str
    scale: Scale
    draw: Callable[[np.random.Generator, Floats, float], tuple[Floats, Floats]]
    """From a factor for each session and an effect to the outcomes without memory and with it."""
    projects: int = 1
    """Users take turns in having the sessions of these projects; the true effect differs between projects."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Sessions of many users, as an experiment sees them, and the true effect on the compared scale."""

    numbers: Floats
    treated: Floats
    share: float
    effect: Floats
    """One for each user, in a column."""


def made_up() -> list[Outcome]:
    return [
        Outcome("lognormal", Scale.RATIO, _pair(lambda rng, f: 60 * f * np.exp(1.2 * rng.standard_normal(f.shape)))),
        Outcome("Pareto without variance", Scale.RATIO, _pair(lambda rng, f: 10 * f * (1 + rng.pareto(1.2, f.shape)))),
        Outcome("Poisson", Scale.RATIO, _pair(lambda rng, f: _counts(rng, 8 * f))),
        Outcome("negative binomial", Scale.RATIO, _pair(lambda rng, f: _counts(rng, f * rng.gamma(1, 12, f.shape)))),
        Outcome("zero-inflated", Scale.RATIO, _pair(_zero_inflated)),
        Outcome("mostly zero", Scale.RATIO, _pair(_mostly_zero)),
        Outcome("rare event", Scale.SHARE, _pair(lambda rng, f: _counts(rng, 0.15 * f))),
    ]


def recorded(projects: Sequence[Mapping[str, Sequence[float]]], scales: Mapping[str, Scale]) -> list[Outcome]:
    """Return the outcomes of recorded sessions; each user has the sessions of one project."""
    return [
        Outcome(f"recorded {name}", scale, _redrawn([np.array(project[name]) for project in projects]), len(projects))
        for name, scale in scales.items()
    ]


def sample(outcome: Outcome, rng: np.random.Generator, users: int, share: float, ratio: float, drift: bool) -> Sample:
    """Return sessions of users to whom memory multiplies the outcome by `ratio`, on average."""
    factor = _drift(rng, users) if drift else np.ones((users, SESSIONS))
    without, with_memory = (scores(each, outcome.scale) for each in outcome.draw(rng, factor, ratio))
    treated = (rng.random((users, SESSIONS)) >= share).astype(np.float64)
    effect = np.zeros((users, 1))
    for project in range(outcome.projects if ratio != 1 else 0):
        effect[project :: outcome.projects] = (with_memory - without)[project :: outcome.projects].mean()
    return Sample(np.where(treated > 0, with_memory, without), treated, share, effect)


def _pair(draw: Draw) -> Callable[[np.random.Generator, Floats, float], tuple[Floats, Floats]]:
    return lambda rng, factor, ratio: (draw(rng, factor), draw(rng, factor * ratio))


def _counts(rng: np.random.Generator, means: Floats) -> Floats:
    return rng.poisson(means).astype(np.float64)


def _zero_inflated(rng: np.random.Generator, factor: Floats) -> Floats:
    return _counts(rng, factor * rng.gamma(1, 12, factor.shape)) * (rng.random(factor.shape) < 0.6)


def _mostly_zero(rng: np.random.Generator, factor: Floats) -> Floats:
    """The hardest for intervals: the factor changes how many sessions have any, not how much they have."""
    return 60 * np.exp(rng.standard_normal(factor.shape)) * (rng.random(factor.shape) < 0.15 * factor)


def _redrawn(projects: Sequence[Floats]) -> Callable[[np.random.Generator, Floats, float], tuple[Floats, Floats]]:
    def draw(rng: np.random.Generator, factor: Floats, ratio: float) -> tuple[Floats, Floats]:
        rows = [_blocks(rng, projects[user % len(projects)], factor.shape[1]) for user in range(len(factor))]
        without = np.rint(np.array(rows) * factor)
        # Memory spares each call, file, turn or second with the same probability.
        return without, rng.binomial(without.astype(np.int64), ratio).astype(np.float64)

    return draw


def _blocks(rng: np.random.Generator, values: Floats, count: int) -> Floats:
    """Return neighbouring values, a block after the other."""
    starts = rng.integers(0, len(values), -(-count // _BLOCK))
    places = (starts[:, None] + np.arange(_BLOCK)).ravel()[:count] % len(values)
    drawn: Floats = values[places]
    return drawn


def _drift(rng: np.random.Generator, users: int) -> Floats:
    steps = rng.standard_normal((users, SESSIONS)) * np.sqrt(1 - _WEEK**2)
    steps[:, 0] = rng.standard_normal(users)
    for at in range(1, SESSIONS):
        steps[:, at] += _WEEK * steps[:, at - 1]
    faster = np.linspace(0, np.log(0.5), SESSIONS)
    factor: Floats = np.exp(_SPREAD_OF_WEEKS * steps + faster)
    return factor
