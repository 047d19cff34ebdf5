"""Output of commands: JSON for programs, tables with colours on a terminal, plain lines anywhere else.

The progress of a long command goes to stderr, so that stdout has the result alone: a bar on a terminal, else a line now
and then."""

import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from claude_mem_lite.models import JsonValue
from claude_mem_lite.values import frozen

if TYPE_CHECKING:
    from rich.text import Text

NARROWEST_TABLE = 72
_MAX_LINES = 20
"""Lines of a list of problems."""
# Stored text may come from anywhere, and must not control the user's terminal.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@frozen
class Column:
    """Column of a table; only a `wide` column may be wrapped on a narrow terminal, or cut if also `cut`."""

    title: str
    style: str = ""
    wide: bool = False
    cut: bool = False


def print_json(value: JsonValue) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, always_titled: bool = False) -> None:
    """Print a table; on narrow terminals and for programs, one line for each row with tabs between the cells.

    Lines for programs have no titles, unless `always_titled`: figures mean nothing without titles."""
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

    # Cut in the text, not by the column: a column that may not wrap takes room from the others.
    return Text(" ".join(text.split()), no_wrap=True, overflow="ellipsis") if column.cut else Text(text)


def plain(value: object) -> str:
    """Return a value as safe text: no control characters but line ends and tabs."""
    return "" if value is None else _CONTROL.sub("", str(value))


def dim(text: str) -> str:
    return click.style(text, dim=True)


def bold(text: str) -> str:
    return click.style(text, bold=True)


LINE_EVERY_S = 5.0
_SHOWN_IN_MINUTES_S = 100
# The worker may take half a minute for one request on a busy machine; a shorter period would have no speed then.
_SPEED_OVER_S = 300.0
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
    """Yield the function that reports how much of the total is done; nothing is shown unless `shown`."""
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
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=_SPEED_OVER_S) as bar:
        task = bar.add_task(escape(what), total=total)
        yield lambda done: bar.update(task, completed=done)


def _lines(what: str, total: int, clock: Callable[[], float]) -> Advance:
    began_at = printed_at = clock()
    printed = 0

    def advance(done: int) -> None:
        nonlocal printed_at, printed
        percent = done * 100 // max(total, 1)
        if clock() - printed_at >= LINE_EVERY_S and done < total and percent != printed:
            printed_at, printed = clock(), percent
            left_s = (printed_at - began_at) * (total - done) / done
            click.echo(f"{what}: {percent}% done, about {_duration(left_s)} left", err=True)

    return advance


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < _SHOWN_IN_MINUTES_S else f"{seconds / 60:.0f} min"


def print_some(lines: Sequence[str]) -> None:
    """Print the first lines of a list, indented, and the number of the others."""
    for line in lines[:_MAX_LINES]:
        click.echo(f"  {line}")
    if len(lines) > _MAX_LINES:
        click.echo(f"  and {len(lines) - _MAX_LINES:,} more (--json names them all)")
