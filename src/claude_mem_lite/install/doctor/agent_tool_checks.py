"""What an agent has besides hooks: the MCP server, the rule that allows it, the skill; for each folder installed in."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import ClientSettings
from claude_mem_lite.agents.permissions import PLUGIN_SERVER, SERVER, permission
from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.install import plugin
from claude_mem_lite.install.agent_extras import Places, server_state, skill_state
from claude_mem_lite.install.doctor import hook_checks
from claude_mem_lite.install.doctor.check import Check
from claude_mem_lite.install.install_record import Record
from claude_mem_lite.install.permissions import ASKS, PLUGIN_FORM
from claude_mem_lite.install.targets import install_command, target_of, target_of_record
from claude_mem_lite.paths import Home, current_folder


def places_of(home: Home, user_settings: Path, environment: Mapping[str, str]) -> Sequence[Places]:
    """Where server and skill belong for each agent that we are in for all its work; for Claude Code when in none.

    In Claude Code the plugin brings both with it."""
    known = [one for one in _installed(home) if one.project is None and one.settings.name != "settings.local.json"]
    if not known and not plugin.enabled_in(user_settings):
        return [target_of(CLAUDE_CODE, "user", None, environment).tools]
    return [target_of_record(one, environment).tools for one in known]


def _installed(home: Home) -> Sequence[Record]:
    try:
        return hook_checks.installed(home)
    except SettingsError:  # told by the check of the hooks
        return ()


def check_tools(home: Home, where: Places) -> Sequence[Check]:
    """Whether the agent can ask for memories, and knows when to; hooks work without either."""
    try:
        server = server_state(home, where)
        skill = skill_state(home, where)
    except MemoryLiteError as error:
        return [Check("MCP server", "warn", error.message, error.next_step)]
    again, place = install_command(where.agent, where.settings), where.server.told()
    served = {
        "current": Check("MCP server", "ok", f"in {place}"),
        "absent": Check("MCP server", "warn", f"not in {place}", again),
        "other": Check("MCP server", "warn", f"that in {place} is of another version or place", again),
        "foreign": Check("MCP server", "warn", f"another one has our name in {place}", "rename that one"),
    }
    skilled = {
        "current": Check("skill", "ok", str(where.skill)),
        "changed": Check("skill", "ok", f"{where.skill} is your own"),
        "other": Check("skill", "warn", f"{where.skill} is of another version", again),
        "absent": Check("skill", "warn", f"{where.skill} is missing", again),
    }[skill]
    # Only Claude Code is known to ask before each use, and how to keep it from that.
    allowing = f"to allow them, {install_command(where.agent, where.settings, option='--allow-tools')}"
    is_asking = where.agent == CLAUDE_CODE and server in ("current", "other")
    return [served[server], *([_check_permission(where.settings, SERVER, allowing)] if is_asking else []), skilled]


def check_plugin_permission(user_settings: Path) -> Sequence[Check]:
    """Return the same check for the tools as the plugin names them, where it is on for all work."""
    if not plugin.enabled_in(user_settings):
        return []
    return [_check_permission(user_settings, PLUGIN_SERVER, f"to allow them, add {PLUGIN_FORM} to {user_settings}")]


def _check_permission(settings: Path, server: str, allowing: str) -> Check:
    """No fault, whatever is found: whether to be asked is the user's choice."""
    folder = current_folder()
    found = permission(ClientSettings(settings.parent, Path(folder) if folder else None), server)
    if found.decision == "unset":
        return Check("MCP permission", "ok", ASKS, allowing)
    verbs = {"allowed": "allows the memory tools", "denied": "denies the memory tools", "asked": "has Claude ask"}
    step = "" if found.decision == "allowed" else "to allow them, take that rule out"
    return Check("MCP permission", "ok", f"{found.rule} in {found.path} {verbs[found.decision]}", step)
