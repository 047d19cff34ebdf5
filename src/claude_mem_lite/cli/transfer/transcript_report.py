"""Report of an import of transcripts: counts, files that gave nothing new with their reasons, and problems."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from claude_mem_lite.cli.output import plain, print_json, print_some
from claude_mem_lite.importers import opencode_session
from claude_mem_lite.importers.discovery import UnusedFile
from claude_mem_lite.importers.jsonl_reader import TranscriptProblem
from claude_mem_lite.install.targets import AGENT_TEXTS
from claude_mem_lite.models import JsonObject
from claude_mem_lite.text import counted

LABELS = {**{agent: texts.name for agent, texts in AGENT_TEXTS.items()}, opencode_session.AGENT: "OpenCode"}


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
    files: Counter[str] = field(default_factory=Counter)
    """Number of files that were read, by agent."""
    unused: list[UnusedFile] = field(default_factory=list)

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
            "files": dict(sorted(self.files.items())),
            "unused": [{"file": str(one.path), "agent": one.agent, "reason": one.reason} for one in self.unused],
            "unreadable": [{"file": str(one.path), "line": one.line, "reason": one.reason} for one in self.problems],
        }


def print_report(report: TranscriptReport, as_json: bool, *, verbose: bool, stopped: bool = False) -> None:
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
    if report.files:
        click.echo(f"Read {_files_by_agent(report.files)}.")
    _print_unused(report, verbose=verbose)


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


def _print_unused(report: TranscriptReport, *, verbose: bool) -> None:
    if not report.unused:
        return
    reasons = Counter(one.reason for one in report.unused)
    summary = ", ".join(f"{number:,} {reason}" for reason, number in sorted(reasons.items()))
    hint = "" if verbose else " (`claude-mem-lite import transcripts --verbose` lists them)"
    click.echo(f"{counted(len(report.unused), 'file')} gave nothing new: {summary}{hint}.")
    for one in report.unused if verbose else ():
        click.echo(f"  {plain(one.path)}: {one.reason}")


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


def _files_by_agent(files: Mapping[str, int]) -> str:
    if len(files) == 1:
        ((agent, number),) = files.items()
        return f"{counted(number, 'file')} of {LABELS[agent]}"
    by_agent = ", ".join(f"{number:,} of {LABELS[agent]}" for agent, number in sorted(files.items()))
    return f"{counted(sum(files.values()), 'file')}: {by_agent}"
