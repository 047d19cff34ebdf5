"""Measures of one project from its walk: coverage of starts, use of prompts, repeated failures, unused memories."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from claude_mem_lite.evaluation.coverage import (
    CoverageSample,
    Files,
    Select,
    newest_sessions,
    product_selection,
    sample,
)
from claude_mem_lite.evaluation.intervals import Measured, bootstrapped, mean_difference, mean_share, share_interval
from claude_mem_lite.evaluation.prompt_use import Rates, judge, rates, with_edits
from claude_mem_lite.evaluation.recording import ListedSession
from claude_mem_lite.evaluation.session_walk import SessionStart
from claude_mem_lite.evaluation.trigger_walk import AnsweredPrompt
from claude_mem_lite.values import frozen

MIN_SESSIONS = 12
"""Fewer sessions are too few to tell."""
MAX_NEWEST = 10
PRODUCT = "claude-mem-lite"
NEWEST_SESSIONS = f"the newest {MAX_NEWEST} sessions"
NOTHING = "nothing"


@frozen
class StartFigures:
    """Start contexts by one selection: coverage with interval, cost, and share of items of use."""

    coverage: Measured
    readable: float
    tokens: float
    max_tokens: int
    of_use: float


@frozen
class Difference:
    """Variant against the plain run, paired by session."""

    coverage: Measured
    tokens: Measured


@frozen
class UnusedMemory:
    """Memory that was given and never concerned a file of the session."""

    id: str
    title: str
    given: int


@frozen
class MeasuredSessions:
    """Figures over some sessions of a project."""

    sessions: int
    with_files: int
    is_enough: bool
    starts: Mapping[str, StartFigures]
    differences: Mapping[str, Difference]
    prompts: Rates
    prompts_with_edits: Rates
    tokens_per_prompt: float
    failures_repeated: int
    """Failures whose fix an earlier session had verified."""
    failures_offered: int
    """Of these, failures that would have got the fix."""
    failures_share: Measured
    """Share of them that would have got the fix."""


@dataclass(slots=True)
class ProjectWalk:
    """Walked starts and prompts of one project; grows while the walk goes on."""

    listed: Sequence[ListedSession]
    starts: list[SessionStart] = field(default_factory=list)
    prompts: list[AnsweredPrompt] = field(default_factory=list)

    def add(self, reached: SessionStart | AnsweredPrompt) -> None:
        """Record a start or a prompt."""
        if isinstance(reached, SessionStart):
            self.starts.append(reached)
        else:
            self.prompts.append(reached)

    def months(self) -> list[str]:
        """Return the months of the walked sessions, as in 2026-03."""
        return sorted({f"{start.session.started_at:%Y-%m}" for start in self.starts})


def measure(walked: ProjectWalk, month: str = "") -> MeasuredSessions:
    """Return the figures of a project; of one month if given."""
    starts = [start for start in walked.starts if f"{start.session.started_at:%Y-%m}".startswith(month)]
    ids = {start.session.id for start in starts}
    prompts = [prompt for prompt in walked.prompts if prompt.trigger.session.id in ids]
    files = Files(walked.listed)
    names = starts[0].variants if starts else ()
    plain = sample(files, starts, lambda start: product_selection(files, start.text, start.lines))
    order = [session.id for session in walked.listed]
    samples = {
        PRODUCT: plain,
        NEWEST_SESSIONS: sample(files, starts, newest_sessions(files, order, MAX_NEWEST)),
    }
    variants = {name: sample(files, starts, _variant(files, name)) for name in names}
    sessions = {session.id: session for session in walked.listed}
    judged = [
        judge(prompt.trigger.session, prompt.trigger.has_edits, prompt.answer.sessions, sessions) for prompt in prompts
    ]
    failures = [failure for prompt in prompts for failure in prompt.failures]
    offered = sum(failure.is_offered for failure in failures)
    return MeasuredSessions(
        sessions=len(starts),
        with_files=len(plain.covered),
        is_enough=len(plain.covered) >= MIN_SESSIONS,
        starts={
            **{name: _figures(measured) for name, measured in samples.items()},
            NOTHING: StartFigures(Measured(0.0, 0.0, 0.0), 0.0, 0.0, 0, 0.0),  # known, not measured
            **{name: _figures(measured) for name, measured in variants.items()},
        },
        differences={name: _difference(variant, plain) for name, variant in variants.items()},
        prompts=rates(judged),
        prompts_with_edits=rates(with_edits(judged, True)),
        tokens_per_prompt=_mean([prompt.answer.tokens for prompt in prompts]),
        failures_repeated=len(failures),
        failures_offered=offered,
        failures_share=Measured(offered / len(failures) if failures else 0.0, *share_interval(offered, len(failures))),
    )


def unused_memories(walked: ProjectWalk, titles: Mapping[str, str]) -> list[UnusedMemory]:
    """Return the memories that were given and never of use, the most often given first."""
    given: Counter[str] = Counter()
    used: set[str] = set()
    files = {session.id: session.files for session in walked.listed}
    for id_, is_useful in (*_of_starts(walked.starts), *_of_prompts(walked.prompts, files)):
        given[id_] += 1
        if is_useful:
            used.add(id_)
    unused = [
        UnusedMemory(id_, titles[id_], times) for id_, times in given.items() if id_ in titles and id_ not in used
    ]
    return sorted(unused, key=lambda memory: (-memory.given, memory.id))


def _of_starts(starts: Iterable[SessionStart]) -> Iterable[tuple[str, bool]]:
    for start in starts:
        shown = {line.source: line.files for line in start.lines if line.files is not None}
        if start.session.files:
            yield from ((id_, bool(files & start.session.files)) for id_, files in shown.items())


def _of_prompts(prompts: Iterable[AnsweredPrompt], files: Mapping[str, frozenset[str]]) -> Iterable[tuple[str, bool]]:
    for prompt in prompts:
        touched = prompt.trigger.session.files
        for item in prompt.answer.items if touched else ():
            yield item.id, bool(files.get(item.session, frozenset()) & touched)


def _variant(files: Files, name: str) -> Select:
    return lambda start: product_selection(files, *start.variants[name])


def _figures(measured: CoverageSample) -> StartFigures:
    return StartFigures(
        coverage=mean_share(measured.covered),
        readable=_mean(measured.readable),
        tokens=_mean(measured.tokens),
        max_tokens=max(measured.tokens, default=0),
        of_use=_mean(measured.use),
    )


def _difference(variant: CoverageSample, plain: CoverageSample) -> Difference:
    tokens = _paired(variant.tokens, plain.tokens)
    return Difference(
        coverage=mean_difference(_paired(variant.covered, plain.covered)),
        tokens=bootstrapped(tokens) if tokens else Measured(0.0, 0.0, 0.0),
    )


def _paired(values: Sequence[float], others: Sequence[float]) -> list[float]:
    return [value - other for value, other in zip(values, others, strict=True)]


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0
