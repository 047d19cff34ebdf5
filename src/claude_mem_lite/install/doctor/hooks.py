"""Whether each agent has our hooks, by the records of what was installed where, and whether one has them twice."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from claude_mem_lite import __version__
from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import files, record, settings
from claude_mem_lite.install.doctor.check import INSTALL, Check
from claude_mem_lite.install.hooks import hook_groups
from claude_mem_lite.install.record import Record
from claude_mem_lite.install.targets import SPOKEN
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home

PLUGIN = "mem-lite"
_ONE_WAY = "keep one: `claude-mem-lite uninstall`, or `claude plugin uninstall {name}`"


def installed(home: Home) -> Sequence[Record]:
    """Every install of this home whose file is still there; SettingsError when a record is damaged."""
    return [one for one in record.load_all(home) if one.agent in NAMES and one.settings.exists()]


def check_hooks(home: Home, user_settings: Path) -> Sequence[Check]:
    """One check for each settings file we are known to be in, or should be."""
    try:
        known = installed(home)
    except SettingsError as error:
        return [Check("hooks", "fail", error.message, error.next_step)]
    default = files.real_path(user_settings)
    # Who has us as a plugin, for another agent or in another folder needs nothing in the default one.
    is_elsewhere = bool(known) or bool(enabled_plugins(default.parent, PLUGIN))
    is_known = any(one.settings == default for one in known)
    wanted = [] if is_known or (is_elsewhere and not mentions_us(default)) else [(default, CLAUDE_CODE)]
    checked = [*wanted, *((one.settings, one.agent) for one in known)]
    return [_check_settings(home, path, agent, _again(agent, path, default)) for path, agent in checked]


def check_plugin(folders: Sequence[Path]) -> Sequence[Check]:
    """The plugin, in each folder of Claude Code where it is enabled: its version, and whether `install` came too."""
    checks = []
    for folder in folders:
        for name in enabled_plugins(folder, PLUGIN):
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


def enabled_plugins(folder: Path, beginning: str) -> list[str]:
    """The plugins of a name, as `name@marketplace`, that the settings in a folder of Claude Code switch on."""
    with suppress(SettingsError, ValueError, RecursionError):
        told: JsonValue = json.loads(files.read(folder / "settings.json") or b"{}")
        plugins = told.get("enabledPlugins") if isinstance(told, dict) else None
        if isinstance(plugins, dict):
            return [name for name, is_on in plugins.items() if is_on is True and name.partition("@")[0] == beginning]
    return []


def mentions_us(path: Path) -> bool:
    """Whether hooks of ours stand in a settings file, of whatever version or place."""
    try:
        return settings.has_ours((files.read(path) or b"{}").decode("utf-8"))
    except (SettingsError, UnicodeDecodeError):
        return False


def _version_of(folder: Path, name: str) -> str:
    """The version of a plugin by Claude Code's own list of installed ones; '' when it does not tell."""
    with suppress(SettingsError, ValueError, RecursionError):
        told: JsonValue = json.loads(files.read(folder / "plugins" / "installed_plugins.json") or b"{}")
        plugins = told.get("plugins") if isinstance(told, dict) else None
        entry = plugins.get(name) if isinstance(plugins, dict) else None
        entry = entry[-1] if isinstance(entry, list) and entry else entry
        version = entry.get("version") if isinstance(entry, dict) else None
        return version if isinstance(version, str) else ""
    return ""


def _again(agent: str, path: Path, default: Path) -> str:
    """How to install into the same place once more."""
    if agent != CLAUDE_CODE:
        return f"run `claude-mem-lite install --agent {agent}`"
    if path.name == "settings.local.json":
        return f"run `claude-mem-lite install --scope project` in {path.parent.parent}"
    return INSTALL if path == default else f"run `claude-mem-lite install --config-dir {path.parent}`"


def _check_settings(home: Home, path: Path, agent: str, again: str) -> Check:
    of = "" if agent == CLAUDE_CODE else f"{SPOKEN.get(agent, agent)}: "
    try:
        text = (files.read(path) or b"").decode("utf-8") or settings.EMPTY_SETTINGS
        if settings.disables_hooks(text):
            return Check("hooks", "fail", f'{of}{path} says "disableAllHooks"', "remove that line")
        if settings.is_current(text, hook_groups(home, agent)):
            return Check("hooks", "ok", f"{of}in {path}")
        if settings.has_ours(text):
            return Check("hooks", "fail", f"{of}those in {path} are of another version or place", again)
    except SettingsError as error:
        return Check("hooks", "fail", f"{of}{path}: {error.message}", error.next_step)
    except UnicodeDecodeError:
        return Check("hooks", "fail", f"{of}{path} is not UTF-8", settings.NOT_TOUCHED)
    return Check("hooks", "fail", f"{of}none of ours in {path}", again)
