"""The command `experiment`: sessions with and without memories beside each other, and the switch of the experiment."""

import click

from claude_mem_lite.cli.options import (
    all_projects_option,
    chosen_home,
    connect,
    connect_to_read,
    json_option,
    refuse_agent,
)
from claude_mem_lite.cli.output import Column, print_json, print_table
from claude_mem_lite.cli.setup.config_edit import write_settings
from claude_mem_lite.client.queries import Where
from claude_mem_lite.config import MAX_EXPERIMENT
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import current_folder
from claude_mem_lite.responses.experiment import (
    HOW_TO_READ,
    OUTCOME_NAMES,
    VERDICTS,
    ComparedOutcome,
    Experiment,
    difference_text,
    value_text,
)
from claude_mem_lite.text import counted

_NOTHING: JsonObject = {"share": 0.0, "outcomes": []}


@click.group(
    invoke_without_command=True, short_help="Find out whether memories help you, with some sessions without them."
)
@all_projects_option
@json_option
@click.pass_context
def experiment(context: click.Context, all_projects: bool, as_json: bool) -> None:
    """Find out whether memories help you, with some sessions without them.

    Shows sessions with and without memories beside each other: typical values, the difference with its interval, and
    how many more sessions it would take to tell. Reads only; `on` and `off` change config.toml.

    \b
    Examples:
      claude-mem-lite experiment
      claude-mem-lite experiment --all-projects --json
      claude-mem-lite experiment on 0.2
      claude-mem-lite experiment off
    """
    if context.invoked_subcommand:
        return
    found = connect_to_read(_NOTHING, as_json=as_json).experiment(Where(current_folder(), all_projects))
    if as_json:
        print_json(found.raw)
        return
    for line in _state(found):
        click.echo(line)
    if found.control_sessions or found.treated_sessions:
        columns = [Column("outcome", wide=True), Column("without"), Column("with"), Column("difference"), Column("")]
        print_table(columns, [_row(outcome) for outcome in found.outcomes])
        click.echo(HOW_TO_READ)


class _Share(click.ParamType):  # type: ignore[type-arg]  # it takes none in earlier versions of click
    """Share of sessions in an experiment."""

    name = "share"

    def convert(self, value: object, _: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            share = float(str(value))
        except ValueError:
            share = 0.0
        if not 0 < share <= MAX_EXPERIMENT:
            raise click.UsageError(f"SHARE is a number above 0 and at most {MAX_EXPERIMENT}, such as 0.2", ctx)
        return share


# A negative number is a wrong share, not an option.
@experiment.command(
    "on", context_settings={"ignore_unknown_options": True}, short_help="Give a share of new sessions no memories."
)
@click.argument("share", type=_Share(), default=0.2)
def turn_on(share: float) -> None:
    """Give a share of new sessions no memories.

    SHARE is at most 0.5, and 0.2 if not given; it is written into config.toml as `experiment`. Sessions that have begun
    go on as they are. What you pinned is given in all sessions, and guards hold in all.

    \b
    Examples:
      claude-mem-lite experiment on
      claude-mem-lite experiment on 0.5
    """
    refuse_agent("experiment on")
    _write(share)
    click.echo(f"About {share:.0%} of new sessions get no memories; `claude-mem-lite experiment off` ends that.")


@experiment.command("off", short_help="Give all sessions their memories again.")
def turn_off() -> None:
    """Give all sessions their memories again.

    Takes `experiment` out of config.toml. Outcomes until now are kept; sessions that have not ended do not count.

    \b
    Examples:
      claude-mem-lite experiment off
    """
    refuse_agent("experiment off")
    if not _write(0.0):
        click.echo("No experiment was on: all sessions get their memories.")
        return
    click.echo("All sessions get their memories again; `claude-mem-lite experiment` shows what came of it.")


def _write(share: float) -> bool:
    """Change the setting in config.toml, and have the worker read it; return whether the setting was another one."""
    is_changed = write_settings(chosen_home(), {"experiment": share or None})
    if is_changed:
        connect().health()
    return is_changed


def _state(found: Experiment) -> list[str]:
    if found.share:
        since = f" since {found.began_at[:10]}" if found.began_at else ""
        state = f"The experiment is on{since}: about {found.share:.0%} of new sessions get no memories."
        switch = "`claude-mem-lite experiment off` ends it."
    else:
        state = "No experiment runs: all sessions get their memories."
        switch = "`claude-mem-lite experiment on 0.2` gives a fifth of new sessions none, to compare."
    ended = f"Ended sessions: {found.control_sessions} without memories, {found.treated_sessions} with."
    return [f"{state} {switch}", ended]


def _row(outcome: ComparedOutcome) -> list[str]:
    more = f", about {counted(outcome.more_sessions, 'more session')}" if outcome.more_sessions else ""
    control, treated = (value_text(outcome, value) for value in (outcome.control, outcome.treated))
    verdict = f"{VERDICTS.get(outcome.verdict, outcome.verdict)}{more}"
    return [OUTCOME_NAMES.get(outcome.name, outcome.name), control, treated, difference_text(outcome), verdict]
