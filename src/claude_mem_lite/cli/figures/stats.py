"""The `stats` command: stored memories, injections and their outcomes, model calls."""

from collections.abc import Iterator

import click

from claude_mem_lite.cli.options import WholeNumber, connect_to_read, json_option
from claude_mem_lite.cli.output import Column, bold, plain, print_json, print_table
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.analytics import (
    ContextSavings,
    GuardUse,
    HitRates,
    ModelUse,
    SilentItems,
    SourceUse,
    Stats,
    StoredMemories,
    TriggerUse,
)
from claude_mem_lite.text import counted, one_line, within

_MAX_PROJECTS = 10
_MAX_SILENT = 10
_MAX_TITLE_LENGTH = 80
_NOTHING: JsonObject = {"memories": {"by_kind": {}, "by_status": {}, "by_project": []}, "given": [], "sources": []}


@click.command(short_help="Show what is stored, given, used and spent.")
@click.option(
    "--days",
    metavar="N",
    type=WholeNumber(1, 180),
    default=30,
    help="What was given and spent over so many days, at most 180; 30 if not given.",
)
@json_option
def stats(days: int, as_json: bool) -> None:
    """Show what is stored, given, used and spent.

    Over all projects: memories by kind and project; number and size of injections by trigger, and the share that
    sessions used, by source; memories that are no longer given because no session used them; guards and their firings;
    calls of models with their cost, and the accuracy of our token estimates. Reads only.

    \b
    Examples:
      claude-mem-lite stats
      claude-mem-lite stats --days 7
      claude-mem-lite stats --json
    """
    found = connect_to_read(_NOTHING, as_json=as_json).stats(days)
    if as_json:
        print_json(found.raw)
        return
    for line in _stored(found.memories):
        click.echo(line)
    click.echo(bold(f"given in the last {counted(days, 'day')}"))
    print_rates(found)
    for line in (*_savings(found.savings), *_silent(found.silent), *_guards(found.guards), *_model(found.model)):
        click.echo(line)


def print_rates(rates: HitRates | Stats) -> None:
    """Print the outcomes of injections by trigger, each with its sources."""
    if not rates.given:
        click.echo("nothing was given")
        return
    rows = []
    for trigger in rates.given:
        moment = plain(trigger.moment)
        reached = f"{trigger.reached:,} of {trigger.made:,}"
        rows.append([moment, "all", reached, f"{trigger.tokens:,}", *_outcomes(trigger)])
        for source in rates.sources:
            if source.moment == trigger.moment:
                items = counted(source.items, "item")
                rows.append([moment, plain(source.source), items, f"{source.tokens:,}", *_outcomes(source)])
    titles = ("trigger", "source", "given", "tokens", "used", "ignored", "unknown", "used at least")
    print_table([Column(title) for title in titles], rows, always_titled=True)


def _outcomes(use: TriggerUse | SourceUse) -> list[str]:
    rate = "not known yet" if use.hit_rate is None else f"{use.hit_rate:.0%}"
    return [f"{use.used:,}", f"{use.ignored:,}", f"{use.unknown:,}", rate]


def _stored(memories: StoredMemories) -> Iterator[str]:
    yield bold(f"memories: {sum(memories.by_kind.values()):,}")
    if memories.by_kind:
        yield "  " + ", ".join(f"{plain(kind)} {count:,}" for kind, count in memories.by_kind.items())
    others = {status: count for status, count in memories.by_status.items() if status != "active"}
    if others:
        yield "  not given: " + ", ".join(f"{plain(status)} {count}" for status, count in others.items())
    for project in memories.by_project[:_MAX_PROJECTS]:
        name = plain(project.name or project.project) or "everywhere"
        yield f"  {name}: {counted(project.memories, 'memory', 'memories')}, {counted(project.sessions, 'session')}"
    if len(memories.by_project) > _MAX_PROJECTS:
        yield f"  and {counted(len(memories.by_project) - _MAX_PROJECTS, 'more project')}"


def _savings(savings: ContextSavings) -> Iterator[str]:
    if savings.given_tokens and savings.said_tokens:
        yield (
            f"  session starts got {savings.given_tokens:,} tokens in all; the sessions that they summarize have "
            f"{savings.said_tokens:,} tokens in their prompts and closing messages alone"
        )


def _silent(silent: SilentItems) -> Iterator[str]:
    if silent.items:
        yield bold("silent at the start of sessions, because none had use for it")
    for item in silent.items[:_MAX_SILENT]:
        title = within(one_line(plain(item.title)), _MAX_TITLE_LENGTH)
        outcomes = f"{item.used} used, {item.ignored} ignored, {item.unknown} unknown"
        yield f"  {plain(item.id)}  {title} ({outcomes})"
    if len(silent.items) > _MAX_SILENT:
        yield f"  and {counted(len(silent.items) - _MAX_SILENT, 'more item')}; --json lists them"


def _guards(use: GuardUse) -> Iterator[str]:
    if not (use.active or use.paused or use.proposed or use.fired):
        return
    yield bold(f"guards: {use.active} in force, {use.paused} paused, {use.proposed} proposed")
    if use.fired:
        outcomes = f"{use.followed} followed, {use.overridden} overridden, {use.got_round} got round, {use.false} false"
        yield f"  fired {counted(use.fired, 'time')}: {outcomes}"


def _model(model: ModelUse) -> Iterator[str]:
    if not model.calls:
        yield bold("model: not asked")
        return
    yield bold(f"model: {counted(model.calls, 'call')}, {model.tokens:,} tokens, ${model.cost_usd:.4f}")
    for outcome, spend in model.by_outcome.items():
        yield f"  {plain(outcome)}: {counted(spend.calls, 'call')}, {spend.tokens:,} tokens"
    for estimate in model.estimates:
        yield (
            f"  estimate for {plain(estimate.made_by)}: {estimate.estimated:,} tokens sent, it counted "
            f"{estimate.counted:,} with its own frame ({estimate.ratio} of it)"
        )
