"""Command lines that pages and help texts show, checked as the program would, without running them."""

from contextlib import suppress

import click

from claude_mem_lite.cli.main import cli


def parse(words: list[str]) -> None:
    """Parse a command line as the program would, without running it."""
    command: click.Command = cli
    context = click.Context(cli, info_name=words[0])
    rest = words[1:]
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.get_command(context, rest[0])
        assert found is not None, f"there is no command {' '.join(words)}"
        command, rest = found, rest[1:]
    with suppress(click.exceptions.Exit):  # `--help` and `--version` end the program
        command.make_context(words[0], rest)
