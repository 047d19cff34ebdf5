"""The `rebuild` command: everything derived made anew by the worker, with a look at how far it is."""

import sys
import time

import click

from claude_mem_lite.cli.options import connect, json_option
from claude_mem_lite.cli.output import field, print_json
from claude_mem_lite.cli.progress import progress
from claude_mem_lite.errors import MemoryLiteError, WorkerUnavailable
from claude_mem_lite.models import JsonObject
from claude_mem_lite.told import whole
from claude_mem_lite.words import counted

LOOK_S = 0.2
MOST_LOOKS_IN_VAIN = 50


@click.command(short_help="Make the search index anew.")
@json_option
def rebuild(as_json: bool) -> None:
    """Make the search index anew.

    Everything that is derived from memories and sessions: the index of their words, the vectors of what they mean,
    and the contexts kept ready for new sessions. Memories themselves are not touched, and can be found meanwhile.
    There is no need for it in daily use; the worker keeps all this current.

    \b
    Examples:
      claude-mem-lite rebuild
      claude-mem-lite rebuild --json
    """
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
                if stuck == MOST_LOOKS_IN_VAIN:
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
