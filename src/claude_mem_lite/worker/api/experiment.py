"""API of the user's experiment: its state, and the comparison of control and treated sessions. Reads only."""

from collections.abc import Sequence
from contextlib import closing

from claude_mem_lite.experiment.arms import CONTROL, TREATED
from claude_mem_lite.experiment.comparison import MeasuredOutcome, compare, secondary_level
from claude_mem_lite.experiment.wealth import Scale
from claude_mem_lite.responses.experiment import ComparedOutcome, Experiment
from claude_mem_lite.store.experiment import arms, outcomes
from claude_mem_lite.store.experiment.outcomes import ArmOutcome
from claude_mem_lite.worker.api.request_project import RequestProject
from claude_mem_lite.worker.api.routing import Router, Running

PRIMARY = "calls_before_edit"
SCALES = {
    PRIMARY: Scale.RATIO,
    "files_before_edit": Scale.RATIO,
    "repeated_failures": Scale.SHARE,
    "corrections": Scale.SHARE,
    "turns": Scale.RATIO,
    "tokens": Scale.RATIO,
    "seconds": Scale.RATIO,
}
"""Compared outcomes in the order in which they are shown."""
LEVEL = 0.05
router = Router(prefix="/api")


@router.get("/experiment")
def experiment(services: Running, chosen: RequestProject) -> Experiment:
    """Return the experiment of a project or of all, with every outcome of the sessions that have ended."""
    with closing(services.readers.open()) as db:
        began_at = arms.run_began_at(db)
        found = outcomes.of_project(db, chosen.id)
    return Experiment(
        share=services.settings.current().experiment,
        began_at=began_at.isoformat() if began_at else None,
        control_sessions=sum(each.arm == CONTROL for each in found),
        treated_sessions=sum(each.arm == TREATED for each in found),
        outcomes=tuple(_compared(name, scale, found) for name, scale in SCALES.items()),
    )


def _compared(name: str, scale: Scale, found: Sequence[ArmOutcome]) -> ComparedOutcome:
    level = LEVEL if name == PRIMARY else secondary_level(LEVEL, len(SCALES) - 1)
    known = [(each, value) for each in found if (value := getattr(each.outcome, name)) is not None]
    result = compare(
        [MeasuredOutcome(value, each.arm == CONTROL, each.share) for each, value in known], scale, level=level
    )
    return ComparedOutcome(
        name=name,
        is_primary=name == PRIMARY,
        scale=scale.value,
        control_sessions=result.control_count,
        treated_sessions=result.treated_count,
        control=result.control_mean,
        treated=result.treated_mean,
        effect=result.effect,
        low=result.low,
        high=result.high,
        verdict=result.verdict.value,
        can_tell=result.can_tell,
        more_sessions=result.more_sessions,
        level=level,
    )
