"""Whether each agent has our hooks, by the records of what was installed where, and whether one has them twice."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from claude_mem_lite import __version__
from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import install_record, plugin, settings_files, settings_merge
from claude_mem_lite.install.doctor.check import INSTALL, PREPARE, Check
from claude_mem_lite.install.hook_config import hook_groups
from claude_mem_lite.install.install_record import Record
from claude_mem_lite.install.targets import SPOKEN, install_command
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home

_ONE_WAY = "keep one: `claude-mem-lite uninstall`, or `claude plugin uninstall {name}`"
HooksState = Literal["current", "incomplete", "other", "absent", "disabled"]


def installed(home: Home) -> Sequence[Record]:
    """Every install of this home whose file is still there; SettingsError when a record is damaged."""
    return [one for one in install_record.load_all(home) if one.agent in NAMES and one.settings.exists()]


def check_hooks(home: Home, user_settings: Path) -> Sequence[Check]:
    """One check for each settings file we are known to be in, or should be."""
    try:
        known = installed(home)
    except SettingsError as error:
        return [Check("hooks", "fail", error.message, error.next_step)]
    default = settings_files.real_path(user_settings)
    # Who has us as a plugin, for another agent or in another folder needs nothing in the default one.
    is_elsewhere = bool(known) or bool(plugin.enabled_in(default))
    is_known = any(one.settings == default for one in known)
    checks = [_check_settings(home, one.settings, one.agent, one.project) for one in known]
    gone = [one for one in install_record.load_all(home) if not one.settings.exists() and one.settings != default]
    checks += [_check_gone(one) for one in gone]
    if is_known or (is_elsewhere and not mentions_us(default, home)):
        return checks
    return [_check_settings(home, default, CLAUDE_CODE, None), *checks]


def check_plugin(folders: Sequence[Path]) -> Sequence[Check]:
    """The plugin, in each folder of Claude Code where it is enabled: its version, and whether `install` came too."""
    checks = []
    for folder in folders:
        for name in plugin.enabled_in(folder / "settings.json"):
            if mentions_us(folder / "settings.json"):
                told = f"{name} and `install` are both in {folder}; what happens is still captured once"
                checks.append(Check("plugin", "warn", told, _ONE_WAY.format(name=name)))
                continue
            version = _version_of(folder, name)
            if version and version != __version__:
                told = f"{name} in {folder} is version {version}, this is {__version__}"
                checks.append(Check("plugin", "warn", told, f"run `claude plugin update {name}`"))
            else:
                checks.append(Check("plugin", "ok", f"{name} is enabled in {folder}"))
    return checks


def setup_step(home: Home, user_settings: Path) -> str:
    """What makes the data folder and the program in it for who has us in this way."""
    is_plugin = bool(plugin.enabled_in(user_settings)) and not mentions_us(user_settings, home)
    return PREPARE if is_plugin else INSTALL


def mentions_us(path: Path, home: Home | None = None) -> bool:
    """Whether hooks of ours stand in a settings file, of whatever version or place."""
    try:
        return settings_merge.has_ours((settings_files.read(path) or b"{}").decode("utf-8"), home)
    except (SettingsError, UnicodeDecodeError):
        return False


def hooks_state(home: Home, path: Path, agent: str) -> HooksState:
    """How our hooks stand in one agent's settings; SettingsError when those cannot be read."""
    text = _text(path)
    if settings_merge.disables_hooks(text):
        return "disabled"
    if not settings_merge.has_ours(text, home):
        return "absent"
    missing = settings_merge.missing(text, hook_groups(home, agent), home)
    return "other" if missing is None else "incomplete" if missing else "current"


def _text(path: Path) -> str:
    try:
        return (settings_files.read(path) or b"").decode("utf-8") or settings_merge.EMPTY_SETTINGS
    except UnicodeDecodeError as error:
        raise SettingsError("it is not UTF-8", settings_files.NOT_TOUCHED) from error


def _check_gone(one: Record) -> Check:
    """An install whose settings are gone, mostly with their project: its MCP server may still be registered."""
    step = "if it is gone for good, run `claude-mem-lite uninstall --gone`"
    return Check("hooks", "warn", f"{one.settings} is gone, though it was installed there", step)


def _missing(home: Home, path: Path, agent: str) -> str:
    events = settings_merge.missing(_text(path), hook_groups(home, agent), home)
    return ", ".join(events or ())


def _version_of(folder: Path, name: str) -> str:
    """The version of a plugin by Claude Code's own list of installed ones; '' when it does not tell."""
    with suppress(SettingsError, ValueError, RecursionError):
        told: JsonValue = json.loads(settings_files.read(folder / "plugins" / "installed_plugins.json") or b"{}")
        plugins = told.get("plugins") if isinstance(told, dict) else None
        entry = plugins.get(name) if isinstance(plugins, dict) else None
        entry = entry[-1] if isinstance(entry, list) and entry else entry
        version = entry.get("version") if isinstance(entry, dict) else None
        return version if isinstance(version, str) else ""
    return ""


def _check_settings(home: Home, path: Path, agent: str, project: Path | None) -> Check:
    of = "" if agent == CLAUDE_CODE else f"{SPOKEN[agent].name}: "
    try:
        state = hooks_state(home, path, agent)
    except SettingsError as error:
        return Check("hooks", "fail", f"{of}{path}: {error.message}", error.next_step)
    again = install_command(agent, path, project)
    if state == "incomplete":
        return Check("hooks", "fail", f"{of}{path} lacks ours for {_missing(home, path, agent)}", again)
    return {
        "current": Check("hooks", "ok", f"{of}in {path}"),
        "other": Check("hooks", "fail", f"{of}those in {path} are of another version or place", again),
        "absent": Check("hooks", "fail", f"{of}none of ours in {path}", again),
        "disabled": Check("hooks", "fail", f'{of}{path} says "disableAllHooks"', "remove that line"),
    }[state]
