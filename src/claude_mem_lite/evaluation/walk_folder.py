"""Temporary folder of a walk, under a name of the same words in every run.

Stored texts contain the path of the checkout: other words would change the ranking of search. Walks at the same time
have the words in another order, which no ranking sees."""

import fcntl
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from claude_mem_lite.errors import MemoryLiteError

_WORDS = "abcde"
_LEFT_AFTER_S = 10.0
"""Age up to which a folder is never taken for a left one: its walk may not have locked the folder yet."""

_REMOVAL_ATTEMPTS = 10
"""Removals of a folder in which running threads still write."""
_folders: set[Path] = set()
"""Folders of the walks of this process."""


@contextmanager
def walk_folder() -> Iterator[Path]:
    """Yield a new folder that only the user can read, and remove it at the end."""
    remove_left_folders()
    folder = _made()
    _folders.add(folder)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _folders.discard(folder)
        os.close(lock)


def remove_walk_folders() -> None:
    """Remove the folders of the walks of this process, which must end now."""
    for folder in tuple(_folders):
        for _ in range(_REMOVAL_ATTEMPTS):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break


def remove_left_folders() -> int:
    """Remove the folders of this user's killed walks, and return their number: they hold files as the sessions saw
    them, secrets included."""
    return sum(_remove_left(folder) for folder in Path(tempfile.gettempdir()).glob(_name("*")))


def _made() -> Path:
    """Make the first folder of a fixed series of names; other walks at the same time take later ones."""
    for order in itertools.permutations(_WORDS):
        folder = Path(tempfile.gettempdir(), _name("-".join(order)))
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return folder
    raise MemoryLiteError(
        f"too many folders of interrupted runs are left in {tempfile.gettempdir()}",
        f"delete those that begin with {_name('')}",
    )


def _name(end: str) -> str:
    return f"claude-mem-lite-walk-{os.getuid()}-{end}"


def _remove_left(folder: Path) -> bool:
    """Remove the folder of a killed walk, whose lock is free; return whether it is gone."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # it is a link, or not ours
        return False
    try:
        found = os.fstat(lock)
        if found.st_uid != os.getuid() or time.time() - found.st_mtime <= _LEFT_AFTER_S:
            return False
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The folder may have been removed meanwhile, and another walk may have made one of the same name.
        if os.path.samestat(found, folder.lstat()):
            shutil.rmtree(folder, ignore_errors=True)
            return not folder.exists()
        return False
    except (BlockingIOError, FileNotFoundError):
        return False
    finally:
        os.close(lock)
