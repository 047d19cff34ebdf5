"""What `doctor --stale` prints: memories that the code has left behind, why, and what to do about them."""

from collections.abc import Sequence
from datetime import UTC, datetime

import click

from claude_mem_lite.cli.output import dim, field, items, plain
from claude_mem_lite.cli.records import head, kind_and_status
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.told import objects, whole
from claude_mem_lite.models import JsonObject
from claude_mem_lite.text import counted

_SECTIONS = {
    "changed": "May be stale, because the code they tell of is another now:",
    "gone": "Their code is gone:",
    "retired": "Retired, and active again as soon as their code or branch is back:",
}
WHAT_TO_DO = "`claude-mem-lite show ID` tells all of one; `claude-mem-lite forget ID` removes one for good."


def print_stale(answer: JsonObject) -> None:
    found = objects(answer, "memories")
    if answer.get("excluded") is True:
        click.echo("This folder is excluded by the configuration; its code is not looked at.")
        return
    now = datetime.now(UTC)
    for verdict, title in _SECTIONS.items():
        some = [one for one in found if field(one, "verdict") == verdict]
        if some:
            click.echo(title)
            _print_some(some, now)
    click.echo(WHAT_TO_DO if found else _all_fresh(whole(answer, "checked")))
    if unchecked := whole(answer, "unchecked"):
        click.echo(
            f"{counted(unchecked, 'memory', 'memories')} could not be checked in time; run it again for the rest."
        )


def _print_some(some: Sequence[JsonObject], now: datetime) -> None:
    for one in some:
        told = f"[{kind_and_status(one)}, {ago(one.get('created_at'), now)}]"
        click.echo(f"  {head(one)}  {dim(told)}")
        for reason in items(one, "reasons"):
            click.echo(dim(f"      {plain(reason)}"))


def _all_fresh(checked: int) -> str:
    if not checked:
        return "No memory of this project is tied to code that could have changed."
    return f"All is fresh: the code is as {counted(checked, 'memory tells', 'memories tell')} it."
