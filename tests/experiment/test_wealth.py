"""Tests of `experiment/wealth.py`: exact properties, over all possible arms of a few sessions."""

import itertools
import math

import numpy as np
import pytest

from claude_mem_lite.experiment.wealth import FRACTIONS, Floats, Scale, bets, log_growth, log_wealth, scores

HARD_OUTCOMES = {
    "alike": [3.0] * 10,
    "zeros with one giant": [0, 0, 0, 0, 0, 1e15, 0, 0, 0, 0],
    "growing": [float(2**at) for at in range(10)],
    "in turns": [0, 1000] * 5,
    "heavy tail": [5, 2, 0, 80, 1, 3, 20_000, 4, 0, 7],
}


def all_arms(count: int, share: float) -> tuple[Floats, Floats]:
    """Return every possible choice of arms, with its probability."""
    treated = np.array(list(itertools.product((0.0, 1.0), repeat=count)))
    probability = np.prod(np.where(treated > 0, 1 - share, share), axis=1)
    return treated, probability


@pytest.mark.parametrize("scale", Scale)
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5])
@pytest.mark.parametrize("name", HARD_OUTCOMES)
def test_without_an_effect_the_expected_wealth_is_the_stake_after_each_session(
    name: str, share: float, scale: Scale
) -> None:
    treated, probability = all_arms(10, share)
    numbers = scores(np.array(HARD_OUTCOMES[name]), scale)

    wealth = np.exp(log_wealth(bets(numbers, treated, np.array(share), 0.0, scale)))
    assert probability @ wealth == pytest.approx(np.ones(10))


def test_a_constant_effect_keeps_the_expected_wealth_if_it_is_the_supposed_one() -> None:
    treated, probability = all_arms(10, 0.2)
    numbers = scores(np.array(HARD_OUTCOMES["heavy tail"]), Scale.RATIO) - 0.7 * treated

    wealth = np.exp(log_wealth(bets(numbers, treated, np.array(0.2), -0.7, Scale.RATIO)))
    assert probability @ wealth == pytest.approx(np.ones(10))


@pytest.mark.parametrize("effect", [-0.5, 0.5])
def test_a_supposed_effect_on_shares_keeps_the_expected_wealth_if_it_is_the_true_one(effect: float) -> None:
    base = np.array([0.0, 1, 1, 0, 1, 0, 0, 1, 1, 0])
    treated, probability = all_arms(10, 0.2)

    wealth = np.exp(log_wealth(bets(base + effect * treated, treated, np.array(0.2), effect, Scale.SHARE)))
    assert probability @ wealth == pytest.approx(np.ones(10))


def test_no_residual_of_a_share_is_cut_whatever_the_supposed_effect() -> None:
    numbers, treated = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 1.0])
    gains = bets(numbers, treated, np.array(0.5), 0.8, Scale.SHARE)

    # Without the effect: -0.8, 1, -0.8; beside the mean of the earlier ones 1.8 and -0.9, of 1.8 at most.
    assert gains == pytest.approx([0.0, -1.0, -0.5])


def test_shares_that_changed_between_sessions_keep_the_expected_wealth() -> None:
    shares = np.array([0.5] * 4 + [0.1] * 4)
    treated = np.array(list(itertools.product((0.0, 1.0), repeat=8)))
    probability = np.prod(np.where(treated > 0, 1 - shares, shares), axis=1)

    wealth = np.exp(log_wealth(bets(np.arange(8.0), treated, shares, 0.0, Scale.RATIO)))
    assert probability @ wealth == pytest.approx(np.ones(8))


def test_the_second_session_gains_by_hand() -> None:
    gains = bets(np.array([0.0, 2.0]), np.array([0.0, 1.0]), np.array([0.2, 0.2]), 0.0, Scale.RATIO)

    # mean 0, spread sqrt(4 / 5), clipped at 3 spreads; a treated session has probability 0.8
    assert gains == pytest.approx([0, 2 / (3 * math.sqrt(0.8)) * 0.2 / 0.8])


def test_the_first_session_gains_nothing() -> None:
    assert bets(np.array([7.0]), np.array([1.0]), np.array([0.5]), 0.0, Scale.RATIO) == pytest.approx([0])


@pytest.mark.parametrize("scale", Scale)
def test_no_gain_and_no_loss_exceeds_the_stake(scale: Scale) -> None:
    treated, _ = all_arms(10, 0.1)
    for outcome, effect in itertools.product(HARD_OUTCOMES.values(), (-1.0, -0.3, 0.0, 0.9)):
        gains = bets(scores(np.array(outcome), scale), treated, np.array(0.1), effect, scale)
        assert np.abs(gains).max() <= 1


def test_a_later_session_changes_nothing_about_earlier_looks() -> None:
    numbers, treated, share = np.array([1.0, 4, 2, 9, 3]), np.array([1.0, 0, 1, 1, 0]), np.array(0.5)

    all_looks = log_wealth(bets(numbers, treated, share, 0.1, Scale.RATIO))
    three_looks = log_wealth(bets(numbers[:3], treated[:3], share, 0.1, Scale.RATIO))
    assert all_looks[:3] == pytest.approx(three_looks)


def test_wealth_is_the_mean_over_fractions() -> None:
    gains = np.array([0.5, -0.2, 0.9])

    each = [math.exp(log_growth(gains, float(fraction))[-1]) for fraction in FRACTIONS]
    assert math.exp(log_wealth(gains)[-1]) == pytest.approx(sum(each) / len(each))
