"""Own folders of the agents' clients, with their settings and sessions. Touches no file."""

import os
from collections.abc import Mapping
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE

VARIABLES: Mapping[str, str] = {
    CLAUDE_CODE: "CLAUDE_CONFIG_DIR",
    "codex": "CODEX_HOME",
    "copilot": "COPILOT_HOME",
    "gemini": "GEMINI_CLI_HOME",
    "opencode": "XDG_DATA_HOME",
}
"""Variables of the environment that a client takes its folder from; Cursor has none."""
_INSIDE = {"gemini": ".gemini", "opencode": "opencode"}
"""Folders that clients make inside the folder of their variable."""
_USUAL = {CLAUDE_CODE: ".claude", "opencode": ".local/share/opencode"}


def agent_folder(agent: str, environment: Mapping[str, str], chosen: Path | None = None) -> Path:
    """Return the own folder of an agent: the chosen one, else by the agent's variable, else the usual one."""
    if chosen is not None:
        return _absolute(str(chosen))
    if named := environment.get(VARIABLES.get(agent, "")):
        return _absolute(named) / _INSIDE.get(agent, "")
    return Path.home() / _USUAL.get(agent, f".{agent}")


def environment_with(agent: str, folder: Path, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment in which an agent has a folder."""
    named = folder.parent if agent in _INSIDE else folder
    return {**environment, VARIABLES[agent]: str(named)} if agent in VARIABLES else environment


def _absolute(folder: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(folder)))
