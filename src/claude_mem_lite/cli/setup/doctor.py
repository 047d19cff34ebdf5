"""`doctor`: everything is looked at, what to do is said, and what is safe to mend is mended.

What `doctor --stale` prints: memories that the code has left behind, why, and what to do about them."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from claude_mem_lite.cli.options import absolute_home, connect_to_look, folder, json_option
from claude_mem_lite.cli.output import dim, field, items, plain, print_json
from claude_mem_lite.cli.records import head, kind_and_status
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.responses import objects, whole
from claude_mem_lite.errors import joined
from claude_mem_lite.install.targets import settings_path
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
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


if TYPE_CHECKING:
    from claude_mem_lite.install.doctor.check import Check
    from claude_mem_lite.install.doctor.fixes import Done


@click.command(short_help="Check everything and say what to do.")
@click.option("--fix", is_flag=True, help="First mend what can be mended safely, and say what was done.")
@click.option("--dry-run", is_flag=True, help="With --fix: only say what would be done.")
@click.option("--online", is_flag=True, help="Also ask the configured model for one word, which may cost a little.")
@click.option("--stale", is_flag=True, help="Instead, list memories of this project that the code has left behind.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, fix: bool, dry_run: bool, online: bool, stale: bool, as_json: bool) -> None:
    """Check everything and say what to do.

    Looks at the interpreters, the data folder and who may read it, the hooks in the settings of each agent, the
    plugin, the MCP server and the skill, the worker, the queue, the model and what it took today, search, the
    databases, their backups, the disk, the clock, the configuration and other memory tools. Changes nothing, but
    starts the worker where the data folder exists. Exits 1 when something fails.

    With --fix it mends what is ours and can be mended safely: permissions, links, the hook program, hooks of ours
    that are of another version, a worker that is stopped or old, a damaged word index. It deletes nothing and
    touches nothing of anybody else.

    With --stale it checks what is remembered instead: it lists the memories of the current folder's project whose
    code was changed since or is gone, and those that were retired because their code or their branch is.

    \b
    Examples:
      claude-mem-lite doctor
      claude-mem-lite doctor --json
      claude-mem-lite doctor --fix --dry-run
      claude-mem-lite doctor --fix
      claude-mem-lite doctor --online
      claude-mem-lite doctor --stale
    """
    if dry_run and not fix:
        raise click.UsageError("--dry-run goes with --fix", ctx)
    if stale:
        _doctor_stale(as_json)
        return
    from claude_mem_lite.install.doctor.check import as_json as check_json
    from claude_mem_lite.install.doctor.fixes import as_json as done_json
    from claude_mem_lite.install.doctor.runner import run_checks

    home = absolute_home()
    settings = settings_path("user", None, os.environ)
    mended = []
    for done in _mend(home, settings, dry_run=dry_run) if fix else ():
        mended.append(done)
        if not as_json:
            _print_done(done, dry_run=dry_run)
    if dry_run:
        if as_json:
            print_json({"would_fix": [done_json(done) for done in mended]})
        elif not mended:
            click.echo("There is nothing that could be mended safely.")
        return
    checks = []
    for check in run_checks(home, settings, online=online):
        checks.append(check)
        if not as_json:
            _print_check(check)
    if as_json:
        told = [check_json(check) for check in checks]
        print_json({"fixed": [done_json(done) for done in mended], "checks": told} if fix else told)
    has_failed = any(check.state == "fail" for check in checks)
    if fix and not mended and not as_json:
        click.echo("Nothing of this can be mended safely." if has_failed else "Nothing needs mending.")
    if has_failed:
        ctx.exit(1)


def _mend(home: Home, settings: Path, *, dry_run: bool) -> "Iterator[Done]":
    from claude_mem_lite.install.doctor.fixes import Done, apply, find_fixes

    for fix in find_fixes(home, settings, os.environ):
        yield Done(fix.name, fix.what) if dry_run else apply(fix)


def _print_done(done: "Done", *, dry_run: bool) -> None:
    if done.failure:
        click.echo(f"Could not {plain(done.what)}: {plain(done.failure)}")
    else:
        click.echo(f"{'Would' if dry_run else 'Did'}: {plain(done.what)}.")


def _print_check(check: "Check") -> None:
    mark = {"ok": click.style("ok  ", fg="green"), "warn": click.style("warn", fg="yellow")}.get(
        check.state, click.style("FAIL", fg="red")
    )
    click.echo(f"{mark}  {check.name}: {joined(plain(check.found), plain(check.next_step))}")


def _doctor_stale(as_json: bool) -> None:
    answer = connect_to_look({"memories": []}, as_json=as_json).stale(folder())
    if as_json:
        print_json(answer)
    else:
        print_stale(answer)
