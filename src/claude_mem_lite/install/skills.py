"""The skill that teaches an agent when to use its memory: written beside the agent's settings and removed again.

A file that somebody changed is the user's, and stays."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Literal

from claude_mem_lite.install import files

FOLDER = "claude-mem-lite"
State = Literal["absent", "current", "changed"]


def content() -> bytes:
    return resources.files("claude_mem_lite").joinpath("plugin", "skills", FOLDER, "SKILL.md").read_bytes()


def path_beside(settings: Path) -> Path:
    """Where the skill stands for the agent that reads these settings."""
    return settings.parent / "skills" / FOLDER / "SKILL.md"


def state_of(path: Path) -> State:
    found = files.read(path)
    if found is None:
        return "absent"
    return "current" if found == content() else "changed"


def add(path: Path) -> tuple[Path, ...]:
    """Write the skill, unless somebody has one of his own there; the folders that were made for it."""
    if state_of(path) != "absent":
        return ()
    made = files.make_folders(path.parent)
    files.replace(path, None, content())
    return made


def remove(path: Path, folders: Sequence[Path]) -> State:
    """Remove the skill if it is as we wrote it, with the folders made for it that are empty now; how it was before."""
    before = state_of(path)
    if before == "current":
        files.delete(path)
        files.remove_empty(folders or [path.parent])
    return before
