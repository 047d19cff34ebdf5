"""All checks, in the order in which one depends on another. The `doctor` command prints them as they come.

Nothing is changed; databases are only read. Only a worker is started where there is none."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import files
from claude_mem_lite.install.doctor import configuration, databases, folders, hooks, neighbours, python, tools, worker
from claude_mem_lite.install.doctor.check import FIX, Check
from claude_mem_lite.install.missing_home import why_missing
from claude_mem_lite.paths import Home, current_folder


def run_checks(home: Home, user_settings: Path, *, online: bool = False) -> Iterator[Check]:
    """Every check; `online` has a configured model asked for a word."""
    now = datetime.now(UTC)
    setup = hooks.setup_step(home, user_settings)
    yield from (python.check_sqlite(), python.check_python(), folders.check_home(home, setup))
    is_closed = home.root.is_dir() and not os.access(home.root, os.R_OK | os.X_OK)
    if is_closed or why_missing(home):
        return  # nothing more can be told before that is mended
    yield from hooks.check_hooks(home, user_settings)
    settings = settings_of_claude(home, user_settings)
    folders_of_claude = sorted({files.real_path(user_settings).parent, *(path.parent for path in settings)})
    yield from hooks.check_plugin(folders_of_claude)
    yield configuration.check_switch(home)
    for where in tools.places_of(home, user_settings, os.environ):
        yield from tools.check_tools(home, where)
    yield from tools.check_plugin_permission(user_settings)
    if home.root.is_dir() and folders.is_ours(home):
        anew = FIX if python.is_installed_from(home) else setup
        yield from (python.check_hook_python(home, anew), python.check_worker_python(home, anew))
        if os.access(home.root, os.W_OK):  # neither a worker nor SQLite can open anything where it cannot write
            yield from worker.check_worker(home, online=online)
            yield from databases.check_databases(home)
            yield databases.check_backups(home, now)
            yield from databases.check_recovery(home, now)
        yield folders.check_permissions(home)
        yield from (folders.check_spool(home, time.time()), folders.check_disk(home))
        yield folders.check_clock(home, time.time(), databases.newest_moment(home))
    yield configuration.check_configuration(home, os.environ)
    yield from configuration.check_project_file(current_folder())
    yield from configuration.check_synonyms(home)
    yield neighbours.check_neighbours(Path.home(), folders_of_claude)


def settings_of_claude(home: Home, user_settings: Path) -> list[Path]:
    """The settings of Claude Code that we are in by the records, else those that we should be in."""
    default = files.real_path(user_settings)
    try:
        recorded = [one.settings for one in hooks.installed(home) if one.agent == CLAUDE_CODE]
    except SettingsError:  # told by the check of the hooks
        recorded = []
    users = [path for path in recorded if path.name == default.name]
    is_elsewhere = bool(users) and default not in users and not hooks.mentions_us(default)
    return users if is_elsewhere else [default, *(path for path in users if path != default)]
