"""Commands about how things stand: status, queue, on, off."""

import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

import click

from claude_mem_lite import pauses
from claude_mem_lite.cli.options import chosen_home, connect_to_look, json_option
from claude_mem_lite.cli.output import Column, field, print_json, print_table
from claude_mem_lite.cli.times import ago
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.responses import QueueCounts, whole
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home
from claude_mem_lite.text import counted


@click.command(short_help="Show how things stand, in one look.")
@json_option
def status(as_json: bool) -> None:
    """Show how things stand, in one look.

    The worker, the queue, what is stored, and when context was last given. Starts the
    worker when none runs, but makes nothing where nothing is stored yet.

    \b
    Examples:
      claude-mem-lite status
      claude-mem-lite status --json
    """
    home = chosen_home()
    client = connect_to_look(_nothing(home), as_json=as_json)
    told = client.health().told
    counts = client.queue_counts()
    if as_json:
        extra: JsonObject = {
            "capturing": not home.off_switch.exists() and not _lacks_program(home),
            "installed_in": _installed_in(home),
            "home": str(home.root),
            "queue": asdict(counts),
        }
        print_json({**told, **extra})
        return
    for name, value in _lines(home, told, counts.error):
        click.echo(f"{name + ':':<12}{value}")


@click.command(short_help="Show what waits to be processed, and what failed.")
@click.option("--errors", is_flag=True, help="List the events and turns that failed, with the reason.")
@click.option("--retry", metavar="ID|all", help="Process one of them again, or all.")
@json_option
def queue(errors: bool, retry: str | None, as_json: bool) -> None:
    """Show what waits to be processed, and what failed.

    Without options the number of events by status; done ones are kept for some days, and spooled ones are those that
    nobody has taken in yet. --errors also lists, as
    event `model`, the turns that rules told because the model did not. Only --retry changes anything.

    \b
    Examples:
      claude-mem-lite queue
      claude-mem-lite queue --errors
      claude-mem-lite queue --retry 412
      claude-mem-lite queue --retry all
    """
    event = _event(retry)
    nothing: JsonValue = [] if errors else {"events": 0, "turns": 0} if retry is not None else asdict(QueueCounts())
    client = connect_to_look(nothing, as_json=as_json)
    if retry is not None:
        events, turns = client.retry(event)
        if as_json:
            print_json({"events": events, "turns": turns})
        else:
            put_back = [counted(events, "event")] if events or not turns else []
            put_back += [counted(turns, "turn")] if turns else []
            click.echo(f"{' and '.join(put_back)} put back to work.")
    elif errors:
        _print_errors(client, as_json)
    else:
        counts = asdict(client.queue_counts())
        if as_json:
            print_json(counts)
            return
        for name, count in counts.items():
            click.echo(f"{name:<12}{count}")


@click.command(short_help="Capture and give context again.")
def on() -> None:
    """Capture and give context again.

    Undoes `off` by removing the file of that name from the data folder. Sessions that are open are captured again
    from their next event on.

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
        pauses.note_off(home, time.time_ns())
    switch.unlink(missing_ok=True)
    pauses.end_off(home, time.time_ns())
    click.echo("On: sessions are captured and given context." if was_off else "It was on already.")


@click.command(short_help="Stop capturing and giving context, everywhere.")
def off() -> None:
    """Stop capturing and giving context, everywhere.

    Hooks stay installed but keep nothing while the file `off` is in the data folder, and a later import leaves out
    what was done meanwhile. What is stored stays, and commands go on working. `claude-mem-lite on` undoes it.

    \b
    Examples:
      claude-mem-lite off
      claude-mem-lite off && claude; claude-mem-lite on  # one session that is not remembered
    """
    home = chosen_home()
    home.make()
    was_off = home.off_switch.exists()
    if not was_off:  # its time tells since when
        home.off_switch.touch(mode=0o600)
    pauses.note_off(home, time.time_ns())
    told = "It was off already" if was_off else "Off: nothing is captured and nothing is given"
    click.echo(f"{told}; `claude-mem-lite on` undoes it.")


def _lines(home: Home, told: JsonObject, errors: int) -> Sequence[tuple[str, str]]:
    now = datetime.now(UTC)
    places = _installed_in(home)
    failed = f", {errors} failed (`claude-mem-lite queue --errors`)" if errors else ""
    return [
        ("capture", _capture(home, told)),
        ("installed", ", ".join(places) if places else "no (run `claude-mem-lite install`)"),
        ("worker", f"running, process {field(told, 'pid')}, version {field(told, 'version')}{_trouble(told)}"),
        ("queue", f"{field(told, 'queue_depth')} waiting{failed}"),
        (
            "memories",
            f"{_counts(told)}{_waiting(told)}{_index(told)}",
        ),
        *_composer(told),
        ("sessions", field(told, "sessions")),
        ("model", _model(told)),
        ("context", f"last given {ago(told.get('last_context_at'), now)}"),
        *_backups(told, now),
        ("data", str(home.root)),
    ]


def _nothing(home: Home) -> JsonObject:
    """What is told where there is no data folder."""
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


def _capture(home: Home, told: JsonObject) -> str:
    if home.off_switch.exists():
        return "off (`claude-mem-lite on` undoes it)"
    if _lacks_program(home):
        return "nothing, because the program of the hooks is gone (`claude-mem-lite doctor` says what to do)"
    problem = field(told, "settings_problem")
    return f"waiting, the settings are wrong: {problem}" if problem else "on"


def _backups(told: JsonObject, now: datetime) -> Sequence[tuple[str, str]]:
    """When memory was last backed up, and what was recovered of late."""
    at, problem, recovered = told.get("last_backup_at"), field(told, "backup_problem"), field(told, "recovered")
    last = f"made {ago(at, now)}, {counted(whole(told, 'backups'), 'backup')} kept" if at else "none yet"
    lines = [("backup", f"{last}; {problem}" if problem else last)]
    return [*lines, ("recovered", f"{ago(told.get('recovered_at'), now)}: {recovered}")] if recovered else lines


def _counts(told: JsonObject) -> str:
    """How many memories there are, how many of them may be given when others may not, and the new ones."""
    every, active, new = (whole(told, name) for name in ("memories", "active", "observations_today"))
    return (
        f"{every}, {new} of them from today"
        if active == every
        else f"{every}, {active} of them active, {new} from today"
    )


def _waiting(told: JsonObject) -> str:
    waiting = whole(told, "quarantined")
    return f", {waiting} held back (`claude-mem-lite quarantine`)" if waiting else ""


def _composer(told: JsonObject) -> Sequence[tuple[str, str]]:
    """The offer to make memories of an older version anew, where there are any."""
    stale = whole(told, "stale_turns")
    turns = counted(stale, "turn has", "turns have")
    return (
        [("composer", f"{turns} memories of an older version (`claude-mem-lite rebuild --memories`)")] if stale else []
    )


def _index(told: JsonObject) -> str:
    waiting, problem = whole(told, "unindexed"), field(told, "index_problem")
    parts = [f"{counted(waiting, 'document')} still to be indexed"] if waiting else []
    parts += [f"{problem}, so search goes by words alone (`claude-mem-lite doctor` says what to do)"] if problem else []
    return "".join(f"; {part}" for part in parts)


def _model(told: JsonObject) -> str:
    """The model with what it took today, what is wrong with it, and the turns it did not tell."""
    name, spend = field(told, "model"), told.get("spend_today")
    calls = "" if name == "rules" else f", {counted(whole(told, 'calls_today'), 'call')}"
    parts = [f"{name}{calls}, {_dollars(spend if isinstance(spend, int | float) else 0)} today"]
    parts += [f"{counted(waiting, 'turn')} under way"] if (waiting := whole(told, "model_waiting")) else []
    parts += filter(None, (field(told, "model_problem"), field(told, "model_next_step")))
    failed = whole(told, "model_failed")
    parts += [f"{counted(failed, 'turn')} left to rules (`claude-mem-lite queue --errors`)"] if failed else []
    return "; ".join(parts)


def _dollars(amount: float) -> str:
    """Whole cents; less than one with all its digits, for many a call takes less."""
    return f"${amount:.6f}".rstrip("0") if 0.000_001 <= amount < 0.01 else f"${amount:.2f}"


def _trouble(told: JsonObject) -> str:
    if field(told, "status") == "ok" or field(told, "settings_problem"):  # which the first line tells
        return ""
    return f"; {field(told, 'status')}: {field(told, 'problem') or 'no reason given'}"


def _installed_in(home: Home) -> list[str]:
    """The settings in which hooks of ours stand now, whatever was written there once, and where the plugin is on."""
    from claude_mem_lite.install import plugin
    from claude_mem_lite.install.targets import settings_path

    usual = settings_path("user", None, os.environ)
    return [*_hooks_in(home), *(f"{usual.parent} as the plugin {name}" for name in plugin.enabled_in(usual))]


def _hooks_in(home: Home) -> list[str]:
    from claude_mem_lite.install import settings_files
    from claude_mem_lite.install.doctor import hook_checks
    from claude_mem_lite.install.targets import settings_path

    usual = settings_path("user", None, os.environ)
    known = dict.fromkeys([*(one.settings for one in hook_checks.installed(home)), settings_files.real_path(usual)])
    return [str(path) for path in known if hook_checks.mentions_us(path, home)]


def _lacks_program(home: Home) -> bool:
    """Return whether our hooks run without their program; hooks of the plugin make it anew."""
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
        print_json(events)
        return
    if not events:
        click.echo("Nothing is in error.")
        return
    now = datetime.now(UTC)
    print_table(
        [Column("id", "cyan"), Column("event"), Column("when", "dim"), Column("reason", wide=True)],
        [[field(e, "id"), field(e, "event"), ago(e.get("received_at"), now), field(e, "reason")] for e in events],
    )
