"""Temporary folder of a walk, under a name that is the same in every run.

Stored texts contain the path of the checkout: a random name would change their words, and with the words the ranking
of search."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from claude_mem_lite.errors import MemoryLiteError

_MAX_FOLDERS = 1000


@contextmanager
def walk_folder() -> Iterator[Path]:
    """Yield a new folder that only the user can read, and remove it at the end."""
    folder = _made()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _made() -> Path:
    """Make the first folder of a fixed series of names; other walks at the same time take later ones."""
    for number in range(_MAX_FOLDERS):
        folder = Path(tempfile.gettempdir(), _name(f"{number:03d}"))
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return folder
    raise MemoryLiteError(
        f"{_MAX_FOLDERS} folders of interrupted runs are left in {tempfile.gettempdir()}",
        f"delete those that begin with {_name('')}",
    )


def _name(number: str) -> str:
    return f"claude-mem-lite-walk-{os.getuid()}-{number}"
