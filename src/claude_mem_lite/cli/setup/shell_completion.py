"""Command `completion`: script that makes the shell complete words."""

import os

import click

PROGRAM = "claude-mem-lite"
SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print the script that lets your shell complete words.")
@click.argument("shell", metavar="[SHELL]", type=click.Choice(SHELLS), required=False)
def completion(shell: str | None) -> None:
    """Print the script that lets your shell complete words.

    SHELL is bash, zsh or fish; without SHELL, the shell of $SHELL. Completes commands, options, kinds, scopes and
    files, and the ids of this project's newest memories while the worker runs. Reads only: put the line of your shell
    into the file named beside it.

    \b
    Examples:
      claude-mem-lite completion bash
      eval "$(claude-mem-lite completion bash)"                                      # ~/.bashrc
      eval "$(claude-mem-lite completion zsh)"                                       # ~/.zshrc, after compinit
      claude-mem-lite completion fish > ~/.config/fish/completions/claude-mem-lite.fish
    """
    from click.shell_completion import get_completion_class

    from claude_mem_lite.cli.main import cli

    chosen = shell or os.path.basename(os.environ.get("SHELL", ""))
    made_by = get_completion_class(chosen) if chosen in SHELLS else None
    if made_by is None:
        raise click.UsageError(f"say for which shell: {', '.join(SHELLS)}")
    variable = f"_{PROGRAM}_complete".replace("-", "_").upper()
    click.echo(made_by(cli, {}, PROGRAM, variable).source())
