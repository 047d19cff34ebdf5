"""Command group `worker`, also the command `claude-mem-worker`: start, stop, status, run, drain."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from claude_mem_lite.cli.groups import HelpfulGroup, show_help
from claude_mem_lite.cli.options import chosen_home, connect, json_option
from claude_mem_lite.cli.output import print_json
from claude_mem_lite.client.base import MAX_WORKERS
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import is_answering, stop_worker
from claude_mem_lite.errors import MemoryLiteError, WorkerEnded, WorkerRefused, WorkerUnavailable
from claude_mem_lite.responses.status import Drained, Health
from claude_mem_lite.text import counted

DRAIN_TIMEOUT_S = 60.0
# Rules need less time. After a longer wait the user wants to know the reason.
MOMENT_S = 1.0

worker = HelpfulGroup(
    name="worker",
    callback=show_help,
    invoke_without_command=True,
    short_help="Start, stop and look at the background worker.",
    help="""Start, stop and look at the background worker.

    Hooks and commands start it when they need it, and it ends by itself after half an hour without work, so
    there is rarely a need to call this. `claude-mem-worker` is the same group under its own name.

    \b
    Examples:
      claude-mem-lite worker status
      claude-mem-lite worker stop
      claude-mem-lite worker drain --timeout 120
    """,
)


@worker.command(short_help="Start the worker in the background.")
def start() -> None:
    """Start the worker in the background.

    Does nothing if a worker runs already: a data folder has one worker.

    \b
    Example:
      claude-mem-lite worker start
    """
    was_up = is_answering(Client(chosen_home()))
    pid = connect().health().pid
    click.echo(f"The worker runs already, process {pid}." if was_up else f"Started the worker, process {pid}.")


@worker.command(short_help="Stop the worker and wait for its end.")
def stop() -> None:
    """Stop the worker and wait for its end.

    The worker finishes or gives back its work; nothing is lost. The next hook or command starts it again; use
    `claude-mem-lite off` to turn memory off.

    \b
    Example:
      claude-mem-lite worker stop
    """
    click.echo("Stopped the worker." if stop_worker(Client(chosen_home())) else "No worker was running.")


@worker.command(short_help="Say whether the worker runs.")
@json_option
def status(as_json: bool) -> None:
    """Say whether the worker runs.

    Starts nothing, unlike `claude-mem-lite status`.

    \b
    Examples:
      claude-mem-lite worker status
      claude-mem-lite worker status --json
    """
    home = chosen_home()
    health: Health | None = None
    with suppress(WorkerUnavailable):
        health = Client(home).health()
    if as_json:
        state = {"running": True, **health.raw} if health else {"running": False, "pid": None}
        print_json({**state, "home": str(home.root), "socket": str(home.socket)})
    elif health:
        click.echo(f"The worker runs, process {health.pid}, {health.queue_depth} events waiting.")
    else:
        click.echo("No worker runs. The next hook or command starts one.")


@worker.command(short_help="Run the worker in the foreground.")
def run() -> None:
    """Run the worker in the foreground.

    For service managers, and for watching the worker; Ctrl-C ends it.

    \b
    Example:
      claude-mem-lite worker run
    """
    from claude_mem_lite.worker.process import run as run_worker

    home = chosen_home()
    if is_answering(Client(home)):
        raise MemoryLiteError("a worker runs already", "run `claude-mem-lite worker stop` first")
    click.echo(f"The worker runs. Ctrl-C ends it; its log is {home.worker_log}.")
    run_worker(home)


@worker.command(short_help="Wait until all captured events are processed.")
@click.option(
    "--timeout",
    "timeout_s",
    metavar="S",
    type=click.FloatRange(0, 86400),
    default=DRAIN_TIMEOUT_S,
    help=f"Give up after that many seconds; {DRAIN_TIMEOUT_S:g} if not given.",
)
@json_option
@click.pass_context
def drain(ctx: click.Context, timeout_s: float, as_json: bool) -> None:
    """Wait until all captured events are processed.

    Open turns are processed as they are, and the answers of a model are awaited. Exits 1 when something is left after
    the timeout.

    \b
    Examples:
      claude-mem-lite worker drain
      claude-mem-lite worker drain --timeout 300 --json
    """
    outcome = _drain(timeout_s)
    left = outcome.raw + outcome.processing
    if as_json:
        print_json(
            {
                "drained": outcome.drained,
                "left": left,
                "done": outcome.done,
                "error": outcome.error,
                "skipped": outcome.skipped,
            }
        )
    elif outcome.drained:
        failed = f", {outcome.error} failed (`claude-mem-lite queue --errors`)" if outcome.error else ""
        click.echo(f"Everything is processed{failed}.")
    if not outcome.drained:
        rest = f"{left} events are left" if left else "the model has not answered everything"
        click.echo(f"{ctx.command_path}: {rest} after {timeout_s:g} s; run it again", err=True)
        ctx.exit(1)


def _drain(timeout_s: float) -> Drained:
    """Wait for the worker; after a worker that ended because of a corrupt database, wait for the next, which repairs
    the database."""
    for _ in range(MAX_WORKERS):
        client = connect()
        began = time.monotonic()
        with _showing_what_is_awaited(client), suppress(WorkerEnded):
            return client.drain(timeout_s)
        timeout_s = max(timeout_s - (time.monotonic() - began), 0)
    raise WorkerUnavailable("one worker after another has ended", f"see the end of {chosen_home().worker_log}")


@contextmanager
def _showing_what_is_awaited(client: Client) -> Iterator[None]:
    """Print once, for a person at a terminal, the work that takes more than a moment."""
    timer = threading.Timer(MOMENT_S, _print_what_is_awaited, [client])
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _print_what_is_awaited(client: Client) -> None:
    with suppress(WorkerUnavailable, WorkerRefused):
        if line := awaited(client.health()):
            click.echo(line, err=True)


def awaited(health: Health) -> str:
    """Return a line about the waiting events and turns; '' when nothing waits."""
    turns = health.model_waiting
    events = health.queue_depth - turns
    rest = [counted(events, "event")] if events > 0 else []
    rest += [f"the model: {counted(turns, 'turn')}"] if turns else []
    return f"Waiting for {' and '.join(rest)}…" if rest else ""
