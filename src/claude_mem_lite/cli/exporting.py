"""The `export` command: every memory as a line of JSON, to stdout or into a file that is whole or not there."""

import gzip
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO

import click

from claude_mem_lite.cli.options import connect
from claude_mem_lite.cli.output import counted, plain
from claude_mem_lite.cli.progress import progress
from claude_mem_lite.cli.sending import Sending
from claude_mem_lite.client import Client, ExportPage
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.memory_lines import to_line

Written = IO[bytes] | gzip.GzipFile
_LONGEST_PREFIX = 100


@click.command(short_help="Write out every memory, one a line.", context_settings={"allow_extra_args": True})
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl"]),
    default="jsonl",
    help="How they are written; jsonl, one JSON object a line, if not given.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="The file to write, packed when it ends in .gz; standard output if not given, or if it is -.",
)
@click.option(
    "--cwd",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Only the memories of this folder's project; those of all projects if not given.",
)
@click.pass_context
def export(
    ctx: click.Context,
    form: str,  # noqa: ARG001  there is one as yet
    output: Path | None,
    cwd: str | None,
) -> None:
    """Write out every memory, one a line.

    Whatever its status, with every field, in the order they were stored; `import jsonl` reads it back exactly as
    it was. A FILE is readable by you alone, and an existing one is replaced when all is written, not before.

    \b
    Examples:
      claude-mem-lite export --output memories.jsonl
      claude-mem-lite export --cwd . --output shop.jsonl.gz
      claude-mem-lite export | grep '"kind": "decision"'
    """
    if ctx.args:
        raise click.UsageError(f"the file to write is an option: --output {shlex.quote(ctx.args[0])}", ctx)
    if output is None or str(output) == "-":
        stdout = sys.stdout.buffer
        # On a terminal the lines themselves tell how far it is.
        written = _write(stdout, cwd, watched=not sys.stdout.isatty())
        stdout.flush()
        where = ""
    else:
        try:
            with _whole_file(output) as file:
                written = _write(file, cwd, watched=True)
        except KeyboardInterrupt:
            click.echo("Stopped; nothing was written.", err=True)
            raise
        where = f" to {plain(output)}"
    click.echo(f"Exported {counted(written, 'memory', 'memories')}{where}.", err=True)


def _write(file: Written, cwd: str | None, *, watched: bool) -> int:
    """Write what the worker gives, page by page; how many memories that were."""
    pages = _pages(cwd)
    first = next(pages)
    written = 0
    with progress("Exporting", first.total or 0, in_bytes=False, shown=watched) as advance:
        for page in chain([first], pages):
            file.write("".join(map(to_line, page.memories)).encode())
            written += len(page.memories)
            advance(written)
    return written


def _pages(cwd: str | None) -> Iterator[ExportPage]:
    sending = Sending(connect())
    after: int | None = 0
    while after is not None:
        page = sending.ask(partial(Client.export_page, after=after, cwd=cwd))
        yield page
        after = page.next


@contextmanager
def _whole_file(path: Path) -> Iterator[Written]:
    """A file that takes its name, and the place of what had it, when all is written; for the user alone."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise MemoryLiteError(f"{path} is no plain file", "leave out --output to write to standard output")
    try:
        descriptor, unfinished = tempfile.mkstemp(prefix=f".{target.name[:_LONGEST_PREFIX]}-", dir=target.parent)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise MemoryLiteError(f"{path} cannot be written: {reason}") from None
    try:
        with open(descriptor, "wb") as file:
            if target.suffix == ".gz":
                # No name and no time: the same memories are the same bytes.
                with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                    yield packed
            else:
                yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
