"""Comparison of control and treated sessions by one outcome, valid at any time and with any number of looks.

The command and the page of the experiment call it. It reads nothing and keeps nothing; `docs/experiment.md` says in
plain words how sure it is."""

import math
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from claude_mem_lite.experiment.wealth import FRACTIONS, Floats, Scale, bets, log_growth, log_wealth, scores
from claude_mem_lite.values import frozen

MIN_PER_ARM = 5
MAX_MORE_SESSIONS = 5_000
MAX_VALUE = 1e15
# Effects are searched up to a factor of 100; an interval that reaches further has no limit there.
_MAX_LOG_RATIO = math.log(100)
_GRID_POINTS = 61
_REFINEMENTS = 2
_REFINED_POINTS = 12
# Growth of e^0.5: a difference of one standard error. Below it there is no effect to speak of.
_MIN_GROWTH = 0.5


class Verdict(StrEnum):
    """Result of a comparison, with the reason if it cannot tell."""

    LOWER = "lower"
    """Treated sessions have less of it."""
    HIGHER = "higher"
    TOO_FEW = "too_few"
    """An arm has fewer than `MIN_PER_ARM` sessions."""
    NO_EFFECT_SEEN = "no_effect_seen"
    """The difference is smaller than its own uncertainty."""
    MORE_NEEDED = "more_needed"
    """`more_sessions` would tell an effect of the present size."""
    TOO_SMALL = "too_small"
    """An effect of the present size would take more than `MAX_MORE_SESSIONS`."""


@frozen
class MeasuredOutcome:
    """Outcome of one session: a count or a duration, with the session's arm and the share that chose the arm."""

    value: float
    is_control: bool
    control_share: float


@frozen
class Comparison:
    """Two arms beside each other.

    On `Scale.RATIO` the means are typical values, exp(mean of log(1 + x)) - 1, and `effect` is the ratio of 1 + treated
    to 1 + control: 0.8 is a fifth less. On `Scale.SHARE` the means are shares of sessions with x > 0, and `effect` is
    treated minus control. A mean or effect is None without sessions, a limit if there is none yet."""

    scale: Scale
    level: float
    control_count: int
    treated_count: int
    control_mean: float | None
    treated_mean: float | None
    effect: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    more_sessions: int | None

    @property
    def can_tell(self) -> bool:
        """True if the interval leaves out "no effect"."""
        return self.verdict in (Verdict.LOWER, Verdict.HIGHER)


def compare(observations: Sequence[MeasuredOutcome], scale: Scale, *, level: float = 0.05) -> Comparison:
    """Compare the arms. Observations come in the order in which their outcomes became known, without unknown ones.

    The true effect is outside the interval at any look with a probability of at most `level`, all looks together."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    sessions = _Sessions.of(observations, scale)
    treated_count = int(sessions.treated.sum())
    counts = (len(observations) - treated_count, treated_count)
    control_mean, treated_mean = sessions.means()
    if control_mean is None or treated_mean is None or min(counts) < MIN_PER_ARM:
        effect = None if control_mean is None or treated_mean is None else treated_mean - control_mean
        low = high = None
        verdict, more = Verdict.TOO_FEW, None
    else:
        effect = treated_mean - control_mean
        low, high = _interval(sessions, effect, level)
        verdict, more = _verdict(sessions, low, high, level)
    return Comparison(
        scale=scale,
        level=level,
        control_count=counts[0],
        treated_count=counts[1],
        control_mean=_mean_for_user(control_mean, scale),
        treated_mean=_mean_for_user(treated_mean, scale),
        effect=_effect_for_user(effect, scale),
        low=_effect_for_user(low, scale),
        high=_effect_for_user(high, scale),
        verdict=verdict,
        more_sessions=more,
    )


def secondary_level(level: float, outcomes: int) -> float:
    """Return the level of each of several secondary outcomes, so that all of them together keep `level`."""
    return level / max(outcomes, 1)


@frozen
class _Sessions:
    """Observations as arrays: the compared numbers, 1 for treated, and the share that chose the arm."""

    scale: Scale
    numbers: Floats
    treated: Floats
    control_share: Floats

    @classmethod
    def of(cls, observations: Sequence[MeasuredOutcome], scale: Scale) -> "_Sessions":
        values = np.array([_checked(each) for each in observations], dtype=np.float64)
        treated = np.array([not each.is_control for each in observations], dtype=np.float64)
        shares = np.array([each.control_share for each in observations], dtype=np.float64)
        return cls(scale, scores(values, scale), treated, shares)

    def means(self) -> tuple[float | None, float | None]:
        """Return the mean of each arm; sessions are weighted by 1 / probability of their arm, if the share changed."""
        return self._mean((1 - self.treated) / self.control_share), self._mean(self.treated / (1 - self.control_share))

    def gains(self, effects: Floats) -> Floats:
        return bets(self.numbers, self.treated, self.control_share, effects[:, None], self.scale)

    def rejected(self, effects: Floats, level: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which of the supposed effects the sessions speak against."""
        return self._wealth(effects) >= -math.log(level)

    def _wealth(self, effects: Floats) -> Floats:
        return log_wealth(self.gains(effects))[:, -1]

    def _mean(self, weights: Floats) -> float | None:
        total = float(weights.sum())
        return float((weights * self.numbers).sum()) / total if total else None


def _checked(observation: MeasuredOutcome) -> float:
    value, share = observation.value, observation.control_share
    if not 0 <= value < math.inf:
        raise ValueError(f"an outcome is a number from 0 on, not {value}")
    if not 0 < share < 1:
        raise ValueError(f"a share of control sessions lies between 0 and 1, not {share}")
    return float(min(value, MAX_VALUE))


def _interval(sessions: _Sessions, effect: float, level: float) -> tuple[float | None, float | None]:
    """Return the outermost effects that are not rejected; None beyond the largest effect that is searched."""
    limit = _MAX_LOG_RATIO if sessions.scale is Scale.RATIO else 1.0
    grid = np.union1d(np.linspace(-limit, limit, _GRID_POINTS), [effect, 0.0])
    kept = grid[~sessions.rejected(grid, level)]
    inside = np.append(kept, effect)
    low, high = float(inside.min()), float(inside.max())
    return _end(sessions, grid, low, level, -1), _end(sessions, grid, high, level, 1)


def _end(sessions: _Sessions, grid: Floats, inner: float, level: float, sign: int) -> float | None:
    """Return the first rejected effect outside `inner`, refined; the limit of a share, None for a ratio without one."""
    beyond = grid[grid * sign > inner * sign]
    if not len(beyond):
        return None if sessions.scale is Scale.RATIO else float(sign)
    outer = float(beyond.min() if sign > 0 else beyond.max())
    for _ in range(_REFINEMENTS):
        points = np.linspace(inner, outer, _REFINED_POINTS)
        kept = np.flatnonzero(~sessions.rejected(points[1:-1], level))
        at = int(kept[-1]) + 1 if len(kept) else 0
        inner, outer = float(points[at]), float(points[at + 1])
    return outer


def _verdict(sessions: _Sessions, low: float | None, high: float | None, level: float) -> tuple[Verdict, int | None]:
    if high is not None and high < 0:
        return Verdict.LOWER, None
    if low is not None and low > 0:
        return Verdict.HIGHER, None
    gains = sessions.gains(np.zeros(1))[0]
    growth = np.array([log_growth(gains, float(fraction))[-1] for fraction in FRACTIONS])
    if growth.max() < _MIN_GROWTH:
        return Verdict.NO_EFFECT_SEEN, None
    more = _more_sessions(growth / len(gains), len(gains), level)
    return (Verdict.MORE_NEEDED, more) if more <= MAX_MORE_SESSIONS else (Verdict.TOO_SMALL, None)


def _more_sessions(growth: Floats, count: int, level: float) -> int:
    """Return how many sessions are missing if each fraction goes on growing as until now."""
    few, many = 0, MAX_MORE_SESSIONS + 1
    while many - few > 1:
        middle = (few + many) // 2
        wealth = np.logaddexp.reduce(growth * (count + middle)) - math.log(len(growth))
        few, many = (few, middle) if wealth >= -math.log(level) else (middle, many)
    return many


def _mean_for_user(mean: float | None, scale: Scale) -> float | None:
    return mean if mean is None or scale is Scale.SHARE else math.expm1(mean)


def _effect_for_user(effect: float | None, scale: Scale) -> float | None:
    return effect if effect is None or scale is Scale.SHARE else math.exp(effect)
