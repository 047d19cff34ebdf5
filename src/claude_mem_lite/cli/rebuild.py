"""The `rebuild` command: rebuild derived data, or the memories of an older version."""

import sys
import time

import click

from claude_mem_lite.cli.memory_rebuild import rebuild_memories
from claude_mem_lite.cli.options import connect, json_option, place_options, where
from claude_mem_lite.cli.output import plain, print_json, progress
from claude_mem_lite.errors import MemoryLiteError, WorkerUnavailable
from claude_mem_lite.responses.status import IndexState
from claude_mem_lite.text import counted

LOOK_S = 0.2
MAX_LOOKS_IN_VAIN = 50


@click.command(short_help="Rebuild the search index, or the memories of an older version.")
@click.option("--memories", is_flag=True, help="Make the memories of an older version again, from your sessions.")
@click.option("--dry-run", is_flag=True, help="With --memories: only list what would change.")
@place_options
@json_option
def rebuild(memories: bool, dry_run: bool, cwd: str | None, project: str | None, as_json: bool) -> None:
    """Rebuild the search index, or the memories of an older version.

    Without --memories, rebuilds everything derived from memories and sessions: word index, vectors, and the contexts
    prepared for new sessions. Memories do not change, and search works meanwhile. Daily use does not need this command;
    the worker keeps derived data current.

    With --memories, rebuilds the memories of turns that an older version processed, in all projects or in the project
    of --project or --cwd. A turn is processed again if its events (kept for 8 days) or Claude Code's transcript of its
    session still exist; other turns stay as they are. Memories about the same matter keep their ids and get the words
    of this version, some memories are new, and memories that this version no longer makes are retired. Lessons that an
    older version took from your prompts are judged again; unsure ones wait in `lessons`. Memories that you remembered,
    accepted, edited, pinned, confirmed or retired do not change, nor do memories saved by an agent, written by a model
    or imported from another product. Text that was forgotten, excluded or written while memory was off stays out.
    `status` and `doctor` report such turns; nothing is rebuilt unless you ask.

    You can stop the command and run it again at any time: it continues where it stopped, and a second run changes
    nothing.

    \b
    Examples:
      claude-mem-lite rebuild
      claude-mem-lite rebuild --memories --dry-run
      claude-mem-lite rebuild --memories --project shop
      claude-mem-lite rebuild --memories --json
    """
    if memories:
        rebuild_memories(where(cwd, project, not (cwd or project)), dry_run=dry_run, as_json=as_json)
    elif dry_run or cwd or project:
        raise click.UsageError("--dry-run, --cwd and --project go with --memories; the index is made anew as a whole")
    else:
        _rebuild_index(as_json)


def _rebuild_index(as_json: bool) -> None:
    client = connect()
    started = client.rebuild()
    state: IndexState = started
    total = started.waiting
    if started.joined:
        click.echo("A rebuild is under way already; waiting for it.", err=True)
    if not sys.stderr.isatty():
        click.echo(f"Indexing {counted(total, 'document')}.", err=True)
    try:
        with progress("Indexing", total, in_bytes=False) as advance:
            stuck = 0
            while waiting := state.waiting:
                advance(max(total - waiting, 0))  # more may come meanwhile
                time.sleep(LOOK_S)
                state = client.index()
                stuck = stuck + 1 if state.failure and state.waiting == waiting else 0
                if stuck == MAX_LOOKS_IN_VAIN:
                    raise MemoryLiteError(
                        f"indexing does not go on: {plain(state.failure)}",
                        "make room on the disk if it is full; the worker then goes on by itself",
                    )
    except WorkerUnavailable:
        raise MemoryLiteError(
            "the worker ended before everything was indexed",
            "what is left is done as soon as one runs again: `claude-mem-lite worker start`",
        ) from None
    except KeyboardInterrupt:
        click.echo("The worker goes on with it; `claude-mem-lite status` shows how far it is.", err=True)
        raise
    if problem := plain(state.problem):
        raise MemoryLiteError(
            f"words are indexed anew, but {problem}",
            "search goes by words alone; `claude-mem-lite doctor` says what to do",
        )
    if as_json:
        print_json({"documents": state.documents})
    else:
        click.echo(f"Rebuilt the index of {counted(state.documents, 'memory and passage', 'memories and passages')}.")
