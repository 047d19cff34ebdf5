"""Dialogue of the team commands: secrets, typed hidden or piped because arguments are visible, and a word on waits."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

from claude_mem_lite.errors import MemoryLiteError

_USUAL_S = 1.0
"""Time in which the database mostly answers."""


def secret(given: str | None, what: str) -> str:
    """Return a secret from the argument, else from stdin, else asked for on the terminal without an echo."""
    if given and given != "-":
        return given.strip()
    if given == "-" or not sys.stdin.isatty():
        piped = sys.stdin.readline().strip()
        if not piped:
            raise MemoryLiteError(f"no {what} was given", "pass it as an argument, or pipe it to this command")
        return piped
    asked: str = click.prompt(what, hide_input=True)
    return asked.strip()


@contextmanager
def asking() -> Iterator[None]:
    """Say on a terminal that the database is asked, if its answer takes longer than usual."""
    if not sys.stderr.isatty():
        yield
        return
    said = threading.Timer(_USUAL_S, lambda: click.echo("Asking the team's database …", err=True))
    said.daemon = True
    said.start()
    try:
        yield
    finally:
        said.cancel()
