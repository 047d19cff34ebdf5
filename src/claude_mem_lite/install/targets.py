"""Where each agent keeps its hooks, its MCP servers and its skills, for all work or in one project, and how each is
spoken of.

`install`, `uninstall` and `doctor` ask here; nothing is touched."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import LOCAL_NAME, config_folder
from claude_mem_lite.install import mcp_registration, settings_files, skill_file
from claude_mem_lite.install.agent_extras import Places
from claude_mem_lite.install.install_record import Record

Scope = Literal["user", "project"]
OWN_FILE = "claude-mem-lite.json"


@dataclass(frozen=True, slots=True)
class Spoken:
    """How people call an agent, what they start, and what to know before its first session."""

    name: str
    program: str
    first: str = ""


SPOKEN = {
    CLAUDE_CODE: Spoken("Claude Code", "claude"),
    "codex": Spoken(
        "Codex CLI",
        "codex",
        "Codex runs new and changed hooks only once you have trusted them: type /hooks after you have started it.",
    ),
    "gemini": Spoken(
        "Gemini CLI",
        "gemini",
        "In a folder that Gemini CLI does not trust, no hooks run: it asks when it is first started there.",
    ),
    "cursor": Spoken(
        "Cursor",
        "Cursor",
        "Cursor reads its hooks when it starts: start it again. This was built from its documentation, not run.",
    ),
    "copilot": Spoken("Copilot CLI", "copilot", "This was built from Copilot CLI's documentation, not run."),
}


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
        return _folder_with(self.settings)


def settings_path(
    scope: Scope, config_dir: Path | None, environment: Mapping[str, str], project: Path | None = None
) -> Path:
    """The settings file of Claude Code.

    In a project it is the local one: the commands hold paths of this machine, which no colleague has."""
    if scope == "project":
        return (project or Path.cwd()) / ".claude" / LOCAL_NAME
    return config_folder(config_dir, environment) / "settings.json"


def target_of(
    agent: str, scope: Scope, config_dir: Path | None, environment: Mapping[str, str], project: Path | None = None
) -> Target:
    """The places of an agent; `config_dir` is its configuration folder, when that is another than usual, and `project`
    a folder other than the current one."""
    folder = (project or Path.cwd()).resolve() if scope == "project" else None
    if agent == CLAUDE_CODE:
        settings = settings_path(scope, config_dir, environment, project)
        server = mcp_registration.place_of(scope, config_dir, environment, project)
        return Target(agent, scope, settings, Places(settings, server, skill_file.path_beside(settings)), folder)
    return target_in(agent, _folder_of(agent, config_dir, environment), folder)


def target_of_record(one: Record, environment: Mapping[str, str] = os.environ) -> Target:
    """The places of the agent that a record tells of."""
    if one.project is None and one.settings.name != LOCAL_NAME:
        usual = target_of(one.agent, "user", None, environment)
        if settings_files.real_path(usual.settings) == one.settings:
            return usual
    folder = _folder_with(one.settings)
    if one.agent != CLAUDE_CODE:
        return target_in(one.agent, folder, one.project)
    if one.settings.name == LOCAL_NAME:
        return target_of(CLAUDE_CODE, "project", None, environment, one.settings.parent.parent)
    return target_of(CLAUDE_CODE, "user", folder, environment)


def install_command(agent: str, settings: Path, project: Path | None = None, option: str = "") -> str:
    """Return the step that installs into the same settings once more, with one more option if given."""
    command = "claude-mem-lite install" if agent == CLAUDE_CODE else f"claude-mem-lite install --agent {agent}"
    command += f" {option}" if option else ""
    if agent == CLAUDE_CODE and settings.name == LOCAL_NAME:
        project = settings.parent.parent
    if project is not None:
        return f"run `{command} --scope project` in {project}"
    if settings_files.real_path(target_of(agent, "user", None, os.environ).settings) != settings_files.real_path(
        settings
    ):
        command += f" --config-dir {shlex.quote(str(_folder_with(settings)))}"
    return f"run `{command}`"


def target_in(agent: str, folder: Path, project: Path | None) -> Target:
    """The places of an agent other than Claude Code in its configuration folder, or in a project."""
    scope: Scope = "project" if project else "user"
    settings, server_path, skill_folder = _files(agent, project / f".{agent}" if project else folder, project)
    inside = ("mcp_servers",) if server_path.suffix == ".toml" else ("mcpServers",)
    place, skill = mcp_registration.Place(server_path, inside, agent), skill_folder / skill_file.FOLDER / "SKILL.md"
    has_server = not (agent == "copilot" and project)
    return Target(agent, scope, settings, Places(settings, place, skill, agent, has_server), project)


def _folder_with(settings: Path) -> Path:
    """The configuration folder that a file of hooks is in."""
    return settings.parent.parent if settings.name == OWN_FILE else settings.parent


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
