"""Groups of commands: imported on use, so that `--help` stays quick, with suggestions for unknown names."""

import difflib
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import click

from claude_mem_lite.values import frozen

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# What people type who know other programs.
OTHER_WORDS = {
    "add": "remember",
    "change": "edit",
    "delete": "forget",
    "disable": "off",
    "drain": "worker drain",
    "enable": "on",
    "errors": "queue --errors",
    "find": "search",
    "get": "show",
    "health": "status",
    "history": "timeline",
    "ls": "list",
    "recover": "restore",
    "reindex": "rebuild",
    "remove": "forget",
    "rm": "forget",
    "run": "worker run",
    "save": "remember",
    "setup": "install",
    "start": "worker start",
    "stop": "worker stop",
    "unpin": "pin --off",
    "unretire": "confirm",
    "update": "edit",
}


class HelpfulGroup(click.Group):
    """Group that prints its help without a command, and the nearest names for an unknown command."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            command = self.get_command(ctx, name) if error.ctx is None and name else None
            if command is not None:  # the parser does not say whose option it was, and its help is the one to read
                error.ctx = click.Context(command, info_name=name, parent=ctx)
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        is_typed = not ctx.resilient_parsing  # else a shell asks how it may go on, and nobody wants to hear
        if is_typed and self.get_command(ctx, name) is None and not name.startswith("-"):
            raise click.UsageError(f"there is no command {name!r}{self._nearest(ctx, name)}", ctx)
        return super().resolve_command(ctx, args)

    def _nearest(self, ctx: click.Context, name: str) -> str:
        known = self.list_commands(ctx)
        near = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.6)
        meant = OTHER_WORDS.get(name.lower(), "")
        if meant and meant.split()[0] in known:
            near = [meant]
        return f", did you mean {' or '.join(near)}?" if near else ""


@frozen
class LazyCommand:
    """Command that is imported on use: location of its definition, and a summary for help without an import."""

    module: str
    attribute: str
    summary: str


class LazyGroup(HelpfulGroup):
    """Group over a table of entries by section; the module of a command is imported when the command is called."""

    def __init__(
        self,
        *,
        name: str,
        sections: Mapping[str, Mapping[str, LazyCommand]],
        params: list[click.Parameter],
        help: str,
        short_help: str | None = None,
        callback: Callable[..., None] | None = None,
    ) -> None:
        super().__init__(
            name=name,
            params=params,
            help=help,
            short_help=short_help,
            invoke_without_command=True,
            callback=callback or show_help,
        )
        self.sections = sections
        self._entries = {name: entry for section in sections.values() for name, entry in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        command = getattr(importlib.import_module(entry.module), entry.attribute)
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """Return completions without importing the commands; click would import all for their summaries."""
        from click.shell_completion import CompletionItem

        named = [
            CompletionItem(name, help=entry.summary)
            for name, entry in self._entries.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, entry.summary) for name, entry in section.items()])


@click.pass_context
def show_help(ctx: click.Context) -> None:
    """Print the help of a group that is called without a command."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
