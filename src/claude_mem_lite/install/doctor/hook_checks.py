"""Checks of each agent's hooks, MCP server, permission rule and skill, by the install records."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from claude_mem_lite import __version__
from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import ClientSettings
from claude_mem_lite.agents.permissions import PLUGIN_SERVER, SERVER, permission
from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.install import install_record, plugin, settings_files, settings_merge
from claude_mem_lite.install.agent_extras import ExtraPaths, server_state, skill_state
from claude_mem_lite.install.doctor.check import INSTALL, PREPARE, Check
from claude_mem_lite.install.hook_config import hook_groups
from claude_mem_lite.install.install_record import Record
from claude_mem_lite.install.permissions import ASKS, PLUGIN_FORM
from claude_mem_lite.install.targets import AGENT_TEXTS, install_command, target_of, target_of_record
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home, current_folder

_ONE_WAY = "keep one: `claude-mem-lite uninstall`, or `claude plugin uninstall {name}`"
HooksState = Literal["current", "incomplete", "other", "absent", "disabled"]


def installed(home: Home) -> Sequence[Record]:
    """Return every install of this home with an existing file; SettingsError for a corrupt record."""
    return [record for record in install_record.load_all(home) if record.agent in NAMES and record.settings.exists()]


def check_hooks(home: Home, user_settings: Path) -> Sequence[Check]:
    """Return one check for each settings file that has or should have hooks."""
    try:
        known = installed(home)
    except SettingsError as error:
        return [Check("hooks", "fail", error.message, error.next_step)]
    default = settings_files.real_path(user_settings)
    # With the plugin, for another agent or in another folder, the default settings need no hooks.
    is_elsewhere = bool(known) or bool(plugin.enabled_in(default))
    is_known = any(record.settings == default for record in known)
    checks = [_check_settings(home, record.settings, record.agent, record.project) for record in known]
    gone = [
        record
        for record in install_record.load_all(home)
        if not record.settings.exists() and record.settings != default
    ]
    checks += [_check_gone(record) for record in gone]
    if is_known or (is_elsewhere and not mentions_us(default, home)):
        return checks
    return [_check_settings(home, default, CLAUDE_CODE, None), *checks]


def check_plugin(folders: Sequence[Path]) -> Sequence[Check]:
    """Check the plugin in each folder of Claude Code that enables it: version, and duplicate install."""
    checks = []
    for folder in folders:
        for name in plugin.enabled_in(folder / "settings.json"):
            if mentions_us(folder / "settings.json"):
                finding = f"{name} and `install` are both in {folder}; what happens is still captured once"
                checks.append(Check("plugin", "warn", finding, _ONE_WAY.format(name=name)))
                continue
            version = _version_of(folder, name)
            if version and version != __version__:
                finding = f"{name} in {folder} is version {version}, this is {__version__}"
                checks.append(Check("plugin", "warn", finding, f"run `claude plugin update {name}`"))
            else:
                checks.append(Check("plugin", "ok", f"{name} is enabled in {folder}"))
    return checks


def setup_step(home: Home, user_settings: Path) -> str:
    """Return the step that makes the data folder and its program, for this kind of install."""
    is_plugin = bool(plugin.enabled_in(user_settings)) and not mentions_us(user_settings, home)
    return PREPARE if is_plugin else INSTALL


def mentions_us(path: Path, home: Home | None = None) -> bool:
    """Return whether a settings file has hooks of this package, of any version or place."""
    try:
        return settings_merge.has_ours((settings_files.read(path) or b"{}").decode("utf-8"), home)
    except (SettingsError, UnicodeDecodeError):
        return False


def hooks_state(home: Home, path: Path, agent: str) -> HooksState:
    """Return the state of our hooks in one agent's settings; SettingsError for unreadable settings."""
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


def _check_gone(record: Record) -> Check:
    """Check an install whose settings are gone, mostly with their project: the MCP server may still be registered."""
    step = "if it is gone for good, run `claude-mem-lite uninstall --gone`"
    return Check("hooks", "warn", f"{record.settings} is gone, though it was installed there", step)


def _missing(home: Home, path: Path, agent: str) -> str:
    events = settings_merge.missing(_text(path), hook_groups(home, agent), home)
    return ", ".join(events or ())


def _version_of(folder: Path, name: str) -> str:
    """Return the version of a plugin by Claude Code's list of installed plugins; '' if unknown."""
    with suppress(SettingsError, ValueError, RecursionError):
        content: JsonValue = json.loads(settings_files.read(folder / "plugins" / "installed_plugins.json") or b"{}")
        plugins = content.get("plugins") if isinstance(content, dict) else None
        entry = plugins.get(name) if isinstance(plugins, dict) else None
        entry = entry[-1] if isinstance(entry, list) and entry else entry
        version = entry.get("version") if isinstance(entry, dict) else None
        return version if isinstance(version, str) else ""
    return ""


def _check_settings(home: Home, path: Path, agent: str, project: Path | None) -> Check:
    of = "" if agent == CLAUDE_CODE else f"{AGENT_TEXTS[agent].name}: "
    try:
        state = hooks_state(home, path, agent)
    except SettingsError as error:
        return Check("hooks", "fail", f"{of}{path}: {error.message}", error.next_step)
    again = install_command(agent, path, project)
    if state == "incomplete":
        return Check("hooks", "fail", f"{of}{path} lacks the hooks for {_missing(home, path, agent)}", again)
    return {
        "current": Check("hooks", "ok", f"{of}in {path}"),
        "other": Check("hooks", "fail", f"{of}those in {path} are of another version or place", again),
        "absent": Check("hooks", "fail", f"{of}no claude-mem-lite hooks in {path}", again),
        "disabled": Check("hooks", "fail", f'{of}{path} says "disableAllHooks"', "remove that line"),
    }[state]


def extra_paths(home: Home, user_settings: Path, environment: Mapping[str, str]) -> Sequence[ExtraPaths]:
    """Return the places of server and skill for each agent with a user-wide install; for Claude Code if there is none.

    In Claude Code the plugin brings both."""
    known = [
        record
        for record in _installed(home)
        if record.project is None and record.settings.name != "settings.local.json"
    ]
    if not known and not plugin.enabled_in(user_settings):
        return [target_of(CLAUDE_CODE, "user", None, environment).tools]
    return [target_of_record(record, environment).tools for record in known]


def _installed(home: Home) -> Sequence[Record]:
    try:
        return installed(home)
    except SettingsError:  # reported by the check of the hooks
        return ()


def check_tools(home: Home, where: ExtraPaths) -> Sequence[Check]:
    """Check that the agent can query memories, and has the skill; hooks work without both."""
    try:
        server = server_state(home, where)
        skill = skill_state(home, where)
    except MemoryLiteError as error:
        return [Check("MCP server", "warn", error.message, error.next_step)]
    again, location = install_command(where.agent, where.settings), where.server.describe()
    served = {
        "current": Check("MCP server", "ok", f"in {location}"),
        "absent": Check("MCP server", "warn", f"not in {location}", again),
        "other": Check("MCP server", "warn", f"that in {location} is of another version or place", again),
        "foreign": Check("MCP server", "warn", f"another one has our name in {location}", "rename that one"),
    }
    skilled = {
        "current": Check("skill", "ok", str(where.skill)),
        "changed": Check("skill", "ok", f"{where.skill} is your own"),
        "other": Check("skill", "warn", f"{where.skill} is of another version", again),
        "absent": Check("skill", "warn", f"{where.skill} is missing", again),
    }[skill]
    # Only Claude Code is known to ask before each use, with a known rule against it.
    allowing = f"to allow them, {install_command(where.agent, where.settings, option='--allow-tools')}"
    is_asking = where.agent == CLAUDE_CODE and server in ("current", "other")
    return [served[server], *([_check_permission(where.settings, SERVER, allowing)] if is_asking else []), skilled]


def check_plugin_permission(user_settings: Path) -> Sequence[Check]:
    """Return the same check for the tool names of the plugin, if the plugin is enabled for all work."""
    if not plugin.enabled_in(user_settings):
        return []
    return [_check_permission(user_settings, PLUGIN_SERVER, f"to allow them, add {PLUGIN_FORM} to {user_settings}")]


def _check_permission(settings: Path, server: str, allowing: str) -> Check:
    """Return a check that is always ok: the user decides whether to be asked."""
    folder = current_folder()
    decided = permission(ClientSettings(settings.parent, Path(folder) if folder else None), server)
    if decided.decision == "unset":
        return Check("MCP permission", "ok", ASKS, allowing)
    verbs = {"allowed": "allows the memory tools", "denied": "denies the memory tools", "asked": "has Claude ask"}
    step = "" if decided.decision == "allowed" else "to allow them, take that rule out"
    return Check("MCP permission", "ok", f"{decided.rule} in {decided.path} {verbs[decided.decision]}", step)
