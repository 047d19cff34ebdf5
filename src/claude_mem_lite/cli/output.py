"""How commands print: JSON for programs, tables with colours on a terminal, plain lines anywhere else.

How far a long command is, on stderr, so that stdout has the result alone: a bar on a terminal, else now and then a
line."""

import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from claude_mem_lite.models import JsonObject, JsonValue

if TYPE_CHECKING:
    from rich.text import Text

NARROWEST_TABLE = 72
# Stored text may come from anywhere; it must not be able to drive the user's terminal.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; only `wide` ones may be wrapped on a narrow terminal, or cut when they are `cut` too."""

    title: str
    style: str = ""
    wide: bool = False
    cut: bool = False


def print_json(value: JsonValue) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, always_titled: bool = False) -> None:
    """A table for people; one line a row with tabs between, when something else reads it or columns would not fit.

    These lines have no titles, since programs cut them up; `always_titled` is for figures that say nothing without."""
    shown = [[plain(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty() or shutil.get_terminal_size().columns < NARROWEST_TABLE:
        titles = [[column.title for column in columns]] if always_titled else []
        for row in (*titles, *shown):
            click.echo("\t".join(" ".join(cell.split()) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.title, style=column.style, no_wrap=not column.wide, overflow="fold")
    for row in shown:
        table.add_row(*(_cell(column, cell) for column, cell in zip(columns, row, strict=True)))
    Console().print(table)


def _cell(column: Column, text: str) -> "Text":
    from rich.text import Text

    # Cut in the text, not by the column: one that may not wrap takes its room from the others.
    return Text(" ".join(text.split()), no_wrap=True, overflow="ellipsis") if column.cut else Text(text)


def plain(value: object) -> str:
    """A value as text that is safe to print: no control characters but line ends and tabs."""
    return "" if value is None else _CONTROL.sub("", str(value))


def field(record: JsonObject, key: str) -> str:
    """One field of a record as safe text; nothing when it is missing."""
    return plain(record.get(key))


def items(record: JsonObject, key: str) -> Sequence[JsonValue]:
    """A list in a record; empty when it is missing."""
    value = record.get(key)
    return value if isinstance(value, list) else []


def dim(text: str) -> str:
    return click.style(text, dim=True)


def bold(text: str) -> str:
    return click.style(text, bold=True)


LINE_EVERY_S = 5.0
Advance = Callable[[int], None]


@contextmanager
def progress(
    what: str,
    total: int,
    *,
    in_bytes: bool = True,
    shown: bool = True,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Advance]:
    """What to tell how much of the total is done; it shows nothing where nobody watches."""
    if not shown:
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        yield _lines(what, total, clock)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    done = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), done, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(what), total=total)
        yield lambda done: bar.update(task, completed=done)


def _lines(what: str, total: int, clock: Callable[[], float]) -> Advance:
    told_at = clock()

    def advance(done: int) -> None:
        nonlocal told_at
        if clock() - told_at >= LINE_EVERY_S and done < total:
            told_at = clock()
            click.echo(f"{what}: {done * 100 // total}% done", err=True)

    return advance
