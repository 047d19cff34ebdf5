"""Where each agent keeps its hooks, its MCP servers and its skills, for all work or in one project.

`install`, `uninstall` and `doctor` ask here; nothing is touched."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.install import claude_code, serving, skills
from claude_mem_lite.install.agent_tools import Places
from claude_mem_lite.install.claude_code import Scope

OWN_FILE = "claude-mem-lite.json"
SPOKEN = {
    CLAUDE_CODE: "Claude Code",
    "codex": "Codex CLI",
    "gemini": "Gemini CLI",
    "cursor": "Cursor",
    "copilot": "Copilot CLI",
}
"""The agents as people call them."""
PROGRAMS = {CLAUDE_CODE: "claude", "codex": "codex", "gemini": "gemini", "cursor": "Cursor", "copilot": "copilot"}


@dataclass(frozen=True, slots=True)
class Target:
    """One agent, for all work or in one project."""

    agent: str
    scope: Scope
    settings: Path
    """The file with the hooks."""
    tools: Places
    project: Path | None = None

    @property
    def folder(self) -> Path:
        """The agent's own folder, which should be there."""
        return self.settings.parent.parent if self.settings.name == OWN_FILE else self.settings.parent


def target_of(agent: str, scope: Scope, config_dir: Path | None, environment: Mapping[str, str]) -> Target:
    """The places of an agent; `config_dir` is its configuration folder, when that is another than usual."""
    project = Path.cwd().resolve() if scope == "project" else None
    if agent == CLAUDE_CODE:
        settings = Path(os.path.abspath(claude_code.settings_path(scope, config_dir, environment)))
        server = serving.place_of(scope, config_dir, environment)
        return Target(agent, scope, settings, Places(settings, server, skills.path_beside(settings)), project)
    return target_in(agent, _folder_of(agent, config_dir, environment), project)


def target_in(agent: str, folder: Path, project: Path | None) -> Target:
    """The places of an agent other than Claude Code in its configuration folder, or in a project."""
    scope: Scope = "project" if project else "user"
    settings, server_path, skill_folder = _files(agent, project / f".{agent}" if project else folder, project)
    inside = ("mcp_servers",) if server_path.suffix == ".toml" else ("mcpServers",)
    place, skill = serving.Place(server_path, inside, agent), skill_folder / skills.FOLDER / "SKILL.md"
    has_server = not (agent == "copilot" and project)
    return Target(agent, scope, settings, Places(settings, place, skill, agent, has_server), project)


def _folder_of(agent: str, config_dir: Path | None, environment: Mapping[str, str]) -> Path:
    if config_dir is not None:
        return Path(os.path.abspath(config_dir.expanduser()))
    if agent == "gemini":  # the variable names a home, in which it makes its folder
        return Path(environment.get("GEMINI_CLI_HOME") or Path.home()).expanduser().absolute() / ".gemini"
    chosen = environment.get({"codex": "CODEX_HOME", "copilot": "COPILOT_HOME"}.get(agent, ""))
    return Path(chosen).expanduser().absolute() if chosen else Path.home() / f".{agent}"


def _files(agent: str, folder: Path, project: Path | None) -> tuple[Path, Path, Path]:
    """The file of hooks, that of servers, and the folder of skills."""
    if agent == "codex":
        skill_folder = project / ".agents" / "skills" if project else folder / "skills"
        return folder / "hooks.json", folder / "config.toml", skill_folder
    if agent == "gemini":
        return folder / "settings.json", folder / "settings.json", folder / "skills"
    if agent == "cursor":
        return folder / "hooks.json", folder / "mcp.json", folder / "skills"
    if project:
        # Not .github/hooks: that is for everybody who has the repository, and our commands hold paths of this machine.
        own = project / ".github" / "copilot" / "settings.local.json"
        return own, own, project / ".github" / "skills"
    return folder / "hooks" / OWN_FILE, folder / "mcp-config.json", folder / "skills"
