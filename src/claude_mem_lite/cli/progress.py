"""How far a long command is, on stderr, so that stdout has the result alone: a bar on a terminal, else now and then a
line."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

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
