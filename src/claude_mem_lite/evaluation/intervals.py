"""Means with 95 % intervals, for benchmarks and evaluation: by bootstrap, and Wilson's for shares.

The seed is fixed: the same values give the same interval. Where all values are equal a bootstrap has no width, however
few the values are; then a share has Wilson's interval."""

import random
import statistics
from collections.abc import Sequence

from claude_mem_lite.values import frozen

ROUNDS = 2000


@frozen
class Measured:
    """Mean of a measure over queries or sessions, with its 95 % interval."""

    mean: float
    low: float
    high: float


def bootstrapped(values: Sequence[float]) -> Measured:
    """Return the mean of values, one for each query or session, with its interval."""
    order = random.Random(0)
    means = sorted(statistics.fmean(order.choices(values, k=len(values))) for _ in range(ROUNDS))
    return Measured(statistics.fmean(values), means[int(ROUNDS * 0.025)], means[int(ROUNDS * 0.975)])


def mean_share(values: Sequence[float]) -> Measured:
    """Return the mean of values from 0 to 1 with its interval; without values, all is possible."""
    if values and min(values) < max(values):
        return bootstrapped(values)
    return Measured(statistics.fmean(values) if values else 0.0, *share_interval(sum(values), len(values)))


def mean_difference(values: Sequence[float]) -> Measured:
    """Return the mean of differences between shares, from -1 to 1, with its interval."""
    if values and min(values) < max(values):
        return bootstrapped(values)
    # A session that differs from all these has at most this probability, and differs by at most 1.
    mean, (_, most) = statistics.fmean(values) if values else 0.0, share_interval(0, len(values))
    return Measured(mean, max(mean - most, -1.0), min(mean + most, 1.0))


def share_interval(hits: float, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share, by default of 95 %.

    Unlike a bootstrap, it has a width where no case or every case hits."""
    if not total:
        return 0.0, 1.0
    share, spread = hits / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * (share * (1 - share) / total + spread / (4 * total)) ** 0.5
    return max(min(middle - half, share), 0.0), min(max(middle + half, share), 1.0)  # rounded, it may leave out a 1
