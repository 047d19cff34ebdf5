"""Paths of each agent's hooks, MCP servers and skills, for all work or in one project; and names of agents for people.

Used by `install`, `uninstall` and `doctor`. Touches no file."""

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from claude_mem_lite.agents.agent_folders import agent_folder
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import LOCAL_NAME
from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.install import agent_extras, mcp_registration, settings_files
from claude_mem_lite.install.agent_extras import ExtraPaths
from claude_mem_lite.install.install_record import Record
from claude_mem_lite.paths import HOME_VARIABLE, Home
from claude_mem_lite.values import frozen

Scope = Literal["user", "project"]
OWN_FILE = "claude-mem-lite.json"


@frozen
class AgentTexts:
    """Name of an agent, its program, and advice for its first session."""

    name: str
    program: str
    first: str = ""


AGENT_TEXTS = {
    CLAUDE_CODE: AgentTexts("Claude Code", "claude"),
    "codex": AgentTexts(
        "Codex CLI",
        "codex",
        "Codex runs new and changed hooks only once you have trusted them: type /hooks after you have started it.",
    ),
    "gemini": AgentTexts(
        "Gemini CLI",
        "gemini",
        "In a folder that Gemini CLI does not trust, no hooks run: it asks when it is first started there.",
    ),
    "cursor": AgentTexts(
        "Cursor",
        "Cursor",
        "Cursor reads its hooks when it starts: start it again. This was built from its documentation, not run.",
    ),
    "copilot": AgentTexts("Copilot CLI", "copilot"),
}


@frozen
class Target:
    """One agent, for all work or in one project."""

    agent: str
    scope: Scope
    settings: Path
    """The file with the hooks."""
    tools: ExtraPaths
    project: Path | None = None

    @property
    def folder(self) -> Path:
        """Return the agent's own folder, which should exist."""
        return _folder_with(self.settings)


def settings_path(
    scope: Scope, config_dir: Path | None, environment: Mapping[str, str], project: Path | None = None
) -> Path:
    """Return the settings file of Claude Code.

    In a project, the local file: the commands hold paths of this machine, which no colleague has."""
    if scope == "project":
        return (project or Path.cwd()) / ".claude" / LOCAL_NAME
    return agent_folder(CLAUDE_CODE, environment, config_dir) / "settings.json"


def target_of(
    agent: str, scope: Scope, config_dir: Path | None, environment: Mapping[str, str], project: Path | None = None
) -> Target:
    """Return the target of an agent; `config_dir` is an unusual configuration folder, and `project` a folder other than
    the current one."""
    folder = (project or Path.cwd()).resolve() if scope == "project" else None
    if agent == CLAUDE_CODE:
        settings = settings_path(scope, config_dir, environment, project)
        server = mcp_registration.location_of(scope, config_dir, environment, project)
        return Target(agent, scope, settings, ExtraPaths(settings, server, agent_extras.skill_path(settings)), folder)
    return target_in(agent, agent_folder(agent, environment, config_dir), folder)


def target_of_record(record: Record, environment: Mapping[str, str] = os.environ) -> Target:
    """Return the target of a record."""
    if record.project is None and record.settings.name != LOCAL_NAME:
        usual = target_of(record.agent, "user", None, environment)
        if settings_files.real_path(usual.settings) == record.settings:
            return usual
    folder = _folder_with(record.settings)
    if record.agent != CLAUDE_CODE:
        return target_in(record.agent, folder, record.project)
    if record.settings.name == LOCAL_NAME:
        return target_of(CLAUDE_CODE, "project", None, environment, record.settings.parent.parent)
    return target_of(CLAUDE_CODE, "user", folder, environment)


def install_command(agent: str, settings: Path, project: Path | None = None, option: str = "") -> str:
    """Return the step that installs into the same settings again, with one more option if given."""
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
    """Return the target of an agent other than Claude Code in its configuration folder, or in a project."""
    scope: Scope = "project" if project else "user"
    settings, server_path, skill_folder = _files(agent, project / f".{agent}" if project else folder, project)
    inside = ("mcp_servers",) if server_path.suffix == ".toml" else ("mcpServers",)
    location, skill = (
        mcp_registration.ServerLocation(server_path, inside, agent),
        skill_folder / agent_extras.FOLDER / "SKILL.md",
    )
    has_server = not (agent == "copilot" and project)
    return Target(agent, scope, settings, ExtraPaths(settings, location, skill, agent, has_server), project)


def _folder_with(settings: Path) -> Path:
    return settings.parent.parent if settings.name == OWN_FILE else settings.parent


def _files(agent: str, folder: Path, project: Path | None) -> tuple[Path, Path, Path]:
    """Return the file of hooks, the file of servers, and the folder of skills."""
    if agent == "codex":
        skill_folder = project / ".agents" / "skills" if project else folder / "skills"
        return folder / "hooks.json", folder / "config.toml", skill_folder
    if agent == "gemini":
        return folder / "settings.json", folder / "settings.json", folder / "skills"
    if agent == "cursor":
        return folder / "hooks.json", folder / "mcp.json", folder / "skills"
    if project:
        # Not .github/hooks: everybody with the repository shares that folder, and our commands hold paths of this
        # machine.
        local_settings = project / ".github" / "copilot" / "settings.local.json"
        return local_settings, local_settings, project / ".github" / "skills"
    return folder / "hooks" / OWN_FILE, folder / "mcp-config.json", folder / "skills"


def why_missing(home: Home) -> MemoryLiteError | None:
    """Return the cause and the next step; None if the folder exists, or nothing proves that it ever did."""
    if home.root.exists():
        return None
    if home.root.is_symlink():
        target = os.readlink(home.root)
        step = "mount the disk that it is on; if it is gone for good, remove the link"
        return MemoryLiteError(f"{home.root} is a link to {target}, which is not there", step)
    if not home.root.parent.exists():
        step = f"mount the disk that it is on, or set {HOME_VARIABLE} to another place"
        return MemoryLiteError(f"the data folder should be in {home.root.parent}, which is not there", step)
    if settings := _using(home):
        step = "mount the disk that it is on; if it was deleted, `claude-mem-lite install` begins anew"
        return MemoryLiteError(f"{home.root} is not there, though the hooks in {settings} use it", step)
    return None


def _using(home: Home) -> str:
    """Return the first settings of an agent whose hooks name the home; '' if none do."""
    for agent in AGENT_TEXTS:
        path = target_of(agent, "user", None, os.environ).settings
        with suppress(SettingsError):
            if f"{home.hook_program}".encode() in (settings_files.read(path) or b""):
                return str(path)
    return ""
