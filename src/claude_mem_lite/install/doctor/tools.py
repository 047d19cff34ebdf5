"""What an agent has besides hooks: the MCP server, the rule that allows it, the skill; for each folder installed in."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.install import permissions, plugin, serving
from claude_mem_lite.install.agent_tools import Places, skill_state
from claude_mem_lite.install.doctor import hooks
from claude_mem_lite.install.doctor.check import Check
from claude_mem_lite.install.record import Record
from claude_mem_lite.install.targets import install_command, target_of, target_of_record
from claude_mem_lite.paths import Home


def places_of(home: Home, user_settings: Path, environment: Mapping[str, str]) -> Sequence[Places]:
    """Where server and skill belong for each agent that we are in for all its work; for Claude Code when in none.

    In Claude Code the plugin brings both with it."""
    known = [one for one in _installed(home) if one.project is None and one.settings.name != "settings.local.json"]
    if not known and not plugin.enabled_in(user_settings):
        return [target_of(CLAUDE_CODE, "user", None, environment).tools]
    return [target_of_record(one, environment).tools for one in known]


def _installed(home: Home) -> Sequence[Record]:
    try:
        return hooks.installed(home)
    except SettingsError:  # told by the check of the hooks
        return ()


def check_tools(home: Home, where: Places) -> Sequence[Check]:
    """Whether the agent can ask for memories, and knows when to; hooks work without either."""
    try:
        server = state_of_server(home, where)
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
    is_asking = where.agent == CLAUDE_CODE and server in ("current", "other")
    return [served[server], *([_check_permission(where)] if is_asking else []), skilled]


def state_of_server(home: Home, where: Places) -> serving.State:
    """How our entry stands among an agent's servers."""
    return serving.plan_adding(where.server, serving.entry(home, where.agent)).state


def _check_permission(where: Places) -> Check:
    """No fault, whatever is found: whether to be asked is the user's choice."""
    if permissions.is_allowed(where.settings, Path.cwd()):
        return Check("MCP permission", "ok", "the memory tools are allowed")
    return Check("MCP permission", "ok", permissions.ASKS, f"to allow them, add {permissions.FORM} to {where.settings}")
