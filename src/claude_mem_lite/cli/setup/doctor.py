"""Command `doctor`: check everything, name the next step, and repair what is safe to repair.

`doctor --stale` prints memories that no longer fit the code, with the reasons.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from claude_mem_lite.cli.options import absolute_home, connect_to_read, folder, json_option
from claude_mem_lite.cli.output import dim, plain, print_json
from claude_mem_lite.cli.records import head, kind_and_status
from claude_mem_lite.cli.times import ago
from claude_mem_lite.errors import joined
from claude_mem_lite.install.targets import settings_path
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.memories import StaleMemory, StaleResponse
from claude_mem_lite.text import counted

_SECTIONS = {
    "changed": "May be stale, because their code has changed:",
    "gone": "Their code is gone:",
    "retired": "Retired, and active again as soon as their code or branch is back:",
}
WHAT_TO_DO = "`claude-mem-lite show ID` shows one in full; `claude-mem-lite retire ID` stops giving it to sessions."


def print_stale(response: StaleResponse) -> None:
    """Print stale memories by verdict, with the reasons."""
    if response.excluded:
        click.echo("This folder is excluded by the configuration; its code is not looked at.")
        return
    now = datetime.now(UTC)
    for verdict, title in _SECTIONS.items():
        memories = [memory for memory in response.memories if memory.verdict == verdict]
        if memories:
            click.echo(title)
            _print_memories(memories, now)
    click.echo(WHAT_TO_DO if response.memories else _all_fresh(response.checked))
    if response.unchecked:
        click.echo(
            f"{counted(response.unchecked, 'memory', 'memories')} could not be checked in time; "
            "run it again for the rest."
        )


def _print_memories(memories: Sequence[StaleMemory], now: datetime) -> None:
    for memory in memories:
        tail = f"[{kind_and_status(memory)}, {ago(memory.created_at, now)}]"
        click.echo(f"  {head(memory)}  {dim(tail)}")
        for reason in memory.reasons:
            click.echo(dim(f"      {plain(reason)}"))


def _all_fresh(checked: int) -> str:
    if not checked:
        return "No memory of this project is tied to code that could have changed."
    return f"All is fresh: {counted(checked, 'memory matches', 'memories match')} the code."


if TYPE_CHECKING:
    from claude_mem_lite.install.doctor.check import Check
    from claude_mem_lite.install.doctor.fixes import FixResult


@click.command(short_help="Check everything and say what to do.")
@click.option("--fix", is_flag=True, help="First repair what is safe to repair, and print the repairs.")
@click.option("--dry-run", is_flag=True, help="With --fix: only say what would be done.")
@click.option("--online", is_flag=True, help="Also ask the configured model for one word, which may cost a little.")
@click.option("--stale", is_flag=True, help="Instead, list memories of this project that the code has left behind.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, fix: bool, dry_run: bool, online: bool, stale: bool, as_json: bool) -> None:
    """Check everything and say what to do.

    Checks the interpreters, the data folder and its permissions, the hooks in the settings of each agent, the plugin,
    the MCP server and the skill, the guards, the worker, the queue, the model and its cost today, search, the
    databases, their backups, the disk, the clock, the configuration and other memory tools. Changes nothing, but
    starts the worker if the data folder exists. Exits 1 when a check fails.

    With --fix, repairs our own parts where that is safe: permissions, links, the hook program, our hooks of another
    version, a stopped or old worker, a damaged word index. Deletes nothing, and changes nothing of other programs.

    With --stale, checks the memories instead: lists the memories of the current folder's project whose code has changed
    or is gone, and the memories retired because their code or branch is gone.

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
    repaired = []
    for done in _repair(home, settings, dry_run=dry_run) if fix else ():
        repaired.append(done)
        if not as_json:
            _print_done(done, dry_run=dry_run)
    if dry_run:
        if as_json:
            print_json({"would_fix": [done_json(done) for done in repaired]})
        elif not repaired:
            click.echo("Nothing can be repaired safely.")
        return
    checks = []
    for check in run_checks(home, settings, online=online):
        checks.append(check)
        if not as_json:
            _print_check(check)
    if as_json:
        found = [check_json(check) for check in checks]
        print_json({"fixed": [done_json(done) for done in repaired], "checks": found} if fix else found)
    has_failed = any(check.state == "fail" for check in checks)
    if fix and not repaired and not as_json:
        click.echo("None of this can be repaired safely." if has_failed else "Nothing needs repair.")
    if has_failed:
        ctx.exit(1)


def _repair(home: Home, settings: Path, *, dry_run: bool) -> "Iterator[FixResult]":
    from claude_mem_lite.install.doctor.fixes import FixResult, apply, find_fixes

    for fix in find_fixes(home, settings, os.environ):
        yield FixResult(fix.name, fix.what) if dry_run else apply(fix)


def _print_done(done: "FixResult", *, dry_run: bool) -> None:
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
    response = connect_to_read({"memories": []}, as_json=as_json).stale(folder())
    if as_json:
        print_json(response.raw)
    else:
        print_stale(response)
