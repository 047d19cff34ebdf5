"""Secrets on the command line: connection strings and keys, typed hidden or piped, because arguments are visible."""

import sys

import click

from claude_mem_lite.errors import MemoryLiteError


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
