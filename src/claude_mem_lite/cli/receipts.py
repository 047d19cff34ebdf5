"""`receipts`: what was given to sessions, why, and whether they had use for it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli.options import (
    all_projects_option,
    connect_to_find,
    connect_to_look,
    json_option,
    limit_option,
    place_options,
    where,
)
from claude_mem_lite.cli.output import Column, bold, dim, field, print_json, print_table
from claude_mem_lite.cli.records import project_names, with_project_name
from claude_mem_lite.cli.stats import print_rates
from claude_mem_lite.cli.times import ago, clock
from claude_mem_lite.client.responses import objects, whole
from claude_mem_lite.models import OUTCOMES, JsonObject
from claude_mem_lite.text import one_line, within

_MAX_TITLE_LENGTH = 100


@click.command(short_help="Show what was given to sessions, and what came of it.")
@click.argument("id_", metavar="[ID]", required=False)
@place_options
@all_projects_option
@click.option("--session", metavar="S", help="Only what this session was given, by its id or the beginning of it.")
@click.option("--summary", is_flag=True, help="How much of what was given was used, by moment and source.")
@limit_option(20)
@json_option
def receipts(
    id_: str | None,
    cwd: str | None,
    project: str | None,
    all_projects: bool,
    session: str | None,
    summary: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Show what was given to sessions, and what came of it.

    One line for each context that was made, newest first: when and at which moment of which session, its size, and
    how many of its items the session had use for. With ID one of them in full: every item, why it was in, its score
    and what came of it, and the layers that were left out. With --summary how much was used of all that was given, by
    moment and by source. Receipts are kept for half a year. Reads only.

    \b
    Examples:
      claude-mem-lite receipts
      claude-mem-lite receipts k7f3a5mq2x
      claude-mem-lite receipts --session 2f6d1c0e --json
      claude-mem-lite receipts --summary
    """
    place = where(cwd, project, all_projects)
    is_placed = all_projects or cwd is not None or project is not None
    if summary:
        if id_ is not None or session is not None:
            raise click.UsageError("--summary is of a project, or of all with --all-projects")
        rates = connect_to_look({"given": [], "sources": []}, as_json=as_json).hit_rates(place)
        if as_json:
            print_json(rates)
        else:
            print_rates(rates)
        return
    if id_ is not None:
        if session is not None or is_placed:
            raise click.UsageError("one receipt is named by its ID alone")
        client = connect_to_find()
        receipt = client.receipt(id_)
        if as_json:
            print_json(receipt)
        else:
            click.echo("\n".join(_whole(with_project_name(receipt, client.project_names()))))
        return
    if session is not None and is_placed:
        raise click.UsageError("a session is named by --session alone, wherever it was")
    client = connect_to_look([], as_json=as_json)
    found = client.receipts(place, session=session or "", limit=limit)
    if as_json:
        print_json(found)
    elif found:
        _print_list(found, project_names(found, client.project_names()) if all_projects else None)
    else:
        click.echo(_why_none(session, all_projects))


def _why_none(session: str | None, all_projects: bool) -> str:
    if session is not None:
        return "This session was given nothing, or it was longer ago than receipts are kept."
    wider = "" if all_projects else " --all-projects shows those of other folders."
    return (
        "Nothing was given to a session here yet. `claude-mem-lite context` prints what the next one would be given; "
        f"`claude-mem-lite doctor` checks that sessions are seen.{wider}"
    )


def _print_list(found: Sequence[JsonObject], names: Mapping[str, str] | None) -> None:
    """One line each, with the names of their projects if there are any."""
    now = datetime.now(UTC)
    print_table(
        [
            Column("receipt", "cyan"),
            Column("when", "dim"),
            Column("moment"),
            Column("session"),
            *([Column("project")] if names is not None else []),
            Column("tokens"),
            Column("what came of it", wide=True),
        ],
        [
            [
                field(one, "id"),
                ago(one.get("created_at"), now),
                field(one, "moment"),
                field(one, "session"),
                *([names.get(field(one, "project"), "")] if names is not None else []),
                f"{field(one, 'tokens')}/{field(one, 'budget')}",
                _outcome(one),
            ]
            for one in found
        ],
    )


def _outcome(receipt: JsonObject) -> str:
    """How many items there were, and what the session made of them; or that it never saw them."""
    given = objects(receipt, "items")
    told = f"{len(given)} item{'' if len(given) == 1 else 's'}"
    if receipt.get("given_at") is None:
        return f"{told}, did not reach the agent"
    judged = [field(item, "outcome") for item in given if item.get("outcome")]
    if not judged:
        return f"{told}, not over yet"
    return ", ".join((told, *(f"{judged.count(one)} {one}" for one in OUTCOMES if one in judged)))


def _whole(receipt: JsonObject) -> Iterator[str]:
    yield f"{click.style(field(receipt, 'id'), fg='cyan')}  {bold(_moment(receipt))}"
    yield f"{dim('session:')} {field(receipt, 'session')}"
    yield f"{dim('project:')} {field(receipt, 'project')}"
    yield f"{dim('made:')} {clock(receipt.get('created_at'))}, {_reached(receipt)}"
    took = receipt.get("build_ms")
    ahead = "rendered ahead" if not took else f"made in {took:.0f} ms" if isinstance(took, int | float) else ""
    yield f"{dim('size:')} {field(receipt, 'tokens')} of {field(receipt, 'budget')} tokens by estimate, {ahead}"
    layer = ""
    for item in objects(receipt, "items"):
        if field(item, "layer") != layer:
            layer = field(item, "layer")
            yield bold(f"in: {layer}")
        yield from _item(item)
    for out in objects(receipt, "layers_skipped"):
        yield f"{bold('out:')} {field(out, 'layer')}, {field(out, 'reason') or 'for a reason nobody noted'}"


def _moment(receipt: JsonObject) -> str:
    return f"given at {field(receipt, 'moment')}"


def _reached(receipt: JsonObject) -> str:
    given = receipt.get("given_at")
    return f"reached the agent {clock(given)}" if given else "did not reach the agent"


def _item(item: JsonObject) -> Iterator[str]:
    title = field(item, "title")
    shown = within(one_line(title), _MAX_TITLE_LENGTH) if title else "no longer there"
    yield f"  {click.style(field(item, 'source'), fg='cyan')}  {shown}{_used(item)}"
    score = item.get("score")
    told = (
        field(item, "kind"),
        field(item, "reason"),
        f"score {score:.2f}" if isinstance(score, int | float) else "",
        f"{whole(item, 'tokens')} tokens",
    )
    yield dim(f"      {'; '.join(filter(None, told))}")


def _used(item: JsonObject) -> str:
    outcome = field(item, "outcome")
    if not outcome:
        return ""
    return f"  {click.style(f'[{outcome}]', fg='green' if outcome == 'used' else None, dim=outcome != 'used')}"
