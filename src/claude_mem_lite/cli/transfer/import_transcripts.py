"""The `import` commands, and `import transcripts`: memories of work from before hooks were installed."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from claude_mem_lite.agents.agent_folders import VARIABLES
from claude_mem_lite.cli.groups import HelpfulGroup, show_help
from claude_mem_lite.cli.options import (
    OneOf,
    also_paused_option,
    folders_option,
    json_option,
    require_named,
    require_there,
)
from claude_mem_lite.cli.output import Advance, plain, progress
from claude_mem_lite.cli.transfer.import_claude_mem import claude_mem
from claude_mem_lite.cli.transfer.import_jsonl import jsonl
from claude_mem_lite.cli.transfer.transcript_import import TranscriptImport
from claude_mem_lite.cli.transfer.transcript_report import TranscriptReport, print_report
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.importers.discovery import (
    AGENTS,
    IMPORTABLE,
    Discovery,
    discover,
    folders_of,
    is_importable,
)
from claude_mem_lite.importers.transcripts import FolderMap, Transcript
from claude_mem_lite.text import counted


class ImportGroup(HelpfulGroup):
    """Group that recognises a file in the place of a command."""

    def _nearest(self, ctx: click.Context, name: str) -> str:
        named = shlex.quote(name)
        if os.path.isdir(name):
            return f", did you mean import transcripts {named}?"
        if name.endswith(".db"):
            return f", did you mean import claude-mem {named}?"
        if os.path.exists(name) or is_importable(name):
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


def _is_transcript(_: click.Context, __: click.Parameter, given: tuple[Path, ...]) -> tuple[Path, ...]:
    for path in given:
        require_there(path)
        if not path.is_dir() and not is_importable(path.name):
            raise click.BadParameter(f"{path} is no transcript: transcripts end in {', '.join(IMPORTABLE)}")
    return given


@import_.command(short_help="Import the agents' own transcripts.")
@click.argument(
    "paths",
    metavar="[PATH...]",
    nargs=-1,
    # What cannot be read is reported like any other, and does not keep the rest from being read.
    type=click.Path(readable=False, path_type=Path),
    callback=_is_transcript,
)
@folders_option("Import sessions of the folder NAME (its name or path) as if they had been in FOLDER; may be repeated.")
@click.option("--agent", "agents", type=OneOf(AGENTS), multiple=True, help="Only this agent's; may be repeated.")
@also_paused_option
@click.option("--verbose", is_flag=True, help="List every file that gave nothing new, with the reason.")
@json_option
def transcripts(
    paths: Sequence[Path],
    chosen: Mapping[str, str],
    agents: Sequence[str],
    also_paused: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Import the agents' own transcripts.

    Reads the sessions that Claude Code, Codex CLI, Copilot CLI, Gemini CLI and OpenCode have stored on this machine and
    processes them as if hooks had reported them: without secrets, without private passages, and by rules, never by a
    model. A PATH is a transcript (.jsonl, .jsonl.gz, .json, or opencode*.db) or a folder of transcripts; without
    PATH, the agents' own folders. A session that hooks have reported is not stored twice. Transcripts are not changed.
    For every file that gave nothing new the report has the reason. Turns of excluded folders are left out. Turns from a
    time when memory was off, or their folder was excluded, are left out too, unless you name their files and give
    --also-paused.

    Sessions of another machine, or of a folder that you have moved, belong to a project of the old path unless
    --project names the new folder; turns excluded in either folder are left out. Sessions of an earlier import stay in
    their project; `projects move` moves them.

    You can stop the import and run it again at any time: known turns are not imported twice, and an open turn is left
    for the next run. Unreadable files are reported; exits 1 when nothing else was found.

    \b
    Examples:
      claude-mem-lite import transcripts
      claude-mem-lite import transcripts --agent codex --verbose
      claude-mem-lite import transcripts ~/backup/claude/projects
      claude-mem-lite import transcripts ~/laptop/projects --project shop=.
      claude-mem-lite import transcripts session.jsonl --json
      claude-mem-lite import transcripts session.jsonl --also-paused
    """
    require_named(also_paused, paths)
    report, folders = TranscriptReport(), FolderMap(chosen)
    discovery = discover(paths, agents or AGENTS, os.environ, report.problems)
    if not discovery.transcripts and not discovery.unused and not report.problems and not as_json:
        click.echo(_where_nothing_is(paths, agents or AGENTS))
    else:
        import_sessions(discovery, report, folders, also_paused=also_paused, verbose=verbose, as_json=as_json)
    for name in sorted(folders.unused):
        click.echo(f"No session was in a folder called {plain(name)}.", err=True)


def import_sessions(
    discovery: Discovery,
    report: TranscriptReport,
    folders: FolderMap,
    *,
    also_paused: bool = False,
    verbose: bool = False,
    as_json: bool = False,
) -> None:
    """Import transcripts and print the report, with the next steps."""
    found = discovery.transcripts
    report.unused += discovery.unused
    try:
        if found:
            with _progress(found) as advance:
                TranscriptImport(report, folders, advance, also_paused=also_paused).run(found)
    except KeyboardInterrupt:
        print_report(report, as_json, verbose=verbose, stopped=True)
        click.echo("Stopped. Imported memories are kept; run the import again to continue.", err=True)
        raise
    print_report(report, as_json, verbose=verbose)
    if report.is_in_vain:
        raise MemoryLiteError(
            "not one turn could be read", "the reasons are above; correct them, or name other files or folders as PATH"
        )
    if report.turns and not as_json:
        click.echo(
            "Next: `claude-mem-lite sessions --all-projects`, or `claude-mem-lite context` in a project's folder."
        )
        if report.unsure_lessons:
            said = counted(report.unsure_lessons, "sentence that may be a lesson", "sentences that may be lessons")
            click.echo(f"Also: `claude-mem-lite lessons --all-projects`, for {said}.")


def _where_nothing_is(paths: Sequence[Path], agents: Sequence[str]) -> str:
    if paths:
        named = " or ".join(plain(path) for path in paths)
        kinds = ", ".join(IMPORTABLE)
        return f"There are no transcripts ({kinds}) in {named}. Without a PATH, the agents' own folders are read."
    folders = "".join(f"\n  {plain(folder)}" for agent in agents for folder in folders_of(agent, os.environ))
    *variables, last = (VARIABLES[agent] for agent in agents)
    named = f"{', '.join(variables)} or {last}" if variables else last
    return (
        f"There are no transcripts in:{folders}\n"
        "If an agent keeps them elsewhere, give that folder as PATH, or set the agent's variable as it is set for the\n"
        f"agent: {named}."
    )


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
