"""The `config` command: settings in force, with their sources."""

import json
import os
import sys

import click

from claude_mem_lite.cli.options import chosen_home, connect, cwd_option, folder, is_anything_stored, json_option
from claude_mem_lite.cli.output import Column, plain, print_json, print_table
from claude_mem_lite.config_loader import settings_in_force
from claude_mem_lite.errors import joined
from claude_mem_lite.models import JsonValue
from claude_mem_lite.responses.encoding import to_json
from claude_mem_lite.responses.status import EffectiveSetting, Settings


@click.command(short_help="Show every setting in force, and its source.")
@cwd_option
@json_option
def config(cwd: str | None, as_json: bool) -> None:
    """Show every setting in force, and its source.

    Shows the settings of the worker for the current folder: the defaults, then `config.toml` in the data folder, then
    the repository's own `.claude-mem-lite.toml` as far as permitted, then the environment of the worker. Changes
    nothing; docs/configuration.md explains each setting.

    \b
    Examples:
      claude-mem-lite config
      claude-mem-lite config --json
      claude-mem-lite config --cwd .
    """
    settings = _settings(folder(cwd))
    if as_json:
        print_json(settings.raw or to_json(settings))
        return
    # Beside the rows, which programs may cut up.
    click.echo(_where(plain(settings.file)), err=not sys.stdout.isatty())
    rows = [[setting.key, _written(setting.value), _source(setting, settings)] for setting in settings.settings]
    print_table([Column("setting", "cyan"), Column("value", wide=True), Column("from", "dim", wide=True)], rows)
    for problem in settings.problems:
        click.echo(joined(f"{plain(settings.project_file)}: {plain(problem)}", "that is left out."))


def _settings(cwd: str) -> Settings:
    """Return the settings of the worker; without a data folder those of a worker that would be started now."""
    if is_anything_stored():
        return connect().settings(cwd)
    return settings_in_force(chosen_home().config, os.environ, cwd)


def _where(path: str) -> str:
    return path if os.path.lexists(path) else f"{path} (not there, so the defaults hold)"


def _written(value: JsonValue) -> str:
    """Return a value in the form of the configuration file."""
    if isinstance(value, dict):
        return ", ".join(f"[presets.{name}]" for name in value) or "{}"
    return json.dumps(value, ensure_ascii=False)


def _source(setting: EffectiveSetting, settings: Settings) -> str:
    """Return the files and the variable that a setting comes from."""
    names = {"file": settings.file, "project file": settings.project_file, "environment": setting.variable}
    return ", ".join(names.get(source, source) for source in setting.sources)
