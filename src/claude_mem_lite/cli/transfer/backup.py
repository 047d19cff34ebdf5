"""The commands `backup` and `restore`.

The commands only read backups. The worker makes them, and the next worker restores one by an order in the home."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from claude_mem_lite import __version__
from claude_mem_lite.cli import completion_values
from claude_mem_lite.cli.options import chosen_home, connect, json_option, yes_option
from claude_mem_lite.cli.output import Column, plain, print_json, print_table
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import ensure_worker, is_there, stop_worker, worker_interpreter
from claude_mem_lite.db import backup_files, change_counter, recovery_log
from claude_mem_lite.db.backup_files import Backup, Contents
from claude_mem_lite.db.file_swap import write_json
from claude_mem_lite.errors import MemoryLiteError, WorkerUnavailable
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.status import ShownRecovery
from claude_mem_lite.text import counted

RESTORE_WAIT_S = 600.0


@click.command(short_help="Make a backup now, or list the backups.")
@click.option("--list", "listed", is_flag=True, help="List the backups instead, the newest first.")
@json_option
def backup(listed: bool, as_json: bool) -> None:
    """Make a backup now, or list the backups.

    A backup is a whole copy of memory.db, in the folder `backups` of the data folder, made while the worker runs. The
    worker makes a backup every day, and before an upgrade changes the database; the newest 7 are kept.

    \b
    Examples:
      claude-mem-lite backup
      claude-mem-lite backup --list
      claude-mem-lite backup --list --json
    """
    if listed:
        _list(chosen_home(), as_json)
        return
    made = connect().backup()
    if as_json:
        print_json(made.raw)
        return
    click.echo(f"Backed up {_described(made.memories, made.sessions, made.bytes)}:")
    click.echo(plain(made.path))


@click.command(short_help="Go back to a backup.")
@click.argument("chosen", metavar="[BACKUP]", required=False, shell_complete=completion_values.backups)
@yes_option
@json_option
@click.pass_context
def restore(ctx: click.Context, chosen: str | None, yes: bool, as_json: bool) -> None:
    """Go back to a backup.

    BACKUP is a name of `backup --list`, or the path of a memory.db; without BACKUP, the newest good backup. The present
    database is kept, and the command to undo the restore is printed. Events after the backup are processed again from
    the inbox, which keeps events for 8 days. Forgotten memories stay forgotten. You rarely need this command: the
    worker recovers a damaged database by itself.

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
            raise click.UsageError("restoring needs --yes without a terminal to ask on", ctx)
        held = _described(contents.memories, contents.sessions, path.stat().st_size)
        click.confirm(f"Put {path.name} ({held}) in the place of what is there now?", abort=True, err=True)
    recovery = _carry_out(home, path)
    if recovery.failed:
        raise MemoryLiteError(plain(recovery.text).rstrip("."), "`claude-mem-lite backup --list` shows the others")
    if as_json:
        print_json({**recovery.raw, "backup": str(path), "memories": contents.memories, "sessions": contents.sessions})
        return
    click.echo(plain(recovery.text))
    if recovery.replayed:
        click.echo(f"{recovery_log.done_again(recovery.replayed)}; `claude-mem-lite status` shows how far.")
    click.echo(plain(recovery.undo))


def _carry_out(home: Home, backup: Path) -> ShownRecovery:
    """Write the order, replace the running worker, and return the recovery of the next worker."""
    home.make()
    # First the order: a hook may start the next worker as soon as this one ends.
    write_json(home.restore_order, {"backup": str(backup)})
    is_stopped = False
    try:
        stop_worker(Client(home))
        is_stopped = True
        if sys.stderr.isatty():
            click.echo("Restoring…", err=True)
        recoveries = ensure_worker(home, RESTORE_WAIT_S).recoveries()
        restores = [recovery for recovery in recoveries if recovery.id.startswith("restore-")]
        if home.restore_order.exists() or not restores:
            raise MemoryLiteError("the worker did not restore it", f"see the end of {home.worker_log}")
    except BaseException:  # Ctrl-C too
        _withdraw(home, is_stopped=is_stopped)
        raise
    return restores[-1]


def _withdraw(home: Home, *, is_stopped: bool) -> None:
    """Remove an order that failed, so that no later worker finds the order, and print the result."""
    is_untouched = home.restore_order.exists()
    home.restore_order.unlink(missing_ok=True)
    # A worker that is starting may have read the order before.
    if is_untouched and not (is_stopped and is_there(Client(home))):
        click.echo("Nothing was restored.", err=True)
    else:
        click.echo("`claude-mem-lite status` shows whether the backup was restored.", err=True)


def _find(home: Home, chosen: str | None) -> Path:
    """Return the path of a backup."""
    if chosen is None:
        newest = next(backup_files.restorable(home.backups, change_counter.of_file(home.memory_db)), None)
        if newest is None:
            raise MemoryLiteError(
                "there is no backup that can be restored", "`claude-mem-lite backup --list` shows all backups"
            )
        return newest.path
    named = home.backups / chosen
    return named if os.sep not in chosen and named.is_file() else Path(chosen).absolute()


def _refuse_another_version(home: Home) -> None:
    """Refuse to restore by a worker of another version with other rules."""
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
    """Return the contents of a backup, or why the backup cannot be used."""
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


def _described(memories: int, sessions: int, size: int) -> str:
    return f"{counted(memories, 'memory', 'memories')} and {counted(sessions, 'session')}, {_size(size)}"


def _size(number: int) -> str:
    return f"{number / 2**20:,.1f} MiB" if number >= 2**20 else f"{number // 1024:,} KiB"
