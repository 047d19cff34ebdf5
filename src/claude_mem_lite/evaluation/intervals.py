"""Means with 95 % intervals by bootstrap, for benchmarks and evaluation.

The seed is fixed: the same values give the same interval."""

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
