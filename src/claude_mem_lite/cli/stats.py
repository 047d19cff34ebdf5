"""`stats`: what is stored, what was given and what came of it, what models took."""

from collections.abc import Iterator

import click

from claude_mem_lite.cli.options import connect_to_look, json_option
from claude_mem_lite.cli.output import Column, bold, field, plain, print_json, print_table
from claude_mem_lite.client.responses import objects, part, whole
from claude_mem_lite.models import OUTCOMES, JsonObject
from claude_mem_lite.text import counted, one_line, within

_MAX_PROJECTS = 10
_MAX_SILENT = 10
_MAX_TITLE_LENGTH = 80
_NOTHING: JsonObject = {"memories": {"by_kind": {}, "by_status": {}, "by_project": []}, "given": [], "sources": []}


@click.command(short_help="Show what is stored, given, used and spent.")
@click.option(
    "--days",
    metavar="N",
    type=click.IntRange(1, 180),
    default=30,
    help="What was given and spent over so many days, at most 180; 30 if not given.",
)
@json_option
def stats(days: int, as_json: bool) -> None:
    """Show what is stored, given, used and spent.

    Over all projects: memories by kind and project; how often and how much was given at which moment, and how much of
    it sessions had use for, by source; what is not given any more because nobody had; what models were asked and took,
    and how good our estimate of tokens was. Reads only.

    \b
    Examples:
      claude-mem-lite stats
      claude-mem-lite stats --days 7
      claude-mem-lite stats --json
    """
    told = connect_to_look(_NOTHING, as_json=as_json).stats(days)
    if as_json:
        print_json(told)
        return
    for line in _stored(part(told, "memories")):
        click.echo(line)
    click.echo(bold(f"given in the last {counted(days, 'day')}"))
    print_rates(told)
    for line in (*_retold(part(told, "retold")), *_silent(part(told, "silent")), *_model(part(told, "model"))):
        click.echo(line)


def print_rates(told: JsonObject) -> None:
    """What came of what was given, moment by moment, each with its sources."""
    given = objects(told, "given")
    if not given:
        click.echo("nothing was given")
        return
    rows = []
    for one in given:
        moment = field(one, "moment")
        reached = f"{whole(one, 'reached'):,} of {whole(one, 'made'):,}"
        rows.append([moment, "all", reached, f"{whole(one, 'tokens'):,}", *_hits(one)])
        for source in objects(told, "sources"):
            if source.get("moment") == one.get("moment"):
                gave = counted(whole(source, "items"), "item")
                rows.append([moment, field(source, "source"), gave, f"{whole(source, 'tokens'):,}", *_hits(source)])
    titles = ("moment", "source", "given", "tokens", "used", "ignored", "unknown", "used at least")
    print_table([Column(title) for title in titles], rows, always_titled=True)


def _hits(one: JsonObject) -> list[str]:
    rate = one.get("hit_rate")
    shown = f"{rate:.0%}" if isinstance(rate, int | float) else "not known yet"
    return [*(f"{whole(one, outcome):,}" for outcome in OUTCOMES), shown]


def _stored(memories: JsonObject) -> Iterator[str]:
    kinds = part(memories, "by_kind")
    yield bold(f"memories: {sum(whole(kinds, kind) for kind in kinds):,}")
    if kinds:
        yield "  " + ", ".join(f"{plain(kind)} {whole(kinds, kind):,}" for kind in kinds)
    others = {status: count for status, count in part(memories, "by_status").items() if status != "active"}
    if others:
        yield "  not given: " + ", ".join(f"{plain(status)} {count}" for status, count in others.items())
    found = objects(memories, "by_project")
    for one in found[:_MAX_PROJECTS]:
        name = field(one, "name") or field(one, "project") or "everywhere"
        told = f"{counted(whole(one, 'memories'), 'memory', 'memories')}, {counted(whole(one, 'sessions'), 'session')}"
        yield f"  {name}: {told}"
    if len(found) > _MAX_PROJECTS:
        yield f"  and {counted(len(found) - _MAX_PROJECTS, 'more project')}"


def _retold(retold: JsonObject) -> Iterator[str]:
    given, said = whole(retold, "given_tokens"), whole(retold, "said_tokens")
    if given and said:
        yield (
            f"  starts were given {given:,} tokens in all; the sessions that these sum up have {said:,} "
            "in their prompts and closing messages alone"
        )


def _silent(silent: JsonObject) -> Iterator[str]:
    found = objects(silent, "items")
    if found:
        yield bold("silent at the start of sessions, because none had use for it")
    for one in found[:_MAX_SILENT]:
        title = within(one_line(field(one, "title")), _MAX_TITLE_LENGTH)
        yield f"  {field(one, 'id')}  {title} ({_ignored(one)})"
    if len(found) > _MAX_SILENT:
        yield f"  and {counted(len(found) - _MAX_SILENT, 'more item')}; --json lists them"


def _ignored(one: JsonObject) -> str:
    return ", ".join(f"{whole(one, outcome)} {outcome}" for outcome in OUTCOMES)


def _model(model: JsonObject) -> Iterator[str]:
    calls = whole(model, "calls")
    if not calls:
        yield bold("model: not asked")
        return
    cost = model.get("cost_usd")
    dollars = f"${cost:.4f}" if isinstance(cost, int | float) else ""
    yield bold(f"model: {counted(calls, 'call')}, {whole(model, 'tokens'):,} tokens, {dollars}")
    outcomes = part(model, "by_outcome")
    for what in outcomes:
        spend = part(outcomes, what)
        yield f"  {plain(what)}: {counted(whole(spend, 'calls'), 'call')}, {whole(spend, 'tokens'):,} tokens"
    for one in objects(model, "estimates"):
        yield (
            f"  estimate for {field(one, 'made_by')}: {whole(one, 'estimated'):,} tokens sent, it counted "
            f"{whole(one, 'counted'):,} with its own frame ({field(one, 'ratio')} of it)"
        )
