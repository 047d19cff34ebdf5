"""The PreToolUse hook of a project's guards."""

from collections.abc import Sequence
from pathlib import Path

from claude_mem_lite.paths import Home


def put_in(home: Home, folder: Path, tools: Sequence[str], project: str) -> None:
    """Put the hook in."""


def take_out(home: Home, folder: Path) -> None:
    """Take the hook out."""
