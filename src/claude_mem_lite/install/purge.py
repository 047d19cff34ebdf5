"""Deleting the data folder: what is ours by name, and nothing else that may lie there.

A variable set to the wrong folder must not cost the user that folder."""

import os
import re
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
    "backups",
    "restore.json",
    "replacing.json",
    "recoveries.json",
    "suspect",
    "open-files.json",
)
_LOG = r"(?:-wal|-shm|-journal)?"
_PUT_ASIDE = re.compile(r"(?:damaged|before-restore)-\d{8}T\d{6}Z(?:-\d+)?")
"""The folders in which a database was put aside."""
_MADE_READY = re.compile(rf"(.+)\.new{_LOG}")
"""What a worker that was killed had made ready."""
_LINK_TO_PAGE = re.compile(r"ui-\d+\.html")
"""What `ui` leaves when it is killed."""
_HELD = {
    "backups": re.compile(rf"memory-\d{{8}}T\d{{6}}Z-\d{{12,}}\.db{_LOG}|\.making-\d+{_LOG}"),
    "pauses": re.compile(r"\d{20}(?:-[0-9a-f]{8})?"),
    "rendered": re.compile(r"[0-9a-f]{8}(?:\.tmp)?"),
}
"""What is ours in folders that the user may put files into: a backup of his own, say."""
_HELD_ASIDE = re.compile(rf"(?:inbox|memory)\.db{_LOG}")


def is_name_of_ours(name: str) -> bool:
    """Whether something in the home is ours by its name."""
    made_ready = _MADE_READY.fullmatch(name)
    is_made = _PUT_ASIDE.fullmatch(name) or _LINK_TO_PAGE.fullmatch(name)
    return name in _OURS or bool(made_ready and made_ready[1] in _OURS) or bool(is_made)


def is_name_of_ours_in(folder: str, name: str) -> bool:
    """The same for something in a folder of ours; in most of them all is."""
    held = _HELD_ASIDE if _PUT_ASIDE.fullmatch(folder) else _HELD.get(folder)
    return held is None or held.fullmatch(name) is not None


def is_data_folder(home: Home) -> bool:
    """Whether a folder has the marks of a home, and is none that holds the user himself."""
    user = Path.home().resolve()
    if home.root.resolve() in (user, *user.parents):
        return False
    return home.root.is_dir() and home.has_marks()


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
    if path.name in _HELD or _PUT_ASIDE.fullmatch(path.name):
        _delete_held(path)
    elif _is_own_folder(path):
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            path.unlink()


def _delete_held(folder: Path) -> None:
    """What is ours in a folder, and the folder if nothing else is in it. A link goes, what it leads to stays."""
    with suppress(OSError):  # what cannot go is told as left
        if not _is_own_folder(folder):
            folder.unlink()
            return
        for path in list(folder.iterdir()):
            if is_name_of_ours_in(folder.name, path.name) and not _is_own_folder(path):
                path.unlink()
        folder.rmdir()


def _is_own_folder(path: Path) -> bool:
    """A real folder of this user: nothing that somebody else has put in the way."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
