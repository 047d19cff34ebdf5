"""The `rebuild` command: everything derived made anew by the worker, or the memories of an older version."""

import sys
import time

import click

from claude_mem_lite.cli.memory_rebuild import rebuild_memories
from claude_mem_lite.cli.options import connect, json_option, place_options, where
from claude_mem_lite.cli.output import field, print_json, progress
from claude_mem_lite.client.responses import whole
from claude_mem_lite.errors import MemoryLiteError, WorkerUnavailable
from claude_mem_lite.models import JsonObject
from claude_mem_lite.text import counted

LOOK_S = 0.2
MAX_LOOKS_IN_VAIN = 50


@click.command(short_help="Make the search index anew, or the memories of an older version.")
@click.option("--memories", is_flag=True, help="Make memories anew that an older version made of your sessions.")
@click.option("--dry-run", is_flag=True, help="With --memories: only list what would change.")
@place_options
@json_option
def rebuild(memories: bool, dry_run: bool, cwd: str | None, project: str | None, as_json: bool) -> None:
    """Make the search index anew, or the memories of an older version.

    Without --memories everything that is derived from memories and sessions: the index of their words, the vectors of
    what they mean, and the contexts kept ready for new sessions. Memories themselves are not touched, and can be found
    meanwhile. There is no need for it in daily use; the worker keeps all this current.

    With --memories the memories themselves, of turns that an older version made them of: of all projects, or of the
    one that --project or --cwd names. A turn is read once more where its events (kept for 8 days) or Claude Code's own
    transcript of its session are still there; other turns stay as they are. Memories about the same matter keep their
    ids and get the words of this version, some are new, and those that this version no longer makes are retired.
    Lessons that an older version took from your prompts are judged anew; what may be one waits in `lessons`. Nothing
    changes of what you remembered, accepted, edited, pinned, confirmed or retired, of what an agent saved, a model told
    or another product brought, and what was forgotten, excluded or done while memory was off stays out. `status` and
    `doctor` tell when there are such turns; nothing is made anew unless you ask.

    May be stopped and run again at any time: it goes on where it was, and a second run changes nothing.

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
    told = client.rebuild()
    total = whole(told, "waiting")
    if told.get("joined") is True:
        click.echo("A rebuild is under way already; waiting for it.", err=True)
    if not sys.stderr.isatty():
        click.echo(f"Indexing {counted(total, 'document')}.", err=True)
    try:
        with progress("Indexing", total, in_bytes=False) as advance:
            stuck = 0
            while waiting := whole(told, "waiting"):
                advance(max(total - waiting, 0))  # more may come meanwhile
                time.sleep(LOOK_S)
                told = client.index()
                stuck = stuck + 1 if field(told, "failure") and whole(told, "waiting") == waiting else 0
                if stuck == MAX_LOOKS_IN_VAIN:
                    raise MemoryLiteError(
                        f"indexing does not go on: {field(told, 'failure')}",
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
    if problem := field(told, "problem"):
        raise MemoryLiteError(
            f"words are indexed anew, but {problem}",
            "search goes by words alone; `claude-mem-lite doctor` says what to do",
        )
    _tell(told, as_json)


def _tell(told: JsonObject, as_json: bool) -> None:
    documents = whole(told, "documents")
    if as_json:
        print_json({"documents": documents})
    else:
        click.echo(f"Rebuilt the index of {counted(documents, 'memory and passage', 'memories and passages')}.")
