"""The skill that teaches an agent when to use its memory: written beside the agent's settings and removed again.

A file that somebody changed is the user's, and stays. What an install wrote is known by its checksum, also when the
skill of this version is another one."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Literal

from claude_mem_lite.install import install_record, settings_files

FOLDER = "claude-mem-lite"
State = Literal["absent", "current", "other", "changed"]
"""`other` is one of ours, as an install of another version wrote it."""


def content() -> bytes:
    return resources.files("claude_mem_lite").joinpath("plugin", "skills", FOLDER, "SKILL.md").read_bytes()


def path_beside(settings: Path) -> Path:
    """Where the skill stands for the agent that reads these settings."""
    return settings.parent / "skills" / FOLDER / "SKILL.md"


def state_of(path: Path, written_sha256: str) -> State:
    """How the skill stands; `written_sha256` is of what the last install wrote, '' when that is not known."""
    return _state(settings_files.read(path), written_sha256)


def add(path: Path, written_sha256: str) -> tuple[Path, ...]:
    """Write the skill, unless somebody has one of his own there; the folders that were made for it."""
    before = settings_files.read(path)
    if _state(before, written_sha256) not in ("absent", "other"):
        return ()
    made = settings_files.make_folders(path.parent)
    settings_files.replace(path if before is None else settings_files.real_path(path), before, content())
    return made


def remove(path: Path, folders: Sequence[Path], written_sha256: str) -> State:
    """Remove the skill if it is as we wrote it, with the folders made for it that are empty now; how it was before."""
    before = state_of(path, written_sha256)
    if before in ("current", "other"):
        settings_files.delete(path)
    if before != "changed":  # also where it is gone: an uninstall that was stopped may have left them
        settings_files.remove_empty(folders or ([path.parent] if before != "absent" else []))
    return before


def _state(found: bytes | None, written_sha256: str) -> State:
    if found is None:
        return "absent"
    if found == content():
        return "current"
    return "other" if install_record.sha256(found) == written_sha256 else "changed"
