"""The command about the Claude Code plugin: plugin."""

import sys

import click


@click.command(short_help="Print the folder of the Claude Code plugin.")
@click.option("--prepare", is_flag=True, help="Instead, make the data folder ready for the plugin's hooks.")
def plugin(prepare: bool) -> None:
    """Print the folder of the Claude Code plugin.

    The folder is a plugin marketplace, for use in place of `install`: add it in Claude Code, then install mem-lite from
    it. Use either the plugin or `install`, not both.

    With --prepare, does the same as `install`, without changing any settings. The plugin's hooks run `plugin --prepare`
    themselves when there is no data folder.

    \b
    Examples:
      claude-mem-lite plugin
      claude plugin marketplace add "$(claude-mem-lite plugin)"
      claude plugin install mem-lite@mem-lite
      claude-mem-lite plugin --prepare
    """
    from claude_mem_lite.install import plugin as plugins
    from claude_mem_lite.paths import find_home

    if prepare:
        home = find_home()  # a relative one too: hooks call this, and they go on where they are
        if plugins.prepare(home):
            click.echo("Stopped the worker of another version; the next hook starts the new one.")
        click.echo(f"{home.root} is ready for the plugin's hooks.")
        return
    click.echo(plugins.FOLDER)
    if sys.stdout.isatty():
        click.echo("\nIn a shell, to use it:", err=True)
        click.echo('  claude plugin marketplace add "$(claude-mem-lite plugin)"', err=True)
        click.echo(f"  claude plugin install {plugins.NAME}@{plugins.NAME}", err=True)
