"""Deletion of the data folder: files with names of this package, and nothing else.

A variable set to the wrong folder must not cost the user the folder."""

import os
import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.paths import Home

_OWN_NAMES = (
    "spool",
    "rendered",
    "installs",
    "guards",
    "claude_mem_lite",
    "inbox.db",
    "inbox.db-wal",
    "inbox.db-shm",
    "inbox.db-journal",
    "memory.db",
    "memory.db-wal",
    "memory.db-shm",
    "memory.db-journal",
    "code.db",
    "code.db-wal",
    "code.db-shm",
    "code.db-journal",
    "worker.sock",
    "worker.lock",
    "worker.pid",
    "worker.log",
    "worker.log.1",
    "worker.log.2",
    "worker.log.3",
    "start.lock",
    "rebuild.lock",
    "py",
    "worker-py",
    "off",
    "pauses",
    "dropped",
    "told",
    "config.toml",
    "synonyms.toml",
    "api-key",
    "team-url",
    "team-admin-url",
    "team-key",
    "backups",
    "restore.json",
    "replacing.json",
    "recoveries.json",
    "suspect",
    "open-files.json",
    "evaluation.json",
    "imported",
)
_LOG = r"(?:-wal|-shm|-journal)?"
_QUARANTINE = re.compile(r"(?:damaged|before-restore)-\d{8}T\d{6}Z(?:-\d+)?")
"""Folders in which a replaced database is kept."""
_UNFINISHED = re.compile(rf"(.+)\.new{_LOG}")
"""Unfinished files of a killed program."""
_UNFINISHED_SECRET = re.compile(r"\.(team-[a-z-]+)\.[0-9a-f]{16}")
"""Unfinished file of an earlier version, with a password or a key of a team; as `.tmp` among the rendered contexts."""
_LINK_TO_PAGE = re.compile(r"ui-\d+\.html")
"""File that a killed `ui` leaves."""
_OWN_NAMES_IN = {
    "backups": re.compile(rf"memory-\d{{8}}T\d{{6}}Z-\d{{12,}}\.db{_LOG}|\.making-\d+{_LOG}"),
    "pauses": re.compile(r"\d{20}(?:-[0-9a-f]{8})?"),
    "rendered": re.compile(r"[0-9a-f]{8}(?:\.new|\.tmp)?"),
}
"""Names of this package in folders in which the user may put files, such as a backup of their own."""
_QUARANTINED = re.compile(rf"(?:inbox|memory)\.db{_LOG}")


def is_own_name(name: str) -> bool:
    """Return whether a name in the home belongs to this package."""
    unfinished = _UNFINISHED.fullmatch(name) or _UNFINISHED_SECRET.fullmatch(name)
    is_generated = _QUARANTINE.fullmatch(name) or _LINK_TO_PAGE.fullmatch(name)
    return name in _OWN_NAMES or bool(unfinished and unfinished[1] in _OWN_NAMES) or bool(is_generated)


def is_own_name_in(folder: str, name: str) -> bool:
    """Return the same for a name in a folder of this package; in most folders every name does."""
    held = _QUARANTINED if _QUARANTINE.fullmatch(folder) else _OWN_NAMES_IN.get(folder)
    return held is None or held.fullmatch(name) is not None


def is_data_folder(home: Home) -> bool:
    """Return whether a folder has the marks of a home, and is no parent of the user's home."""
    user = Path.home().resolve()
    if home.root.resolve() in (user, *user.parents):
        return False
    return home.root.is_dir() and home.has_marks()


def purge(home: Home) -> list[Path]:
    """Delete all files of this package, events in fallback folders included; return what is left."""
    for path in list(home.root.iterdir()):
        if is_own_name(path.name):
            _delete(path)
    for folder in home.fallback_spools():
        if _is_own_folder(folder):
            shutil.rmtree(folder, ignore_errors=True)
    left = sorted(home.root.iterdir())
    if not left:
        # A home may be a link: the target is removed, then the link.
        Path(os.path.realpath(home.root)).rmdir()
        with suppress(FileNotFoundError):
            home.root.unlink()
    return left


def _delete(path: Path) -> None:
    if path.name in _OWN_NAMES_IN or _QUARANTINE.fullmatch(path.name):
        _delete_held(path)
    elif _is_own_folder(path):
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            path.unlink()


def _delete_held(folder: Path) -> None:
    """Delete the files of this package in a folder, and the folder if empty. A link is removed, its target stays."""
    with suppress(OSError):  # the rest is reported as left
        if not _is_own_folder(folder):
            folder.unlink()
            return
        for path in list(folder.iterdir()):
            if is_own_name_in(folder.name, path.name) and not _is_own_folder(path):
                path.unlink()
        folder.rmdir()


def _is_own_folder(path: Path) -> bool:
    """Return whether a path is a real folder of this user, not a trap of somebody else."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
