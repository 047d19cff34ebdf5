"""The `receipts` command: injections, their reasons and outcomes."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli.figures.stats import print_rates
from claude_mem_lite.cli.options import (
    all_projects_option,
    connect_to_find,
    connect_to_read,
    json_option,
    limit_option,
    place_options,
    where,
)
from claude_mem_lite.cli.output import Column, bold, dim, plain, print_json, print_table
from claude_mem_lite.cli.records import names_of_projects
from claude_mem_lite.cli.times import ago, clock
from claude_mem_lite.models import OUTCOMES
from claude_mem_lite.responses.analytics import ShownReceipt, ShownReceiptItem
from claude_mem_lite.scopes import called
from claude_mem_lite.text import counted, one_line, within

_MAX_TITLE_LENGTH = 100


@click.command(short_help="Show the texts given to sessions, and their use.")
@click.argument("id_", metavar="[ID]", required=False)
@place_options
@all_projects_option
@click.option("--session", metavar="S", help="Only what this session was given, by its id or the beginning of it.")
@click.option("--summary", is_flag=True, help="How many of the given items were used, by trigger and source.")
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
    """Show the texts given to sessions, and their use.

    One line for each injection, newest first: time, trigger, session, size, and the number of items that the session
    used. With ID, one receipt in full: every item with reason, score and outcome, and the omitted layers. With
    --summary, the share of used items by trigger and by source. Receipts are kept for half a year. Reads only.

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
        rates = connect_to_read({"given": [], "sources": []}, as_json=as_json).hit_rates(place)
        if as_json:
            print_json(rates.raw)
        else:
            print_rates(rates)
        return
    if id_ is not None:
        if session is not None or is_placed:
            raise click.UsageError("one receipt is named by its ID alone")
        client = connect_to_find()
        receipt = client.receipt(id_)
        if as_json:
            print_json(receipt.raw)
        else:
            click.echo("\n".join(_whole(receipt, client.project_names())))
        return
    if session is not None and is_placed:
        raise click.UsageError("a session is named by --session alone, wherever it was")
    client = connect_to_read([], as_json=as_json)
    found = client.receipts(place, session=session or "", limit=limit)
    if as_json:
        print_json([receipt.raw for receipt in found])
    elif found:
        projects = [receipt.project for receipt in found]
        _print_list(found, names_of_projects(projects, client.project_names()) if all_projects else None)
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


def _print_list(found: Sequence[ShownReceipt], names: Mapping[str, str] | None) -> None:
    """Print one line for each receipt, with the names of projects if given."""
    now = datetime.now(UTC)
    print_table(
        [
            Column("receipt", "cyan"),
            Column("when", "dim"),
            Column("trigger"),
            Column("session"),
            *([Column("project")] if names is not None else []),
            Column("tokens"),
            Column("outcome", wide=True),
        ],
        [
            [
                receipt.id,
                ago(receipt.created_at, now),
                receipt.moment,
                receipt.session,
                *([names.get(plain(receipt.project), "")] if names is not None else []),
                f"{receipt.tokens}/{receipt.budget}",
                _outcome(receipt),
            ]
            for receipt in found
        ],
    )


def _outcome(receipt: ShownReceipt) -> str:
    """Return the number of items and their outcomes, or that no agent received them."""
    items = counted(len(receipt.items), "item")
    if receipt.given_at is None:
        return f"{items}, did not reach the agent"
    judged = [item.outcome for item in receipt.items if item.outcome]
    if not judged:
        return f"{items}, session not over yet"
    return ", ".join((items, *(f"{judged.count(outcome)} {outcome}" for outcome in OUTCOMES if outcome in judged)))


def _whole(receipt: ShownReceipt, names: Mapping[str, str]) -> Iterator[str]:
    yield f"{click.style(plain(receipt.id), fg='cyan')}  {bold(f'given at {plain(receipt.moment)}')}"
    yield f"{dim('session:')} {plain(receipt.session)}"
    project = receipt.project and f"{called(receipt.project, names)} ({receipt.project})"
    yield f"{dim('project:')} {plain(project)}"
    reached = f"reached the agent {clock(receipt.given_at)}" if receipt.given_at else "did not reach the agent"
    yield f"{dim('made:')} {clock(receipt.created_at)}, {reached}"
    built = f"made in {receipt.build_ms:.0f} ms" if receipt.build_ms else "rendered ahead"
    yield f"{dim('size:')} {receipt.tokens} of {receipt.budget} tokens by estimate, {built}"
    layer = ""
    for item in receipt.items:
        if item.layer != layer:
            layer = item.layer
            yield bold(f"in: {plain(layer)}")
        yield from _item(item)
    for skipped in receipt.layers_skipped:
        yield f"{bold('out:')} {plain(skipped.layer)}, {plain(skipped.reason) or 'without a noted reason'}"


def _item(item: ShownReceiptItem) -> Iterator[str]:
    title = within(one_line(plain(item.title)), _MAX_TITLE_LENGTH) if item.title else "no longer there"
    outcome = f"  {_styled_outcome(plain(item.outcome))}" if item.outcome else ""
    yield f"  {click.style(plain(item.source), fg='cyan')}  {title}{outcome}"
    details = (
        plain(item.kind),
        plain(item.reason),
        "" if item.score is None else f"score {item.score:.2f}",
        f"{item.tokens} tokens",
    )
    yield dim(f"      {'; '.join(filter(None, details))}")


def _styled_outcome(outcome: str) -> str:
    return click.style(f"[{outcome}]", fg="green" if outcome == "used" else None, dim=outcome != "used")
