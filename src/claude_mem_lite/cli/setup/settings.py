"""`config`: every setting in force, and where it comes from."""

import json
import os
import sys

import click

from claude_mem_lite.cli.options import chosen_home, connect, cwd_option, folder, is_anything_stored, json_option
from claude_mem_lite.cli.output import Column, field, items, plain, print_json, print_table
from claude_mem_lite.client.responses import objects
from claude_mem_lite.config_loader import settings_told
from claude_mem_lite.errors import joined
from claude_mem_lite.models import JsonObject, JsonValue


@click.command(short_help="Show every setting in force, and where it comes from.")
@cwd_option
@json_option
def config(cwd: str | None, as_json: bool) -> None:
    """Show every setting in force, and where it comes from.

    As the worker has them for the current folder: the defaults, then `config.toml` in the data folder, then what the
    repository's own `.claude-mem-lite.toml` may say, then the environment in which the worker was started. Changes
    nothing; docs/configuration.md tells what each is for.

    \b
    Examples:
      claude-mem-lite config
      claude-mem-lite config --json
      claude-mem-lite config --cwd .
    """
    told = _told(folder(cwd))
    if as_json:
        print_json(told)
        return
    settings = objects(told, "settings")
    # Beside the rows, which programs may cut up.
    click.echo(_where(field(told, "file")), err=not sys.stdout.isatty())
    rows = [[field(one, "key"), _written(one.get("value")), _source(one, told)] for one in settings]
    print_table([Column("setting", "cyan"), Column("value", wide=True), Column("from", "dim", wide=True)], rows)
    for problem in items(told, "problems"):
        click.echo(joined(f"{field(told, 'project_file')}: {plain(problem)}", "that is left out."))


def _told(cwd: str) -> JsonObject:
    """What the worker has; without a data folder what one would have that is started now."""
    if is_anything_stored():
        return connect().settings(cwd)
    return settings_told(chosen_home().config, os.environ, cwd)


def _where(path: str) -> str:
    return path if os.path.lexists(path) else f"{path} (not there, so the defaults hold)"


def _written(value: JsonValue) -> str:
    """A value as it would stand in the file."""
    if isinstance(value, dict):
        return ", ".join(f"[presets.{name}]" for name in value) or "{}"
    return json.dumps(value, ensure_ascii=False)


def _source(one: JsonObject, told: JsonObject) -> str:
    """Who said so, by name."""
    names = {
        "file": field(told, "file"),
        "project file": field(told, "project_file"),
        "environment": field(one, "variable"),
    }
    return ", ".join(names.get(str(source), str(source)) for source in items(one, "sources"))
