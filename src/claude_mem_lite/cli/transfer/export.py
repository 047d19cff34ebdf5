"""The `export` command: memories as JSON lines or Markdown, to stdout or into files that are complete or absent."""

import gzip
import os
import shlex
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO

import click

from claude_mem_lite.cli.options import connect_to_find, folder_type, project_option, where
from claude_mem_lite.cli.output import plain, progress
from claude_mem_lite.cli.transfer import export_markdown
from claude_mem_lite.cli.transfer.send_with_retry import Sending
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Where
from claude_mem_lite.errors import MemoryLiteError, unwritable
from claude_mem_lite.export_format import to_line
from claude_mem_lite.responses.encoding import from_json
from claude_mem_lite.responses.imports import ExportPage
from claude_mem_lite.responses.memories import StoredMemory
from claude_mem_lite.text import counted

Written = IO[bytes] | gzip.GzipFile
_MAX_PREFIX_LENGTH = 100
_PAGES = (".md", ".md.gz")
_INDEX = "index.md"
# Maximum of the worker.
_MAX_SESSIONS = 10_000


@click.command(short_help="Write all memories to JSON lines or Markdown.", context_settings={"allow_extra_args": True})
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "markdown"]),
    help="How they are written: jsonl, one JSON object a line; or markdown, for people. If not given, markdown for an "
    "output that ends in .md, else jsonl.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE|DIR",
    type=click.Path(allow_dash=True, path_type=Path),
    help="The file to write, packed when it ends in .gz; standard output if not given, or if it is -. "
    "For markdown also a folder, of one page for each project.",
)
@click.option(
    "--cwd",
    metavar="DIR",
    type=folder_type,
    help="Only the memories of this folder's project; those of all projects if not given.",
)
@project_option
@click.pass_context
def export(ctx: click.Context, form: str | None, output: Path | None, cwd: str | None, project: str | None) -> None:
    """Write all memories to JSON lines or Markdown.

    As jsonl, one memory a line: every status and every field, in the order of storing; `import jsonl` restores the
    memories exactly. FILE is readable by you alone. An existing FILE is replaced only when the export is complete.

    As markdown, for reading: by project, then by kind, guidance first and the newest first, with a table of contents,
    and the summaries of sessions at the end. Quarantined memories are left out, because an agent may read the file. An
    output that ends in .md or .md.gz is one file; any other output is a folder with index.md and a page for each
    project. The folder must be new, empty, or from an earlier export; pages of an earlier export are replaced.

    \b
    Examples:
      claude-mem-lite export --output memories.jsonl
      claude-mem-lite export --cwd . --output shop.jsonl.gz
      claude-mem-lite export | grep '"kind": "decision"'
      claude-mem-lite export --output memories.md
      claude-mem-lite export --format markdown --cwd . --output notes/
    """
    if ctx.args:
        raise click.UsageError(f"the file to write is an option: --output {shlex.quote(ctx.args[0])}", ctx)
    place = where(cwd, project, all_projects=cwd is None and project is None)
    form = form or ("markdown" if output is not None and output.name.endswith(_PAGES) else "jsonl")
    write = _write_markdown if form == "markdown" else _write_lines
    if output is None or str(output) == "-":
        stdout = sys.stdout.buffer
        # On a terminal the lines themselves show the progress.
        written = write(stdout, place, watched=not sys.stdout.isatty())
        stdout.flush()
        target = ""
    else:
        if form == "jsonl" and _is_folder(output):
            raise click.UsageError(f"{plain(output)} is a folder; name a file, or use --format markdown", ctx)
        is_folder = form == "markdown" and not output.name.endswith(_PAGES)
        try:
            if is_folder:
                written = _write_pages(output, place)
            else:
                with _whole_file(output) as file:
                    written = write(file, place, watched=True)
        except KeyboardInterrupt:
            written_so_far = "the pages that were done are there" if is_folder else "nothing was written"
            click.echo(f"Stopped; {written_so_far}.", err=True)
            raise
        target = f" to {plain(output)}"
    click.echo(f"Exported {counted(written, 'memory', 'memories')}{target}.", err=True)


def _write_lines(file: Written, place: Where, *, watched: bool) -> int:
    """Write the pages of the worker; return the number of memories."""
    written = 0
    for page in _watched_pages(place, watched=watched):
        file.write("".join(map(to_line, page.memories)).encode())
        written += len(page.memories)
    return written


def _write_markdown(file: Written, place: Where, *, watched: bool) -> int:
    groups = _grouped(place, watched=watched)
    for piece in export_markdown.page(groups):
        file.write(piece.encode("utf-8", "replace"))
    return sum(group.count() for group in groups)


def _write_pages(folder: Path, place: Where) -> int:
    """Write a page for each project, and an index: first an incomplete index that marks the folder as ours if the
    export stops, and at the end the complete index."""
    _our_files(folder)  # fails before the slow reading
    groups = _grouped(place, watched=True)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None
    ours = _our_files(folder)
    for group in groups:
        page = folder / f"{group.name}.md"
        if page.name not in ours and os.path.lexists(page):
            raise MemoryLiteError(f"{page} is not of an export", "move it away, or name another folder")
    _write_text(folder / _INDEX, [export_markdown.index(groups, is_complete=False)])
    for group in groups:
        _write_text(folder / f"{group.name}.md", export_markdown.page_of(group))
    _write_text(folder / _INDEX, [export_markdown.index(groups)])
    return sum(group.count() for group in groups)


def _our_files(folder: Path) -> Collection[str]:
    """Return the names of the pages of an earlier export in a folder; MemoryLiteError if the folder has other files."""
    try:
        if not folder.is_dir() or all(path.name.startswith(".") for path in folder.iterdir()):
            return ()
        index = folder / _INDEX
        names = export_markdown.pages_of(index.read_text("utf-8", "replace")) if index.is_file() else None
    except OSError as error:
        raise unwritable(folder, error) from None
    if names is None:
        raise MemoryLiteError(
            f"{folder} is not empty and has no export in it; nothing was written",
            f"name a folder of its own, as in --output {shlex.quote(str(folder / 'memories'))}",
        )
    return names


def _write_text(path: Path, pieces: Iterable[str]) -> None:
    with _whole_file(path) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "replace"))


def _grouped(place: Where, *, watched: bool) -> list[export_markdown.Group]:
    pages = _watched_pages(place, watched=watched)
    memories = [from_json(StoredMemory, memory) for page in pages for memory in page.memories]
    client = connect_to_find()
    return export_markdown.grouped(memories, client.sessions(place, limit=_MAX_SESSIONS), client.project_names())


def _watched_pages(place: Where, *, watched: bool) -> Iterator[ExportPage]:
    pages = _pages(place)
    first = next(pages)
    done = 0
    with progress("Exporting", first.total or 0, in_bytes=False, shown=watched) as advance:
        for page in chain([first], pages):
            yield page
            done += len(page.memories)
            advance(done)


def _pages(place: Where) -> Iterator[ExportPage]:
    sending = Sending(connect_to_find())
    after: int | None = 0
    while after is not None:
        page = sending.ask(partial(Client.export_page, after=after, where=place))
        yield page
        after = page.next


@contextmanager
def _whole_file(path: Path) -> Iterator[Written]:
    """Open a file that replaces the target when all is written, readable by the user alone."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            raise MemoryLiteError(f"{path} is no plain file", "leave out --output to write to standard output")
        descriptor, unfinished = tempfile.mkstemp(prefix=f".{target.name[:_MAX_PREFIX_LENGTH]}-", dir=target.parent)
    except OSError as error:
        raise unwritable(path, error) from None
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
    except BaseException as error:
        with suppress(OSError):
            os.unlink(unfinished)
        if isinstance(error, OSError):
            raise unwritable(path, error) from None
        raise


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # the writer reports the problem
        return False
