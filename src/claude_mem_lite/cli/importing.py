"""The `import` group: memories of work that was done before hooks were there to see it."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click

from claude_mem_lite.cli.groups import HelpfulGroup, show_help
from claude_mem_lite.cli.options import connect, json_option
from claude_mem_lite.cli.output import plain, print_json
from claude_mem_lite.client import Client
from claude_mem_lite.errors import WorkerUnavailable
from claude_mem_lite.importers.lines import Problem
from claude_mem_lite.importers.transcripts import (
    SUFFIXES,
    Reading,
    Transcript,
    find_transcripts,
    own_folders,
    read_transcript,
)
from claude_mem_lite.importers.turns import PastTurn
from claude_mem_lite.models import JsonObject

# A request is worked on in one go, and a hook that wants an answer waits meanwhile.
BATCH_BYTES = 2 * 1024 * 1024
MOST_PROBLEMS_SHOWN = 20
Advance = Callable[[int], None]
Result = TypeVar("Result")

import_ = HelpfulGroup(
    name="import",
    callback=show_help,
    invoke_without_command=True,
    short_help="Bring in what was done before.",
    help="""Bring in what was done before.

    \b
    Example:
      claude-mem-lite import transcripts
    """,
)


@dataclass(slots=True)
class Report:
    """What an import came to."""

    sessions: set[str] = field(default_factory=set)
    """Those that turns were stored of."""
    turns: int = 0
    memories: int = 0
    known: int = 0
    excluded: int = 0
    still_open: int = 0
    waiting: int = 0
    """Turns that are in the inbox, but could not be worked on."""
    problems: list[Problem] = field(default_factory=list)

    def as_json(self) -> JsonObject:
        return {
            "sessions": len(self.sessions),
            "turns": self.turns,
            "memories": self.memories,
            "known": self.known,
            "excluded": self.excluded,
            "still_open": self.still_open,
            "waiting": self.waiting,
            "unreadable": [{"file": str(one.path), "line": one.line, "reason": one.reason} for one in self.problems],
        }


def _is_transcript(_: click.Context, __: click.Parameter, given: tuple[Path, ...]) -> tuple[Path, ...]:
    for path in given:
        if not path.is_dir() and not path.name.endswith(SUFFIXES):
            raise click.BadParameter(f"{path} is no transcript: those end in {' or '.join(SUFFIXES)}")
    return given


@import_.command(short_help="Import Claude Code's own transcripts.")
@click.argument(
    "paths", metavar="[PATH...]", nargs=-1, type=click.Path(exists=True, path_type=Path), callback=_is_transcript
)
@json_option
def transcripts(paths: Sequence[Path], as_json: bool) -> None:
    """Import Claude Code's own transcripts.

    Reads the sessions that Claude Code has kept on this machine and remembers them as if hooks had seen them:
    without secrets, without private spans, and by rules, never by a model. A PATH is a transcript (.jsonl, or
    .jsonl.gz) or a folder of them; the client's own folder if not given ($CLAUDE_CONFIG_DIR/projects or
    ~/.claude/projects). Nothing in those folders is changed, and folders you have excluded are left out.

    May be stopped and run again at any time: what is there already is not read in twice, and a turn that still
    goes on is left for the next time.

    \b
    Examples:
      claude-mem-lite import transcripts
      claude-mem-lite import transcripts ~/backup/claude/projects
      claude-mem-lite import transcripts session.jsonl --json
    """
    looked_in = list(paths) or own_folders(os.environ)
    found = find_transcripts(looked_in)
    report = Report()
    try:
        if found:
            with _progress(found) as advance:
                Importing(connect(), report, advance).run(found)
    except KeyboardInterrupt:
        _tell(report, as_json)
        click.echo("Stopped. What is imported is kept; run it again to go on.", err=True)
        raise
    if not found and not as_json:
        click.echo(f"There are no transcripts in {' or '.join(map(str, looked_in))}.")
    else:
        _tell(report, as_json)


class Importing:
    """One import under way: sends what the worker does not have, a session after the other."""

    def __init__(self, client: Client, report: Report, advance: Advance) -> None:
        self._client = client
        self._report = report
        self._advance = advance

    def run(self, found: Sequence[Transcript]) -> None:
        now = datetime.now(UTC)
        done_bytes = 0
        for transcript in found:
            reading = read_transcript(transcript, now)
            for batch in _batches(reading):
                self._send(batch)
                self._advance(done_bytes + reading.bytes_read)
            done_bytes += transcript.size_bytes
            self._advance(done_bytes)
            self._report.still_open += reading.still_open
            self._report.problems += reading.problems

    def _send(self, turns: Sequence[PastTurn]) -> None:
        known, excluded = self._asked(lambda client: client.known_turns([turn.mark() for turn in turns]))
        wanted = [turn for turn in turns if turn.name not in known | excluded]
        self._report.known += len(known)
        self._report.excluded += len(excluded - known)
        if wanted:
            stored, memories = self._asked(lambda client: client.import_turns([turn.as_json() for turn in wanted]))
            self._report.sessions |= {turn.session for turn in wanted}
            self._report.turns += stored
            self._report.memories += memories
            self._report.waiting += len(wanted) - stored

    def _asked(self, call: Callable[[Client], Result]) -> Result:
        """What the worker answers; one that died on the way is started once more, since twice is as good as once."""
        try:
            return call(self._client)
        except WorkerUnavailable:
            self._client = connect()
            return call(self._client)


def _batches(reading: Reading) -> Iterator[list[PastTurn]]:
    """Whole turns that fit one request."""
    batch: list[PastTurn] = []
    size = 0
    for turn in reading:
        batch.append(turn)
        size += len(json.dumps(turn.as_json()))
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@contextmanager
def _progress(found: Sequence[Transcript]) -> Iterator[Advance]:
    """A bar on a terminal, one line anywhere else; on stderr, so that stdout has the report alone."""
    total = sum(one.size_bytes for one in found)
    what = f"{_counted(len(found), 'transcript')}, {total / 1e6:.1f} MB"
    if not sys.stderr.isatty():
        click.echo(f"Reading {what}.", err=True)
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)


def _tell(report: Report, as_json: bool) -> None:
    if as_json:
        print_json(report.as_json())
        return
    for sentence in _sentences(report):
        click.echo(sentence)
    shown = report.problems[:MOST_PROBLEMS_SHOWN]
    for one in shown:
        click.echo(f"  {plain(one.path)}:{one.line}: {plain(one.reason)}")
    if len(report.problems) > len(shown):
        click.echo(f"  and {len(report.problems) - len(shown)} more (--json names them all)")


def _sentences(report: Report) -> Iterator[str]:
    new = f"{_counted(report.turns, 'turn')} of {_counted(len(report.sessions), 'session')}"
    made = _counted(report.memories, "new memory", "new memories")
    yield f"Imported {new}: {made}." if report.turns else "There was nothing new to import."
    if report.known:
        yield f"{_counted(report.known, 'turn was', 'turns were')} there already."
    if report.excluded:
        yield f"{_counted(report.excluded, 'turn was', 'turns were')} in excluded folders and left out."
    if report.still_open:
        yield f"{_counted(report.still_open, 'turn still goes', 'turns still go')} on; run it again later."
    if report.waiting:
        waits = _counted(report.waiting, "turn waits", "turns wait")
        yield f"{waits} to be worked on again; `claude-mem-lite queue --errors` tells more."
    if report.problems:
        yield f"{_counted(len(report.problems), 'line')} could not be read:"


def _counted(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
