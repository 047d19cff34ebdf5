"""Databases set aside: damaged or replaced files, kept in folders of the home."""

import logging
import os
import re
from collections.abc import Collection
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from claude_mem_lite.db import backup_files
from claude_mem_lite.db.integrity import damage_of
from claude_mem_lite.paths import Home

DAMAGED, BEFORE_RESTORE = "damaged-", "before-restore-"
# Folders and files with other names belong to the user, and are neither emptied nor deleted.
_ASIDE = re.compile(r"(?:damaged|before-restore)-\d{8}T\d{6}Z(?:-\d+)?")
_FILES_ASIDE = re.compile(r"(?:memory|inbox)\.db(?:-wal|-shm|-journal)?")
_MAX_ASIDE = 3
log = logging.getLogger(__name__)


def folders(home: Home) -> list[Path]:
    """Return the folders with replaced databases, oldest first."""
    found = [path for path in home.root.glob("*-*") if _ASIDE.fullmatch(path.name)]
    return sorted((path for path in found if path.is_dir() and not path.is_symlink()), key=_time_in)


def forget(home: Home, names: Collection[str]) -> None:
    """Delete databases that may hold forgotten names: a damaged file cannot be searched.

    The database before a restore stays if it is sound and has none of the names. May raise OSError or sqlite3.Error."""
    for folder in folders(home):
        undo = folder / home.memory_db.name
        may_stay = folder.name.startswith(BEFORE_RESTORE) and undo.is_file() and not backup_files.holds(undo, names)
        stays = may_stay and not damage_of(undo, thoroughly=True)
        _empty(folder, but_for=undo.name if stays else "")


def newest_sound(home: Home) -> Path | None:
    """Return the newest memory.db that was set aside and can be restored."""
    kept = [folder / home.memory_db.name for folder in reversed(folders(home))]
    return next((path for path in kept if backup_files.can_be_restored(path)), None)


def new_name(home: Home, kind: str, target: Path, now: datetime) -> str:
    """Return the name of a folder that has no file of the name of `target` yet."""
    name = f"{kind}{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    others = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain((name,), others) if not os.path.lexists(home.root / free / target.name))


def drop_old(home: Home) -> None:
    """Delete all but the newest folders: repeated damage must not fill the disk."""
    kept = folders(home)
    # Each kind separately: two restores by hand must not delete the only damaged file.
    kinds = ([folder for folder in kept if folder.name.startswith(kind)] for kind in (DAMAGED, BEFORE_RESTORE))
    for folder in (old for of_kind in kinds for old in of_kind[:-_MAX_ASIDE]):
        try:
            _empty(folder)
        except OSError:  # no reason not to start
            log.exception("what was set aside is still there", extra={"aside": folder.name})


def _empty(folder: Path, but_for: str = "") -> None:
    """Remove the databases of a folder, except `but_for` and its logs, and an empty folder; may raise OSError.

    Other files belong to the user."""
    for path in folder.iterdir():
        is_kept = bool(but_for) and path.name.startswith(but_for)
        if _FILES_ASIDE.fullmatch(path.name) and not is_kept and (path.is_symlink() or not path.is_dir()):
            path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _time_in(folder: Path) -> str:
    return folder.name.removeprefix(DAMAGED).removeprefix(BEFORE_RESTORE)
