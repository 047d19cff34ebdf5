"""The simulated users of the experiment, and the plain tests beside it."""

import numpy as np
import pytest
from benchmarks.experiment import Power, claims
from benchmarks.peeking import mann_whitney, t_test
from benchmarks.simulated_users import Outcome, Sample, made_up, recorded, sample

from claude_mem_lite.experiment.comparison import MeasuredOutcome, compare
from claude_mem_lite.experiment.wealth import Scale

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
