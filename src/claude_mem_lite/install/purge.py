"""Deleting the data folder: what is ours by name, and nothing else that may lie there.

A variable set to the wrong folder must not cost the user that folder."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.paths import Home

_OURS = (
    "spool",
    "rendered",
    "installs",
    "claude_mem_lite",
    "inbox.db",
    "inbox.db-wal",
    "inbox.db-shm",
    "memory.db",
    "memory.db-wal",
    "memory.db-shm",
    "code.db",
    "code.db-wal",
    "code.db-shm",
    "worker.sock",
    "worker.lock",
    "worker.pid",
    "worker.log",
    "worker.log.1",
    "worker.log.2",
    "worker.log.3",
    "start.lock",
    "py",
    "worker-py",
    "off",
    "dropped",
    "config.toml",
    "synonyms.toml",
    "api-key",
    "backups",
    "restore.json",
    "replacing.json",
    "recoveries.json",
    "suspect",
)
_BEGINNINGS = ("damaged-", "before-restore-")
"""Of the folders in which a database was put aside."""


def is_name_of_ours(name: str) -> bool:
    """Whether something in the home is ours by its name."""
    made_ready, _, _ = name.partition(".new")  # what a worker that was killed had made ready
    return name in _OURS or made_ready in _OURS or name.startswith(_BEGINNINGS)


def is_data_folder(home: Home) -> bool:
    """Whether a folder has the marks of a home: a database or an install of ours, or our own spool."""
    user = Path.home().resolve()
    if home.root.resolve() in (user, *user.parents):
        return False
    marks = (home.inbox_db, home.memory_db, home.installs, home.hook_program, home.spool_new)
    return home.root.is_dir() and any(mark.exists() for mark in marks)


def purge(home: Home) -> list[Path]:
    """Delete everything of ours, the events that wait elsewhere included; what else was there is left and named."""
    for path in list(home.root.iterdir()):
        if is_name_of_ours(path.name):
            _delete(path)
    for place in home.fallback_spools():
        if _is_own_folder(place):
            shutil.rmtree(place, ignore_errors=True)
    left = sorted(home.root.iterdir())
    if not left:
        # A home that is a link to another place: the place goes, then the link.
        Path(os.path.realpath(home.root)).rmdir()
        with suppress(FileNotFoundError):
            home.root.unlink()
    return left


def _delete(path: Path) -> None:
    if _is_own_folder(path):
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            path.unlink()


def _is_own_folder(path: Path) -> bool:
    """A real folder of this user: nothing that somebody else has put in the way."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
