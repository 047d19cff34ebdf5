"""Permission of Claude Code to use the memory tools: the rules in its settings, evaluated as by the client.

Order and patterns were observed in runs of 2.1.325. This module only reads; `install` writes rules."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from claude_mem_lite.agents.agent_folders import agent_folder
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import ClientSettings, SettingsFile
from claude_mem_lite.values import frozen

_SERVER_NAME, _PLUGIN_NAME = "claude-mem-lite", "mem-lite"
SERVER = f"mcp__{_SERVER_NAME}"
PLUGIN_SERVER = f"mcp__plugin_{_PLUGIN_NAME}_{_SERVER_NAME}"
"""Name of the same server in the plugin."""
SAVE_TOOL = "memory_save"
GRANTED_TOOLS = ("memory_context", "memory_search", "memory_timeline", "memory_get", SAVE_TOOL)
"""Tools allowed by `install --allow-tools`. The client keeps asking before `memory_forget`, which deletes."""
Decision = Literal["allowed", "denied", "asked", "unset"]


@frozen
class Permission:
    """Decision of the client about a tool, with the deciding rule and its file."""

    decision: Decision
    rule: str = ""
    path: Path | None = None


def tools_allowed(cwd: Path, config_dir: Path | None = None, mode: str = "") -> bool:
    """Return whether the client lets its agent call `memory_save` in a folder without asking the user.

    `config_dir` is the client's configuration folder, if not the default; `mode` is the `permission_mode` of a hook
    payload. The server may have two names: a rule against either counts against both. Never raises: an unreadable file
    allows nothing."""
    if mode == "plan":
        return False
    try:
        settings = ClientSettings(agent_folder(CLAUDE_CODE, os.environ, config_dir), cwd)
        files = settings.files()
        decisions = {server: _decide(settings, files, server).decision for server in (SERVER, PLUGIN_SERVER)}
        if not {"denied", "asked"}.isdisjoint(decisions.values()):
            return False
        if "allowed" in decisions.values():
            return True
        return mode == "bypassPermissions" and _is_registered(settings, files)
    except (OSError, ValueError, RuntimeError):
        return False


def permission(settings: ClientSettings, server: str = SERVER) -> Permission:
    """Return the client's decision about `memory_save` under a server's name."""
    return _decide(settings, settings.files(), server)


def _is_registered(settings: ClientSettings, files: Sequence[SettingsFile]) -> bool:
    """Return whether the client has the server, by its own entry or by the plugin."""
    return _SERVER_NAME in settings.servers() or any(_PLUGIN_NAME in file.rules.plugins for file in files)


def _decide(settings: ClientSettings, files: Sequence[SettingsFile], server: str) -> Permission:
    """Find the deciding rule: a `deny` rule of any file comes first, then `ask`, then `allow`."""
    name = f"{server}__{SAVE_TOOL}"
    if deciding := _first((file, rule) for file in files for rule in file.rules.deny if restricts(rule, name)):
        return Permission("denied", *deciding)
    if deciding := _first((file, rule) for file in files for rule in file.rules.ask if restricts(rule, name)):
        return Permission("asked", *deciding)
    allowing = ((file, rule) for file in files for rule in file.rules.allow if allows(rule, name))
    if deciding := _first((file, rule) for file, rule in allowing if settings.honours_allow(file)):
        return Permission("allowed", *deciding)
    return Permission("unset")


def allows(rule: str, name: str) -> bool:
    """Return whether an `allow` rule covers a tool. A wildcard counts only after the name of the server."""
    server = name.rpartition("__")[0]
    return rule == server or (rule.startswith(f"{server}__") and _fits(rule, name))


def restricts(rule: str, name: str) -> bool:
    """Return whether a `deny` or `ask` rule covers a tool. A wildcard counts anywhere."""
    return rule == name.rpartition("__")[0] or _fits(rule, name)


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


def _first(candidates: Iterable[tuple[SettingsFile, str]]) -> tuple[str, Path] | None:
    return next(((rule, file.path) for file, rule in candidates), None)
