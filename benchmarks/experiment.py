"""`python -m benchmarks.experiment [DATA …] [--users N]`: is the experiment as sure as it says?

Simulated users have 1,000 sessions and look after each of them. Without an effect, a false alarm is any look at which
the comparison claims one; with an effect, an interval fails at any look at which it leaves out the true one. With data
folders, outcomes of recorded sessions are drawn again besides. Counted are users:

- false alarms: users with one at any look, and the upper end of the 95 % interval of that share, which is judged.
- coverage: users whose intervals hold the true effect at all looks, and at the last one.
- power: users whose effect is found within 200, 500 and 1,000 sessions, and sessions until half of them have it found.

The plain tests beside it look at the same sessions as often, from five sessions in each arm on."""

import argparse
import math
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import session_outcomes as recordings
from benchmarks.figures import RESULTS, Figure, keep
from benchmarks.peeking import Alarms, mann_whitney, t_test
from benchmarks.plot import Line, Panel, svg
from benchmarks.simulated_users import SESSIONS, Outcome, Sample, made_up, recorded, sample
from claude_mem_lite.evaluation.intervals import share_interval
from claude_mem_lite.experiment.comparison import MIN_PER_ARM, MeasuredOutcome, compare
from claude_mem_lite.experiment.wealth import Floats, Scale, bets, log_wealth

LEVEL = 0.05
MIN_COVERAGE = 0.95
SHARES = (0.1, 0.2, 0.5)
NONE, SMALL, LARGE = 1.0, 0.8, 0.5
"""Ratios of the outcome with memory to the outcome without."""
_PLOTTED_RATIOS = (0.4, 0.5, 0.6, 0.7, 0.75, 0.8)
_ACROSS = "effect in % less; lines: share of sessions without memory"
_LOOKS = (200, 500, 1_000)
_FORECAST_AT = 100
_MAX_FORECASTS = 200
_SCALES = {
    recordings.CALLS: Scale.RATIO,
    recordings.FILES_READ: Scale.RATIO,
    recordings.TURNS: Scale.RATIO,
    recordings.SECONDS: Scale.RATIO,
    recordings.FAILURES: Scale.SHARE,
}


@dataclass(frozen=True, slots=True)
class Power:
    """Users whose effect is found within each number of sessions, and the median number; None beyond all sessions."""

    within: tuple[float, ...]
    median: int | None

    @classmethod
    def of(cls, alarms: Alarms) -> "Power":
        first = np.where(alarms.any(axis=1), alarms.argmax(axis=1) + 1, SESSIONS + 1)
        median = int(np.median(first))
        return cls(tuple(float((first <= look).mean()) for look in _LOOKS), median if median <= SESSIONS else None)

    def line(self, share: float) -> str:
        half = f"half after {self.median}" if self.median else "half never"
        return f"share {share:g}: " + " / ".join(f"{each:.0%}" for each in self.within) + f", {half}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.experiment")
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--users", type=int, default=1_000)
    options = parser.parse_args(arguments)
    projects = [recordings.outcomes(folder) for folder in options.data]
    figures = []
    for figure in measure([*made_up(), *(recorded(projects, _SCALES) if projects else ())], options.users):
        print(figure.line(), flush=True)
        figures.append(figure)
    (RESULTS / "experiment.svg").write_text(picture(options.users))
    return keep("experiment", "How sure the experiment is", figures, "python -m benchmarks.experiment DATA …")


def measure(outcomes: Sequence[Outcome], users: int) -> Iterator[Figure]:
    for outcome in outcomes:
        for drift in (False, True):
            name = f"{outcome.name}, {'drifting' if drift else 'steady'}"
            yield _false_alarms(name, outcome, users, drift)
            samples = {
                (ratio, share): sample(outcome, _rng(name, share, ratio), users, share, ratio, drift)
                for ratio in (SMALL, LARGE)
                for share in SHARES
            }
            yield _coverage(name, outcome.scale, list(samples.values()))
            for ratio, effect in ((SMALL, "a fifth less"), (LARGE, "half as much")):
                powers = {share: Power.of(claims(samples[ratio, share], outcome.scale)) for share in SHARES}
                note = "; ".join(power.line(share) for share, power in powers.items())
                yield Figure(f"{name}: power for {effect}, share 0.2", powers[0.2].within[-1], "", note=note)
    yield _forecast(made_up()[0], users)


def claims(users: Sample, scale: Scale) -> Alarms:
    """Return whether the comparison claims an effect after each session."""
    return _rejected(users, scale, 0.0) & _is_enough(users)


def picture(users: int) -> str:
    """Draw the median number of sessions until an effect is found against its size."""
    panels = []
    for outcome in (made_up()[0], made_up()[2]):
        lines = []
        for colour, share in enumerate(SHARES):
            medians = (
                (100 * (1 - ratio), Power.of(claims(_steady(outcome, users, share, ratio), outcome.scale)).median)
                for ratio in _PLOTTED_RATIOS
            )
            points = sorted((less, float(median)) for less, median in medians if median)
            lines.append(Line(f"{share:.0%}", points, colour))
        panels.append(Panel(f"sessions until found, {outcome.name}", _ACROSS, lines))
    return svg(panels)


def _false_alarms(name: str, outcome: Outcome, users: int, drift: bool) -> Figure:
    ends, notes = [], []
    for share in SHARES:
        made = sample(outcome, _rng(name, share, NONE), users, share, NONE, drift)
        rate = _ever(claims(made, outcome.scale))
        low, high = share_interval(rate * users, users)
        ends.append(high)
        enough = _is_enough(made)
        t_rate = _ever(t_test(made.numbers, made.treated) & enough)
        rank_rate = _ever(mann_whitney(made.numbers, made.treated) & enough)
        notes.append(
            f"share {share:g}: {rate:.1%} [{low:.1%}, {high:.1%}], t-test {t_rate:.0%}, Mann-Whitney {rank_rate:.0%}"
        )
    return Figure(f"{name}: false alarms, upper end", round(max(ends), 4), "", bar=LEVEL, note="; ".join(notes))


def _coverage(name: str, scale: Scale, samples: Sequence[Sample]) -> Figure:
    held = [~_rejected(users, scale, users.effect) for users in samples]
    always = [float(each.all(axis=1).mean()) for each in held]
    last = min(float(each[:, -1].mean()) for each in held)
    low, high = share_interval(min(always) * len(held[0]), len(held[0]))
    note = f"lowest of {len(held)} [{low:.1%}, {high:.1%}]; at the last look {last:.1%}"
    return Figure(f"{name}: coverage at all looks", min(always), "", floor=MIN_COVERAGE, note=note)


def _forecast(outcome: Outcome, users: int) -> Figure:
    """Compare the number of sessions that is forecast after 100 sessions with the sessions it took."""
    made = _steady(outcome, min(users, _MAX_FORECASTS), 0.2, LARGE)
    found = claims(made, outcome.scale)
    needed = np.where(found.any(axis=1), found.argmax(axis=1) + 1, SESSIONS + 1)
    forecasts = []
    for user in range(len(made.numbers)):
        values, treated = np.expm1(made.numbers[user, :_FORECAST_AT]), made.treated[user, :_FORECAST_AT]
        seen = [MeasuredOutcome(float(value), arm == 0, 0.2) for value, arm in zip(values, treated, strict=True)]
        more = compare(seen, outcome.scale).more_sessions
        forecasts += [_FORECAST_AT + more] if more is not None else []
    note = f"median of {len(forecasts)} forecasts after {_FORECAST_AT} sessions; it took {np.median(needed):.0f}"
    return Figure("lognormal, half, share 0.2: forecast sessions", float(np.median(forecasts)), "sessions", note=note)


def _steady(outcome: Outcome, users: int, share: float, ratio: float) -> Sample:
    return sample(outcome, _rng(outcome.name, share, ratio), users, share, ratio, False)


def _rejected(users: Sample, scale: Scale, effect: Floats | float) -> Alarms:
    gains = bets(users.numbers, users.treated, np.array(users.share), effect, scale)
    rejected: Alarms = log_wealth(gains) >= -math.log(LEVEL)
    return rejected


def _is_enough(users: Sample) -> Alarms:
    treated: Floats = np.cumsum(users.treated, axis=1)
    control = np.arange(1, SESSIONS + 1) - treated
    enough: Alarms = np.minimum(treated, control) >= MIN_PER_ARM
    return enough


def _ever(alarms: Alarms) -> float:
    return float(alarms.any(axis=1).mean())


def _rng(name: str, share: float, ratio: float) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(f"{name} {share} {ratio}".encode()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
