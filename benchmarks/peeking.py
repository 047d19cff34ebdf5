"""Plain tests looked at after every session, as a user without this experiment would: Welch's t-test and Mann-Whitney.

Both keep their 5 % for one look that was fixed before. Sessions lie on the last axis, users on the first."""

import numpy as np
from numpy.typing import NDArray

from claude_mem_lite.experiment.wealth import Floats

Alarms = NDArray[np.bool_]
_Z = 1.959964


def t_test(numbers: Floats, treated: Floats) -> Alarms:
    """Return whether the t-test claims a difference after each session, at 5 %."""
    arms = [_running(numbers, arm) for arm in (treated, 1 - treated)]
    (mean, error, count), (other_mean, other_error, other_count) = arms
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (error + other_error) ** 2 / (error**2 / (count - 1) + other_error**2 / (other_count - 1))
        limit = _Z + (_Z**3 + _Z) / (4 * freedom) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * freedom**2)
        alarms: Alarms = np.abs(mean - other_mean) > limit * np.sqrt(error + other_error)
    return alarms & np.isfinite(limit)


def mann_whitney(numbers: Floats, treated: Floats) -> Alarms:
    """Return whether the test of ranks claims a difference after each session, at 5 %, with its correction for ties."""
    users, sessions = numbers.shape
    wins, ties = np.zeros(users), np.zeros(users)
    alarms = np.zeros(numbers.shape, dtype=np.bool_)
    for at in range(1, sessions):
        newest, before = numbers[:, at, None], numbers[:, :at]
        above = (newest > before) + 0.5 * (newest == before)
        is_other = treated[:, :at] != treated[:, at, None]
        gained = (above * is_other).sum(axis=1)
        others = is_other.sum(axis=1)
        wins += np.where(treated[:, at] > 0, gained, others - gained)
        same = (newest == before).sum(axis=1)
        ties += 3 * same**2 + 3 * same  # (t + 1)^3 - (t + 1) minus t^3 - t
        count = at + 1
        first = treated[:, :count].sum(axis=1)
        pairs = first * (count - first)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = pairs / 12 * (count + 1 - ties / (count * (count - 1)))
            alarms[:, at] = np.abs(wins - pairs / 2) > _Z * np.sqrt(variance)
        alarms[:, at] &= variance > 0
    return alarms


def _running(numbers: Floats, arm: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, squared standard error and size of one arm after each session."""
    count = np.cumsum(arm, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.cumsum(numbers * arm, axis=-1) / count
        spread = np.maximum(np.cumsum(numbers**2 * arm, axis=-1) - count * mean**2, 0)
        return mean, spread / (count - 1) / count, count
