"""Tests of `experiment/comparison.py`."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from claude_mem_lite.experiment.comparison import (
    MIN_PER_ARM,
    Comparison,
    MeasuredOutcome,
    Verdict,
    compare,
    secondary_level,
)
from claude_mem_lite.experiment.wealth import Scale, bets, log_wealth, scores

SHARE = 0.5


def sessions(control: Sequence[float], treated: Sequence[float], share: float = SHARE) -> list[MeasuredOutcome]:
    """Return sessions that take turns between the arms, as far as both go."""
    pairs = [(value, True, at) for at, value in enumerate(control)] + [
        (value, False, at) for at, value in enumerate(treated)
    ]
    ordered = sorted(pairs, key=lambda each: (each[2], each[1]))
    return [MeasuredOutcome(value, is_control, share) for value, is_control, _ in ordered]


def lognormal(count: int, ratio: float, share: float = SHARE, seed: int = 1) -> list[MeasuredOutcome]:
    """Return random sessions; treated ones take `ratio` times as long."""
    rng = np.random.default_rng(seed)
    values, coins = 600 * np.exp(rng.standard_normal(count)), rng.random(count)
    drawn = zip(values, coins < share, strict=True)
    return [MeasuredOutcome(float(value) * (1 if control else ratio), bool(control), share) for value, control in drawn]


def interval(comparison: Comparison) -> tuple[float, float]:
    assert comparison.low is not None
    assert comparison.high is not None
    return comparison.low, comparison.high


def test_less_is_found_with_its_interval() -> None:
    found = compare(lognormal(600, 0.5), Scale.RATIO)

    low, high = interval(found)
    assert (found.verdict, found.can_tell) == (Verdict.LOWER, True)
    assert low < 0.5 < high < 1


def test_more_is_found_with_its_interval() -> None:
    found = compare(lognormal(600, 2), Scale.RATIO)

    low, high = interval(found)
    assert found.verdict is Verdict.HIGHER
    assert 1 < low < 2 < high


def test_means_are_typical_values_and_the_effect_their_ratio() -> None:
    found = compare(sessions([0, 3, 15], [1, 1, 7]), Scale.RATIO)

    # log2 of 1 + x: 0, 2, 4 and 1, 1, 3
    assert found.control_mean == pytest.approx(3)
    assert found.treated_mean == pytest.approx(2 ** (5 / 3) - 1)
    assert found.effect == pytest.approx(2 ** (5 / 3) / 4)
    assert (found.control_count, found.treated_count) == (3, 3)


def test_shares_count_sessions_with_any() -> None:
    found = compare(sessions([0, 0, 7, 1], [0, 0, 0, 9]), Scale.SHARE)

    assert (found.control_mean, found.treated_mean, found.effect) == (0.5, 0.25, -0.25)


def test_a_large_difference_of_shares_is_found() -> None:
    found = compare(sessions([1, 1, 1, 0] * 50, [0, 0, 0, 1] * 50), Scale.SHARE)

    low, high = interval(found)
    assert found.verdict is Verdict.LOWER
    assert -1 <= low < -0.5 < high < 0


@pytest.mark.parametrize("number", [0, 1, MIN_PER_ARM - 1])
def test_nothing_is_claimed_before_each_arm_has_its_minimum(number: int) -> None:
    found = compare(sessions([1000.0] * number, [1.0] * 300), Scale.RATIO)

    assert (found.verdict, found.low, found.high, found.more_sessions) == (Verdict.TOO_FEW, None, None, None)


def test_arms_of_the_minimum_are_compared() -> None:
    found = compare(sessions([20.0] * MIN_PER_ARM, [1.0] * 300), Scale.RATIO)

    assert found.verdict is not Verdict.TOO_FEW


def test_few_sessions_leave_a_ratio_without_limits_and_a_share_with_all_differences() -> None:
    values = [0.0, 5.0, 0.0, 9_000.0, 0.0]
    ratio, share = (compare(sessions(values, values), scale) for scale in (Scale.RATIO, Scale.SHARE))

    assert (ratio.low, ratio.high) == (None, None)
    assert (share.low, share.high) == (-1.0, 1.0)


def test_the_ends_of_an_interval_are_effects_that_the_sessions_speak_against() -> None:
    seen = lognormal(300, 0.6)
    numbers = scores(np.array([each.value for each in seen]), Scale.RATIO)
    treated = np.array([float(not each.is_control) for each in seen])

    for end in interval(compare(seen, Scale.RATIO)):
        wealth = log_wealth(bets(numbers, treated, np.array(SHARE), math.log(end), Scale.RATIO))
        assert wealth[-1] == pytest.approx(math.log(20), abs=0.05)
        assert wealth[-1] >= math.log(20)


@pytest.mark.parametrize("scale", Scale)
def test_empty_arms_have_no_mean(scale: Scale) -> None:
    found = compare([], scale)

    assert (found.control_mean, found.treated_mean, found.effect, found.verdict) == (None, None, None, Verdict.TOO_FEW)


@pytest.mark.parametrize("scale", Scale)
@pytest.mark.parametrize("value", [0, 1, pytest.param(10**400, id="huge")])
def test_sessions_that_are_all_alike_show_no_effect(scale: Scale, value: float) -> None:
    found = compare(sessions([value] * 40, [value] * 40), scale)

    low, high = interval(found)
    assert found.verdict is Verdict.NO_EFFECT_SEEN
    assert low < found.effect < high  # type: ignore[operator]


def test_constant_arms_that_differ_are_told_apart_around_the_exact_ratio() -> None:
    found = compare(sessions([9.0] * 60, [4.0] * 60), Scale.RATIO)

    low, high = interval(found)
    assert found.effect == pytest.approx(0.5)
    assert 0.4 < low < 0.5 < high < 0.6


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1])
def test_what_is_no_count_and_no_duration_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="an outcome is a number from 0 on"):
        compare([MeasuredOutcome(value, True, SHARE)], Scale.RATIO)


@pytest.mark.parametrize("share", [0, 1, -0.1, math.nan])
def test_a_share_that_leaves_an_arm_empty_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="a share of control sessions lies between 0 and 1"):
        compare([MeasuredOutcome(1, True, share)], Scale.RATIO)


@pytest.mark.parametrize("level", [0, 1, math.nan])
def test_an_impossible_level_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        compare([], Scale.RATIO, level=level)


@pytest.mark.parametrize("scale", Scale)
def test_arms_that_change_places_turn_the_result_around(scale: Scale) -> None:
    seen = [MeasuredOutcome(each.value // 900, each.is_control, 0.3) for each in lognormal(300, 0.3, 0.3)]
    turned = [MeasuredOutcome(each.value, not each.is_control, 0.7) for each in seen]

    (low, high), (other_low, other_high) = interval(compare(seen, scale)), interval(compare(turned, scale))
    if scale is Scale.RATIO:
        assert (1 / other_high, 1 / other_low) == pytest.approx((low, high))
    else:
        assert (-other_high, -other_low) == pytest.approx((low, high))


def test_another_unit_changes_a_ratio_of_durations_hardly() -> None:
    seconds = lognormal(300, 0.6)
    milliseconds = [MeasuredOutcome(each.value * 1000, each.is_control, each.control_share) for each in seconds]

    assert interval(compare(milliseconds, Scale.RATIO)) == pytest.approx(
        interval(compare(seconds, Scale.RATIO)), rel=0.02
    )


@pytest.mark.parametrize("scale", Scale)
def test_the_interval_shrinks_with_more_sessions(scale: Scale) -> None:
    seen = [MeasuredOutcome(each.value // 400, each.is_control, each.control_share) for each in lognormal(1000, 0.8)]

    widths = [high - low for count in (100, 300, 1000) for low, high in [interval(compare(seen[:count], scale))]]
    assert widths == sorted(widths, reverse=True)


def test_a_smaller_level_gives_a_wider_interval() -> None:
    low, high = interval(compare(lognormal(300, 0.6), Scale.RATIO))
    wide_low, wide_high = interval(compare(lognormal(300, 0.6), Scale.RATIO, level=secondary_level(0.05, 5)))

    assert wide_low < low < high < wide_high


def test_an_effect_that_is_not_yet_certain_comes_with_the_sessions_it_would_take() -> None:
    seen = lognormal(400, 0.6, 0.3)
    found = next(compare(seen[:count], Scale.RATIO) for count in range(40, 400, 20) if _is_close(seen[:count]))

    assert found.verdict is Verdict.MORE_NEEDED
    assert found.more_sessions is not None
    assert 0 < found.more_sessions < 200


def _is_close(seen: Sequence[MeasuredOutcome]) -> bool:
    """True if the same sessions once more would tell the effect."""
    once, twice = compare(seen, Scale.RATIO), compare([*seen, *seen], Scale.RATIO)
    return not once.can_tell and twice.can_tell


def test_an_effect_too_small_for_five_thousand_sessions_is_called_so() -> None:
    few = [10.0, 14.0] * 2_000
    found = compare(sessions(few, [value * 0.995 for value in few]), Scale.RATIO)

    assert (found.verdict, found.more_sessions) == (Verdict.TOO_SMALL, None)


def test_a_changed_share_does_not_pass_for_an_effect() -> None:
    # Slow sessions while half of them were without memory, fast ones when a tenth was.
    slow = sessions([100.0] * 50, [100.0] * 50, 0.5)
    fast = sessions([10.0] * 10, [10.0] * 90, 0.1)

    found = compare([*slow, *fast], Scale.RATIO)
    assert found.effect == pytest.approx(1)
    assert not found.can_tell


def test_secondary_outcomes_share_one_level() -> None:
    assert secondary_level(0.05, 5) == pytest.approx(0.01)
    assert secondary_level(0.05, 0) == 0.05
