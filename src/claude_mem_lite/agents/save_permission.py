"""Permission to ask Claude Code to save lessons: by its own settings, and by ours."""

from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import config_folder_of_transcript
from claude_mem_lite.agents.permissions import tools_allowed
from claude_mem_lite.config import Config
from claude_mem_lite.models import Event


def may_save(config: Config, folder: str) -> bool:
    """Return whether Claude Code may be asked to save lessons in a folder: permitted, and enabled by the user."""
    return config.ask_agent and tools_allowed(Path(folder))


def may_save_in(config: Config, event: Event) -> bool:
    """Return whether the agent of an event may be asked to save lessons, by the settings of its session."""
    if not config.ask_agent or event.agent != CLAUDE_CODE:
        return False
    settings = config_folder_of_transcript(event.transcript) if event.transcript else None
    return tools_allowed(Path(event.cwd), settings, event.permission_mode)
