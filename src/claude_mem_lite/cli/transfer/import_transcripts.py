"""The `import` commands, and `import transcripts`: memories of work from before hooks were installed."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click

from claude_mem_lite.cli.groups import HelpfulGroup, show_help
from claude_mem_lite.cli.options import (
    also_paused_option,
    connect,
    folders_option,
    json_option,
    require_named,
    require_there,
)
from claude_mem_lite.cli.output import Advance, plain, print_json, print_some, progress
from claude_mem_lite.cli.transfer.import_claude_mem import claude_mem
from claude_mem_lite.cli.transfer.import_jsonl import jsonl
from claude_mem_lite.cli.transfer.send_with_retry import Sending
from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.importers.jsonl_reader import TranscriptProblem
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.transcripts import (
    SUFFIXES,
    FolderMap,
    Transcript,
    find_transcripts,
    own_folders,
    read_transcript,
)
from claude_mem_lite.models import JsonObject
from claude_mem_lite.text import counted

# The worker carries out a request in one go, and hooks wait meanwhile.
BATCH_BYTES = 2 * 1024 * 1024


class ImportGroup(HelpfulGroup):
    """Group that recognises a file in the place of a command."""

    def _nearest(self, ctx: click.Context, name: str) -> str:
        named = shlex.quote(name)
        if os.path.isdir(name):
            return f", did you mean import transcripts {named}?"
        if name.endswith(".db"):
            return f", did you mean import claude-mem {named}?"
        if os.path.exists(name) or name.endswith(SUFFIXES):
            return f", did you mean import jsonl {named} (memories) or import transcripts {named} (sessions)?"
        return super()._nearest(ctx, name)


import_ = ImportGroup(
    name="import",
    callback=show_help,
    invoke_without_command=True,
    short_help="Import earlier sessions and memories.",
    help="""Import earlier sessions and memories.

    Adds to what is remembered and changes nothing of it. What is known already is not taken in twice, and what
    was forgotten stays forgotten.

    \b
    Examples:
      claude-mem-lite import transcripts
      claude-mem-lite import jsonl memories.jsonl
      claude-mem-lite import claude-mem --dry-run
    """,
)
import_.add_command(jsonl)
import_.add_command(claude_mem)


@dataclass(slots=True)
class TranscriptReport:
    """Result of an import."""

    sessions: set[str] = field(default_factory=set)
    """Sessions of the stored turns."""
    turns: int = 0
    memories: int = 0
    ended: int = 0
    """Memories that the turns retired or replaced."""
    unsure_lessons: int = 0
    known: int = 0
    excluded: int = 0
    off: int = 0
    """Turns left out because memory was off at the time."""
    excluded_then: int = 0
    """Turns left out because their folder was excluded at the time."""
    paused_files: dict[Path, int] = field(default_factory=dict)
    """Transcripts of the turns during a pause, with the number of turns."""
    still_open: int = 0
    waiting: int = 0
    """Turns that are in the inbox, but failed."""
    problems: list[TranscriptProblem] = field(default_factory=list)

    @property
    def is_in_vain(self) -> bool:
        """Return True if there were problems, and no turns."""
        turns = self.turns + self.known + self.excluded + self.off + self.excluded_then
        turns += self.still_open + self.waiting
        return bool(self.problems) and not turns

    def as_json(self) -> JsonObject:
        return {
            "sessions": len(self.sessions),
            "turns": self.turns,
            "memories": self.memories,
            "ended": self.ended,
            "unsure_lessons": self.unsure_lessons,
            "known": self.known,
            "excluded": self.excluded,
            "off": self.off,
            "excluded_then": self.excluded_then,
            "paused": [{"file": str(path), "turns": turns} for path, turns in self.paused_files.items()],
            "still_open": self.still_open,
            "waiting": self.waiting,
            "unreadable": [{"file": str(one.path), "line": one.line, "reason": one.reason} for one in self.problems],
        }


def _is_transcript(_: click.Context, __: click.Parameter, given: tuple[Path, ...]) -> tuple[Path, ...]:
    for path in given:
        require_there(path)
        if not path.is_dir() and not path.name.endswith(SUFFIXES):
            raise click.BadParameter(f"{path} is no transcript: transcripts end in {' or '.join(SUFFIXES)}")
    return given


@import_.command(short_help="Import Claude Code's own transcripts.")
@click.argument(
    "paths",
    metavar="[PATH...]",
    nargs=-1,
    # What cannot be read is reported like any other, and does not keep the rest from being read.
    type=click.Path(readable=False, path_type=Path),
    callback=_is_transcript,
)
@folders_option("Import sessions of the folder NAME (its name or path) as if they had been in FOLDER; may be repeated.")
@also_paused_option
@json_option
def transcripts(paths: Sequence[Path], chosen: Mapping[str, str], also_paused: bool, as_json: bool) -> None:
    """Import Claude Code's own transcripts.

    Reads the sessions that Claude Code has stored on this machine and processes them as if hooks had reported them:
    without secrets, without private passages, and by rules, never by a model. A PATH is a transcript (.jsonl, or
    .jsonl.gz) or a folder of transcripts; without PATH, the client's own folder ($CLAUDE_CONFIG_DIR/projects or
    ~/.claude/projects). The transcripts do not change. Turns of excluded folders are left out. Turns from a time when
    memory was off, or their folder was excluded, are left out too, unless you name their files and give --also-paused.

    Sessions of another machine, or of a folder that you have moved, belong to a project of the old path unless
    --project names the new folder; turns excluded in either folder are left out. Sessions of an earlier import stay in
    their project; `projects move` moves them.

    You can stop the import and run it again at any time: known turns are not imported twice, and an open turn is left
    for the next run. Unreadable files are reported; exits 1 when nothing else was found.

    \b
    Examples:
      claude-mem-lite import transcripts
      claude-mem-lite import transcripts ~/backup/claude/projects
      claude-mem-lite import transcripts ~/laptop/projects --project shop=.
      claude-mem-lite import transcripts session.jsonl --json
      claude-mem-lite import transcripts session.jsonl --also-paused
    """
    require_named(also_paused, paths)
    report, folders = TranscriptReport(), FolderMap(chosen)
    found = find_transcripts(list(paths) or own_folders(os.environ), report.problems)
    try:
        if found:
            with _progress(found) as advance:
                TranscriptImport(connect(), report, folders, advance, also_paused=also_paused).run(found)
    except KeyboardInterrupt:
        _print(report, as_json, stopped=True)
        click.echo("Stopped. Imported memories are kept; run the import again to continue.", err=True)
        raise
    if not found and not report.problems and not as_json:
        click.echo(_where_nothing_is(paths))
    else:
        _print(report, as_json)
    if report.is_in_vain:
        raise MemoryLiteError("not one turn could be read")
    for name in sorted(folders.unused):
        click.echo(f"No session was in a folder called {plain(name)}.", err=True)
    if report.turns and not as_json:
        click.echo(
            "Next: `claude-mem-lite sessions --all-projects`, or `claude-mem-lite context` in a project's folder."
        )
        if report.unsure_lessons:
            said = counted(report.unsure_lessons, "sentence that may be a lesson", "sentences that may be lessons")
            click.echo(f"Also: `claude-mem-lite lessons --all-projects`, for {said}.")


def _where_nothing_is(paths: Sequence[Path]) -> str:
    if paths:
        named = " or ".join(plain(path) for path in paths)
        kinds = " or ".join(SUFFIXES)
        return f"There are no transcripts ({kinds}) in {named}. Without a PATH, Claude Code's own folder is read."
    (folder,) = own_folders(os.environ)
    return (
        f"There are no transcripts in {plain(folder)}. If Claude Code keeps them elsewhere, give that folder as PATH, "
        "or set CLAUDE_CONFIG_DIR as it is set for Claude Code."
    )


class TranscriptImport:
    """Import under way: sends unknown turns, one session after the other."""

    def __init__(
        self, client: Client, report: TranscriptReport, folders: FolderMap, advance: Advance, *, also_paused: bool
    ) -> None:
        self._sending = Sending(client)
        self._also_paused = also_paused
        self._report = report
        self._folders = folders
        self._advance = advance

    def run(self, found: Sequence[Transcript]) -> None:
        now = datetime.now(UTC)
        done_bytes = 0
        for transcript in found:
            reading = read_transcript(transcript, now)
            for batch in _batches(map(self._folders.relocate, reading)):
                self._send(batch, transcript.path)
                self._advance(done_bytes + reading.bytes_read)
            done_bytes += transcript.size_bytes
            self._advance(done_bytes)
            self._report.still_open += reading.still_open
            self._report.problems += reading.problems

    def _send(self, turns: Sequence[TranscriptTurn], path: Path) -> None:
        past = self._sending.ask(lambda client: client.known_turns([turn.mark() for turn in turns]))
        skipped = {*past.known, *past.excluded}
        paused = set() if self._also_paused else {*past.off, *past.excluded_then} - skipped
        wanted = [turn for turn in turns if turn.name not in skipped | paused]
        self._report.known += len(set(past.known))
        self._report.excluded += len({*past.excluded} - {*past.known})
        self._report.off += len(paused.intersection(past.off))
        self._report.excluded_then += len(paused.intersection(past.excluded_then))
        if paused:
            self._report.paused_files[path] = self._report.paused_files.get(path, 0) + len(paused)
        if wanted:
            done = self._sending.ask(lambda client: client.import_turns([turn.as_json() for turn in wanted]))
            self._report.sessions |= {turn.session for turn in wanted}
            self._report.turns += done.turns
            self._report.memories += done.memories
            self._report.ended += done.ended
            self._report.unsure_lessons = done.unsure_lessons
            self._report.waiting += len(wanted) - done.turns


def _batches(turns: Iterable[TranscriptTurn]) -> Iterator[list[TranscriptTurn]]:
    """Yield whole turns in batches for one request each."""
    batch: list[TranscriptTurn] = []
    size = 0
    for turn in turns:
        batch.append(turn)
        size += turn.text_length
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@contextmanager
def _progress(found: Sequence[Transcript]) -> Iterator[Advance]:
    """Show a bar on a terminal, else print one line."""
    total = sum(one.size_bytes for one in found)
    what = f"{counted(len(found), 'transcript')}, {total / 1e6:.1f} MB{_how_packed(found)}"
    if not sys.stderr.isatty():
        click.echo(f"Reading {what}.", err=True)
    with progress(what, total) as advance:
        yield advance


def _how_packed(found: Sequence[Transcript]) -> str:
    packed = {path.suffix == ".gz" for one in found for path in (one.path, *one.agents)}
    return "" if True not in packed else " (partly compressed)" if False in packed else " (compressed)"


def _print(report: TranscriptReport, as_json: bool, *, stopped: bool = False) -> None:
    if as_json:
        print_json(report.as_json())
        return
    if not report.is_in_vain:
        for sentence in _sentences(report, stopped):
            click.echo(sentence)
    _print_paused(report)
    lines = [one for one in report.problems if one.what == "line"]
    whole = [one for one in report.problems if one.what != "line"]
    if whole:
        kinds = [counted(number, kind) for kind in ("file", "folder") if (number := _number_of(kind, whole))]
        click.echo(f"{' and '.join(kinds)} could not be read in full:")
        print_some([f"{plain(one.path)}: {plain(one.reason)}" for one in whole])
    if lines:
        click.echo(f"{counted(len(lines), 'line')} could not be read:")
        print_some([f"{plain(one.path)}:{one.line}: {plain(one.reason)}" for one in lines])
        click.echo("Such lines are left out every time; the rest of their files is read.")


def _print_paused(report: TranscriptReport) -> None:
    if not report.paused_files:
        return
    if report.off:
        click.echo(f"{counted(report.off, 'turn was', 'turns were')} left out: memory was off at the time.")
    if report.excluded_then:
        turns_left_out = counted(report.excluded_then, "turn was", "turns were")
        click.echo(f"{turns_left_out} left out: the folder was excluded at the time.")
    print_some([f"{plain(path)}: {counted(turns, 'turn')}" for path, turns in report.paused_files.items()])
    click.echo("To import one of these all the same, name its file and give --also-paused.")


def _number_of(kind: str, problems: Sequence[TranscriptProblem]) -> int:
    return sum(one.what == kind for one in problems)


def _sentences(report: TranscriptReport, stopped: bool) -> Iterator[str]:
    new = f"{counted(report.turns, 'turn')} of {counted(len(report.sessions), 'session')}"
    made = counted(report.memories, "new memory", "new memories")
    if report.turns:
        yield f"Imported {new}: {made}."
    elif not stopped:
        yield "There was nothing new to import."
    if report.ended:
        ended = counted(report.ended, "memory was", "memories were")
        yield f"{ended} retired or replaced by what came later; `claude-mem-lite list --status any` shows all."
    if report.known:
        yield f"{counted(report.known, 'turn was', 'turns were')} there already."
    if report.excluded:
        yield f"{counted(report.excluded, 'turn was', 'turns were')} in excluded folders and left out."
    if report.still_open:
        yield f"{counted(report.still_open, 'turn still goes', 'turns still go')} on; run it again later."
    if report.waiting:
        waits = counted(report.waiting, "turn waits", "turns wait")
        yield f"{waits} to be worked on again; `claude-mem-lite queue --errors` shows the reasons."
