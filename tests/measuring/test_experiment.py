"""The simulated users of the experiment, and the plain tests beside it."""

from itertools import islice

import numpy as np
import pytest
from benchmarks import experiment
from benchmarks.experiment import Power, claims, measure
from benchmarks.peeking import mann_whitney, t_test
from benchmarks.simulated_users import Outcome, Sample, made_up, recorded, sample

from claude_mem_lite.experiment.comparison import MeasuredOutcome, compare
from claude_mem_lite.experiment.wealth import Floats, Scale, bets

USERS = 200


@pytest.fixture(scope="module")
def without_effect() -> Sample:
    return users("zero-inflated", 1)


def users(name: str, ratio: float, *, drift: bool = True) -> Sample:
    outcome = next(each for each in made_up() if each.name == name)
    return sample(outcome, np.random.default_rng(7), USERS, 0.2, ratio, drift)


def test_looks_after_every_session_raise_the_false_alarms_of_plain_tests_only(without_effect: Sample) -> None:
    numbers, treated = without_effect.numbers, without_effect.treated

    alarms = {
        "ours": claims(without_effect, Scale.RATIO).any(axis=1).mean(),
        "t-test": t_test(numbers, treated).any(axis=1).mean(),
        "Mann-Whitney": mann_whitney(numbers, treated).any(axis=1).mean(),
    }
    assert alarms["ours"] <= 0.05
    assert min(alarms["t-test"], alarms["Mann-Whitney"]) > 0.25


def test_a_single_look_keeps_the_level_of_the_plain_tests(without_effect: Sample) -> None:
    numbers, treated = without_effect.numbers, without_effect.treated

    assert t_test(numbers, treated)[:, -1].mean() < 0.09
    assert mann_whitney(numbers, treated)[:, -1].mean() < 0.09


def test_the_benchmark_claims_what_the_comparison_claims() -> None:
    made = users("lognormal", 0.5)
    at = 250

    ours = [
        compare(
            [
                MeasuredOutcome(float(value), arm == 0, made.share)
                for value, arm in zip(np.expm1(made.numbers[user, :at]), made.treated[user, :at], strict=True)
            ],
            Scale.RATIO,
        ).can_tell
        for user in range(40)
    ]
    assert ours == claims(made, Scale.RATIO)[:40, at - 1].tolist()
    assert len(set(ours)) == 2


def test_recorded_sessions_are_drawn_from_one_project_for_each_user() -> None:
    projects = [{"turns": [1.0, 2.0, 3.0]}, {"turns": [50.0, 60.0]}]
    outcome: Outcome = recorded(projects, {"turns": Scale.RATIO})[0]

    made = sample(outcome, np.random.default_rng(1), 4, 0.5, 1.0, drift=False)
    seen = [{round(value) for value in np.expm1(row)} for row in made.numbers]
    assert seen == [{1, 2, 3}, {50, 60}, {1, 2, 3}, {50, 60}]


def test_power_counts_users_and_the_median_session() -> None:
    alarms = np.zeros((3, 1000), dtype=np.bool_)
    alarms[0, 99:], alarms[1, 399:] = True, True

    assert Power.of(alarms) == Power((1 / 3, 2 / 3, 2 / 3), 400)


@pytest.mark.parametrize(("is_wrong", "alarms", "coverage"), [(False, 0.0, 1.0), (True, 1.0, 0.0)])
def test_a_bettor_that_wins_without_an_effect_misses_the_bars(
    monkeypatch: pytest.MonkeyPatch, is_wrong: bool, alarms: float, coverage: float
) -> None:
    def winning(numbers: Floats, treated: Floats, share: Floats, effect: Floats | float, scale: Scale) -> Floats:
        return np.full(numbers.shape, 0.5) if is_wrong else 0 * bets(numbers, treated, share, effect, scale)

    monkeypatch.setattr(experiment, "bets", winning)
    false_alarms, covered = islice(measure(made_up()[:1], 10), 2)
    assert false_alarms.value == pytest.approx(alarms, abs=0.3)
    assert covered.value == coverage
    assert covered.holds() is not is_wrong


@pytest.mark.parametrize(("ratio", "effect"), [(1.0, 0.0), (0.5, -0.66)])
def test_the_true_effect_is_the_mean_difference_on_the_compared_scale(ratio: float, effect: float) -> None:
    made = users("lognormal", ratio, drift=False)
    assert made.effect == pytest.approx(np.full((USERS, 1), effect), abs=0.02)


def test_each_project_has_a_true_effect_of_its_own() -> None:
    projects = [{"failures": [0.0]}, {"failures": [1.0]}]
    outcome = recorded(projects, {"failures": Scale.SHARE})[0]
    made = sample(outcome, np.random.default_rng(1), 4, 0.5, 0.5, drift=False)
    assert made.effect.ravel() == pytest.approx([0.0, -0.5, 0.0, -0.5], abs=0.05)


def test_a_drifting_user_halves_an_outcome_over_all_sessions() -> None:
    numbers = users("lognormal", 1).numbers
    assert numbers[:, -100:].mean() - numbers[:, :100].mean() == pytest.approx(-0.62, abs=0.12)


@pytest.mark.parametrize(("some", "is_claimed"), [(4, True), (5, False)])
def test_the_test_of_ranks_corrects_for_ties(some: int, is_claimed: bool) -> None:
    # 4 of 20 against 11 of 20: z = 2.26, and 1.89 without the correction; 5 of 20: z = 1.91.
    numbers = np.array([[float(at < some) for at in range(20)] + [float(at < 11) for at in range(20)]])
    treated = np.array([[1.0] * 20 + [0.0] * 20])
    assert mann_whitney(numbers, treated)[0, -1] == is_claimed
