"""The commands `status`, `queue`, `on` and `off`."""

import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

import click

from claude_mem_lite import pauses
from claude_mem_lite.cli.options import chosen_home, connect_to_read, json_option
from claude_mem_lite.cli.output import Column, plain, print_json, print_table
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.status import Health, QueueCounts, Retried
from claude_mem_lite.text import counted


@click.command(short_help="Show the state of worker, queue and memory.")
@json_option
def status(as_json: bool) -> None:
    """Show the state of worker, queue and memory.

    Shows the worker, the queue, the number of stored memories, and the time of the last injection. Starts the worker if
    none runs, but creates no data folder.

    \b
    Examples:
      claude-mem-lite status
      claude-mem-lite status --json
    """
    home = chosen_home()
    client = connect_to_read(_nothing(home), as_json=as_json)
    health = client.health()
    counts = client.queue_counts()
    if as_json:
        extra: JsonObject = {
            "capturing": not home.off_switch.exists() and not _lacks_program(home),
            "installed_in": _installed_in(home),
            "home": str(home.root),
            "queue": asdict(counts),
        }
        print_json({**health.raw, **extra})
        return
    for name, value in _lines(home, health, counts.error):
        click.echo(f"{name + ':':<12}{value}")


@click.command(short_help="Show waiting and failed events.")
@click.option("--errors", is_flag=True, help="List the events and turns that failed, with the reason.")
@click.option("--retry", metavar="ID|all", help="Process one of them again, or all.")
@json_option
def queue(errors: bool, retry: str | None, as_json: bool) -> None:
    """Show waiting and failed events.

    Without options, prints the number of events by status. Done events are kept for some days; spooled events are not
    yet in the queue. --errors also lists, as event `model`, turns that rules summarized because the model failed. Only
    --retry changes anything.

    \b
    Examples:
      claude-mem-lite queue
      claude-mem-lite queue --errors
      claude-mem-lite queue --retry 412
      claude-mem-lite queue --retry all
    """
    event = _event(retry)
    nothing: JsonValue = [] if errors else asdict(Retried()) if retry is not None else asdict(QueueCounts())
    client = connect_to_read(nothing, as_json=as_json)
    if retry is not None:
        retried = client.retry(event)
        if as_json:
            print_json(asdict(retried))
        else:
            click.echo(retried.sentence())
    elif errors:
        _print_errors(client, as_json)
    else:
        counts = asdict(client.queue_counts())
        if as_json:
            print_json(counts)
            return
        for name, count in counts.items():
            click.echo(f"{name:<12}{count}")


@click.command(short_help="Turn capture and context on again.")
def on() -> None:
    """Turn capture and context on again.

    Undoes `off` by removing the file `off` from the data folder. Open sessions are captured again from their next event
    on.

    \b
    Examples:
      claude-mem-lite on
      claude-mem-lite on && claude-mem-lite status
    """
    home = chosen_home()
    home.refuse_foreign()
    switch = home.off_switch
    was_off = switch.exists()
    if was_off:
        _note_pause(home)
    switch.unlink(missing_ok=True)
    try:
        pauses.end_off(home, time.time_ns())
    except OSError as error:
        raise MemoryLiteError(
            f"memory is on, but the end of the pause cannot be noted in {home.pauses} ({error.strerror})",
            "fix that and run this again, else a later import leaves out what you do from now on",
        ) from error
    click.echo("On: sessions are captured and given context." if was_off else "It was on already.")


@click.command(short_help="Turn capture and context off, everywhere.")
def off() -> None:
    """Turn capture and context off, everywhere.

    Hooks stay installed but store nothing while the file `off` is in the data folder, and a later import leaves out the
    work of that time. Stored memories stay, and commands go on working. `claude-mem-lite on` undoes it.

    \b
    Examples:
      claude-mem-lite off
      claude-mem-lite off && claude; claude-mem-lite on  # one session that is not remembered
    """
    home = chosen_home()
    home.make()
    was_off = home.off_switch.exists()
    if not was_off:  # the time of the file is the beginning of the pause
        home.off_switch.touch(mode=0o600)
    try:
        pauses.note_off(home, time.time_ns())
    except OSError as error:  # a full disk, most likely: the switch needs no room, the note does
        raise MemoryLiteError(
            f"memory is off, but the time of that cannot be noted in {home.pauses} ({error.strerror})",
            "fix that and run this again, else a later import may take in what you do meanwhile",
        ) from error
    state = "It was off already" if was_off else "Off: nothing is captured and nothing is given"
    click.echo(f"{state}; `claude-mem-lite on` undoes it.")


def _note_pause(home: Home) -> None:
    """Note the pause that ends; memory stays off if that fails, or an import would take in the work of the pause."""
    try:
        pauses.note_off(home, time.time_ns())
    except OSError as error:  # a full disk, most likely
        raise MemoryLiteError(
            f"memory stays off, because the pause cannot be noted in {home.pauses} ({error.strerror})",
            "fix that and run `claude-mem-lite on` again",
        ) from error


def _lines(home: Home, health: Health, errors: int) -> Sequence[tuple[str, str]]:
    now = datetime.now(UTC)
    places = _installed_in(home)
    failed = f", {errors} failed (`claude-mem-lite queue --errors`)" if errors else ""
    return [
        ("capture", _capture(home, health)),
        ("installed", ", ".join(places) if places else "no (run `claude-mem-lite install`)"),
        ("worker", f"running, process {health.pid}, version {plain(health.version)}{_trouble(health)}"),
        ("queue", f"{health.queue_depth} waiting{failed}"),
        ("memories", f"{_counts(health)}{_waiting(health)}{_index(health)}"),
        *_composer(health),
        ("sessions", str(health.sessions)),
        ("model", _model(health)),
        *_experiment(health),
        ("context", f"last given {ago(health.last_context_at, now)}" if health.last_context_at else "none given yet"),
        *_backups(health, now),
        ("data", str(home.root)),
    ]


def _experiment(health: Health) -> Sequence[tuple[str, str]]:
    share = f"about {health.experiment:.0%} of new sessions get no memories (`claude-mem-lite experiment`)"
    return [("experiment", share)] if health.experiment else []


def _nothing(home: Home) -> JsonObject:
    """Return the output where there is no data folder."""
    return {
        "status": "nothing stored",
        "problem": "nothing is stored here yet; run `claude-mem-lite install`",
        "capturing": True,
        "installed_in": [],
        "home": str(home.root),
        "memories": 0,
        "sessions": 0,
        "queue_depth": 0,
        "queue": asdict(QueueCounts()),
    }


def _capture(home: Home, health: Health) -> str:
    if home.off_switch.exists():
        return "off (`claude-mem-lite on` undoes it)"
    if _lacks_program(home):
        return "nothing, because the program of the hooks is gone (`claude-mem-lite doctor` says what to do)"
    problem = plain(health.settings_problem)
    return f"waiting, the settings are wrong: {problem}" if problem else "on"


def _backups(health: Health, now: datetime) -> Sequence[tuple[str, str]]:
    """Return the time of the last backup, and the last recovery."""
    at, problem, recovered = health.last_backup_at, plain(health.backup_problem), plain(health.recovered)
    last = f"made {ago(at, now)}, {counted(health.backups, 'backup')} kept" if at else "none yet"
    lines = [("backup", f"{last}; {problem}" if problem else last)]
    return [*lines, ("recovered", f"{ago(health.recovered_at, now)}: {recovered}")] if recovered else lines


def _counts(health: Health) -> str:
    """Return the number of all memories, of active ones if there are others, and of new ones."""
    every, active, new = health.memories, health.active, health.observations_today
    return (
        f"{every}, {new} of them from today"
        if active == every
        else f"{every}, {active} of them active, {new} from today"
    )


def _waiting(health: Health) -> str:
    return f", {health.quarantined} held back (`claude-mem-lite quarantine`)" if health.quarantined else ""


def _composer(health: Health) -> Sequence[tuple[str, str]]:
    """Return the offer to rebuild memories of an older version, if there are any."""
    stale = health.stale_turns
    turns = counted(stale, "turn has", "turns have")
    return (
        [("composer", f"{turns} memories of an older version (`claude-mem-lite rebuild --memories`)")] if stale else []
    )


def _index(health: Health) -> str:
    waiting, problem = health.unindexed, plain(health.index_problem)
    parts = [f"{counted(waiting, 'document')} still to be indexed"] if waiting else []
    parts += [f"{problem}, so search goes by words alone (`claude-mem-lite doctor` says what to do)"] if problem else []
    return "".join(f"; {part}" for part in parts)


def _model(health: Health) -> str:
    """Return the model, its use today, its problem, and the turns for which the model failed."""
    calls = "" if health.model == "rules" else f", {counted(health.calls_today, 'call')}"
    parts = [f"{plain(health.model)}{calls}, {_dollars(health.spend_today)} today"]
    parts += [f"{counted(health.model_waiting, 'turn')} under way"] if health.model_waiting else []
    parts += filter(None, (plain(health.model_problem), plain(health.model_next_step)))
    failed = health.model_failed
    parts += [f"{counted(failed, 'turn')} left to rules (`claude-mem-lite queue --errors`)"] if failed else []
    return "; ".join(parts)


def _dollars(amount: float) -> str:
    """Return an amount in whole cents; an amount below a cent with all digits, because many calls cost less."""
    return f"${amount:.6f}".rstrip("0") if 0.000_001 <= amount < 0.01 else f"${amount:.2f}"


def _trouble(health: Health) -> str:
    if health.status == "ok" or health.settings_problem:  # the first line shows a problem of the settings
        return ""
    return f"; {plain(health.status)}: {plain(health.problem) or 'no reason given'}"


def _installed_in(home: Home) -> list[str]:
    """Return the settings files that have our hooks now, and those in which the plugin is on."""
    from claude_mem_lite.install import plugin
    from claude_mem_lite.install.targets import settings_path

    usual = settings_path("user", None, os.environ)
    return [*_hooks_in(home), *(f"{usual.parent} as the plugin {name}" for name in plugin.enabled_in(usual))]


def _hooks_in(home: Home) -> list[str]:
    from claude_mem_lite.install import settings_files
    from claude_mem_lite.install.doctor import hook_checks
    from claude_mem_lite.install.targets import settings_path

    usual = settings_path("user", None, os.environ)
    known = dict.fromkeys([*(each.settings for each in hook_checks.installed(home)), settings_files.real_path(usual)])
    return [str(path) for path in known if hook_checks.mentions_us(path, home)]


def _lacks_program(home: Home) -> bool:
    """Return True if our hooks run without their program; hooks of the plugin restore the program."""
    return not home.can_run_hooks() and bool(_hooks_in(home))


def _event(retry: str | None) -> int | None:
    if retry is None or retry.lower() == "all":
        return None
    if not retry.isdigit():
        raise click.UsageError(f"--retry takes the number of an event, or all, not {retry!r}")
    return int(retry)


def _print_errors(client: Client, as_json: bool) -> None:
    events = client.failed_events()
    if as_json:
        print_json([event.raw for event in events])
        return
    if not events:
        click.echo("Nothing is in error.")
        return
    now = datetime.now(UTC)
    print_table(
        [Column("id", "cyan"), Column("event"), Column("when", "dim"), Column("reason", wide=True)],
        [[str(event.id), event.event, ago(event.received_at, now), event.reason] for event in events],
    )
