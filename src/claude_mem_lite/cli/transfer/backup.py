"""The `backup` and `restore` commands: copies of what is remembered, and the way back to one.

Backups are only looked into here. The worker makes them, and the next worker puts one in place by an order."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from claude_mem_lite import __version__
from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.options import chosen_home, connect, json_option, yes_option
from claude_mem_lite.cli.output import Column, field, print_json, print_table
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.responses import whole
from claude_mem_lite.client.worker_process import ensure_worker, is_there, stop_worker, worker_interpreter
from claude_mem_lite.db import backup_files, change_counter, recovery_log
from claude_mem_lite.db.backup_files import Backup, Contents
from claude_mem_lite.db.file_swap import write_json
from claude_mem_lite.errors import MemoryLiteError, WorkerUnavailable
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.text import counted

RESTORE_WAIT_S = 600.0


@click.command(short_help="Make a backup now, or list those there are.")
@click.option("--list", "listed", is_flag=True, help="List the backups instead, the newest first.")
@json_option
def backup(listed: bool, as_json: bool) -> None:
    """Make a backup now, or list those there are.

    A backup is a whole copy of memory.db, in the folder `backups` of the data folder, made while everything goes on.
    The worker makes one a day by itself, and one before an upgrade changes the database; the newest 7 are kept.

    \b
    Examples:
      claude-mem-lite backup
      claude-mem-lite backup --list
      claude-mem-lite backup --list --json
    """
    if listed:
        _list(chosen_home(), as_json)
        return
    told = connect().backup()
    if as_json:
        print_json(told)
        return
    click.echo(f"Backed up {_told(whole(told, 'memories'), whole(told, 'sessions'), whole(told, 'bytes'))}:")
    click.echo(field(told, "path"))


@click.command(short_help="Go back to a backup.")
@click.argument("chosen", metavar="[BACKUP]", required=False, shell_complete=completion_values.backups)
@yes_option
@json_option
@click.pass_context
def restore(ctx: click.Context, chosen: str | None, yes: bool, as_json: bool) -> None:
    """Go back to a backup.

    BACKUP is a name that `backup --list` shows, or the path of a memory.db; without one the newest good backup is
    taken. What is there now is kept aside, and the command to undo it is printed. What came after the backup is done
    again from the inbox, which keeps events for 8 days, and what you had forgotten stays forgotten. There is rarely a
    need for this: a damaged database is recovered by itself.

    \b
    Examples:
      claude-mem-lite restore
      claude-mem-lite restore --yes --json
      claude-mem-lite restore BACKUP
    """
    home = chosen_home()
    path = _find(home, chosen)
    contents = backup_files.check(path)
    _refuse_another_version(home)
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("restoring needs --yes when nobody can be asked", ctx)
        held = _told(contents.memories, contents.sessions, path.stat().st_size)
        click.confirm(f"Put {path.name} ({held}) in the place of what is there now?", abort=True, err=True)
    told = _carry_out(home, path)
    if told.get("failed") is True:
        raise MemoryLiteError(field(told, "text").rstrip("."), "`claude-mem-lite backup --list` shows the others")
    if as_json:
        print_json({**told, "backup": str(path), "memories": contents.memories, "sessions": contents.sessions})
        return
    click.echo(field(told, "text"))
    if again := whole(told, "replayed"):
        click.echo(f"{recovery_log.done_again(again)}; `claude-mem-lite status` shows how far.")
    click.echo(field(told, "undo"))


def _carry_out(home: Home, backup: Path) -> JsonObject:
    """Leave the order, have the worker that runs end and another one start, and hear what it did."""
    home.make()
    # First the order: a hook may start the next worker as soon as this one ends.
    write_json(home.restore_order, {"backup": str(backup)})
    is_stopped = False
    try:
        stop_worker(Client(home))
        is_stopped = True
        if sys.stderr.isatty():
            click.echo("Restoring…", err=True)
        known = ensure_worker(home, RESTORE_WAIT_S).recoveries()
        told = [one for one in known if field(one, "id").startswith("restore-")]
        if home.restore_order.exists() or not told:
            raise MemoryLiteError("the worker did not restore it", f"look at the end of {home.worker_log}")
    except BaseException:  # Ctrl-C too
        _withdraw(home, is_stopped=is_stopped)
        raise
    return told[-1]


def _withdraw(home: Home, *, is_stopped: bool) -> None:
    """Take back an order that failed, lest a worker finds it hours later, and say what came of it."""
    is_untouched = home.restore_order.exists()
    home.restore_order.unlink(missing_ok=True)
    # One that is starting may have read it before.
    if is_untouched and not (is_stopped and is_there(Client(home))):
        click.echo("Nothing was restored.", err=True)
    else:
        click.echo("`claude-mem-lite status` tells whether it was restored.", err=True)


def _find(home: Home, chosen: str | None) -> Path:
    """The file that is meant."""
    if chosen is None:
        newest = next(backup_files.restorable(home.backups, change_counter.of_file(home.memory_db)), None)
        if newest is None:
            raise MemoryLiteError(
                "there is no backup that can be restored", "`claude-mem-lite backup --list` shows what there is"
            )
        return newest.path
    named = home.backups / chosen
    return named if os.sep not in chosen and named.is_file() else Path(chosen).absolute()


def _refuse_another_version(home: Home) -> None:
    """A worker of another version would put the backup in place by its own rules."""
    step = "run `claude-mem-lite install` with the version that you want to use, then try again"
    try:
        running = Client(home).health().version
    except WorkerUnavailable:
        running = __version__
    if running != __version__:
        raise MemoryLiteError(f"a worker of version {running} uses this folder, and this is {__version__}", step)
    python = worker_interpreter(home)
    if python == sys.executable:
        return
    asked = "import claude_mem_lite; print(claude_mem_lite.__version__)"
    ran = subprocess.run([python, "-I", "-c", asked], capture_output=True, text=True, check=False)
    starts = ran.stdout.strip()
    if ran.returncode == 0 and starts != __version__:
        raise MemoryLiteError(f"hooks start a worker of version {starts} here, and this is {__version__}", step)


def _list(home: Home, as_json: bool) -> None:
    found = [(one, *_contents(one)) for one in backup_files.all_in(home.backups)]
    if as_json:
        print_json([_as_json(one, contents, problem) for one, contents, problem in found])
        return
    if not found:
        click.echo("There is no backup yet. The worker makes one when there is something to keep.")
        return
    now = datetime.now(UTC)
    print_table(
        [Column("backup", "cyan"), Column("made", "dim"), Column("size"), Column("holds", wide=True)],
        [
            [one.path.name, ago(one.made_at.isoformat(), now), _size(one.size), problem or _held(contents)]
            for one, contents, problem in found
        ],
    )


def _contents(one: Backup) -> tuple[Contents | None, str]:
    """What is in a backup, or why it cannot be used."""
    try:
        return backup_files.check(one.path), ""
    except MemoryLiteError as error:
        return None, error.message


def _as_json(one: Backup, contents: Contents | None, problem: str) -> JsonObject:
    return {
        "name": one.path.name,
        "path": str(one.path),
        "made_at": one.made_at.isoformat(),
        "bytes": one.size,
        "memories": contents.memories if contents else None,
        "sessions": contents.sessions if contents else None,
        "last_event_at": (contents.last_event_at or None) if contents else None,
        "problem": problem,
    }


def _held(contents: Contents | None) -> str:
    if contents is None:
        return ""
    older = "; of the version before an upgrade" if contents.steps_behind else ""
    return f"{counted(contents.memories, 'memory', 'memories')}, {counted(contents.sessions, 'session')}{older}"


def _told(memories: int, sessions: int, size: int) -> str:
    return f"{counted(memories, 'memory', 'memories')} and {counted(sessions, 'session')}, {_size(size)}"


def _size(number: int) -> str:
    return f"{number / 2**20:,.1f} MiB" if number >= 2**20 else f"{number // 1024:,} KiB"
