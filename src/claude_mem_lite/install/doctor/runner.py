"""All checks in the order of their dependencies. The `doctor` command prints each result at once.

Nothing is changed, and databases are only read; only a missing worker is started."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import settings_files
from claude_mem_lite.install.doctor import (
    database_checks,
    guard_checks,
    home_checks,
    hook_checks,
    machine_checks,
    worker_checks,
)
from claude_mem_lite.install.doctor.check import FIX, Check
from claude_mem_lite.install.targets import why_missing
from claude_mem_lite.paths import Home, current_folder


def run_checks(home: Home, user_settings: Path, *, online: bool = False) -> Iterator[Check]:
    """Yield every check; `online` sends a configured model a tiny request."""
    now = datetime.now(UTC)
    setup = hook_checks.setup_step(home, user_settings)
    yield from (machine_checks.check_sqlite(), machine_checks.check_python(), home_checks.check_home(home, setup))
    is_closed = home.root.is_dir() and not os.access(home.root, os.R_OK | os.X_OK)
    if is_closed or why_missing(home):
        return  # further checks need the folder
    yield from hook_checks.check_hooks(home, user_settings)
    settings = settings_of_claude(home, user_settings)
    folders_of_claude = sorted({settings_files.real_path(user_settings).parent, *(path.parent for path in settings)})
    yield from hook_checks.check_plugin(folders_of_claude)
    yield home_checks.check_switch(home)
    for where in hook_checks.extra_paths(home, user_settings, os.environ):
        yield from hook_checks.check_tools(home, where)
    yield from hook_checks.check_plugin_permission(user_settings)
    if home.root.is_dir() and home_checks.is_ours(home):
        anew = FIX if machine_checks.is_installed_from(home) else setup
        yield from (machine_checks.check_hook_python(home, anew), machine_checks.check_worker_python(home, anew))
        yield from guard_checks.check_guards(home)
        if os.access(home.root, os.W_OK):  # worker and SQLite cannot open anything in a read-only folder
            yield from worker_checks.check_worker(home, online=online)
            yield from database_checks.check_databases(home)
            yield database_checks.check_backups(home, now)
            yield from database_checks.check_recovery(home, now)
        yield home_checks.check_permissions(home)
        yield from (home_checks.check_spool(home, time.time()), home_checks.check_disk(home))
        yield home_checks.check_clock(home, time.time(), database_checks.newest_event_time(home))
    yield home_checks.check_configuration(home, os.environ)
    yield from home_checks.check_project_file(current_folder())
    yield from home_checks.check_synonyms(home)
    yield machine_checks.check_other_tools(Path.home(), folders_of_claude)


def settings_of_claude(home: Home, user_settings: Path) -> list[Path]:
    """Return the settings of Claude Code in the install records, else the default settings."""
    default = settings_files.real_path(user_settings)
    try:
        recorded = [record.settings for record in hook_checks.installed(home) if record.agent == CLAUDE_CODE]
    except SettingsError:  # reported by the check of the hooks
        recorded = []
    users = [path for path in recorded if path.name == default.name]
    is_elsewhere = bool(users) and default not in users and not hook_checks.mentions_us(default)
    return users if is_elsewhere else [default, *(path for path in users if path != default)]
