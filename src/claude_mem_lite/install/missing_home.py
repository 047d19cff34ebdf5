"""Cause of a data folder that is not there though it should be: its disk is missing, or somebody deleted it.

Commands ask before they say that nothing is stored yet, and so does `doctor`. Nothing is touched."""

import os
from contextlib import suppress

from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.install import settings_files
from claude_mem_lite.install.targets import SPOKEN, target_of
from claude_mem_lite.paths import HOME_VARIABLE, Home


def why_missing(home: Home) -> MemoryLiteError | None:
    """The cause and the next step; None when the folder is there, or nothing tells that it ever was."""
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
    """The first settings of an agent whose hooks name the home; '' when none do."""
    for agent in SPOKEN:
        path = target_of(agent, "user", None, os.environ).settings
        with suppress(SettingsError):
            if f"{home.hook_program}".encode() in (settings_files.read(path) or b""):
                return str(path)
    return ""
