"""The page of the experiment: arms, and each outcome with its interval. It reads only: `experiment on` and `off` stay
commands."""

from claude_mem_lite.client.queries import Where
from claude_mem_lite.responses.experiment import (
    HOW_TO_READ,
    OUTCOME_NAMES,
    VERDICTS,
    ComparedOutcome,
    difference_text,
    value_text,
)
from claude_mem_lite.ui.interval_plot import HEIGHT, interval_plot
from claude_mem_lite.ui.plots import WIDTH
from claude_mem_lite.ui.templating import Asked, View, render


def experiment(asked: Asked) -> str:
    """Return the page of one project or of all; without a session that counts, how an experiment begins."""
    projects = asked.client.projects()
    chosen = asked.chosen("project")
    project = chosen if chosen in [listed.id for listed in projects] else ""
    found = asked.client.experiment(Where("", all_projects=not project, project=project))
    outcomes = [_line(outcome) for outcome in found.outcomes]
    return render(
        "experiment.html",
        experiment=found,
        has_sessions=bool(found.control_sessions or found.treated_sessions),
        primary=next((line for line in outcomes if line.is_primary), None),
        outcomes=outcomes,
        how_to_read=HOW_TO_READ,
        project=project,
        projects=projects,
        width=WIDTH,
        height=HEIGHT,
    )


def _line(outcome: ComparedOutcome) -> View:
    return View(
        outcome,
        title=OUTCOME_NAMES.get(outcome.name, outcome.name),
        verdict_words=VERDICTS.get(outcome.verdict, outcome.verdict),
        control_text=value_text(outcome, outcome.control),
        treated_text=value_text(outcome, outcome.treated),
        difference=difference_text(outcome),
        plot=interval_plot(outcome),
    )
