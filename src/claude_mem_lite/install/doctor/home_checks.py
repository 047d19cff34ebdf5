"""The data folder: that it is there, is the user's alone, has room, and holds nothing that was left lying."""

import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.event_names import is_spool_name, time_of
from claude_mem_lite.install.doctor.check import FIX, INSTALL, Check
from claude_mem_lite.install.missing_home import why_missing
from claude_mem_lite.install.purge import is_name_of_ours, is_name_of_ours_in
from claude_mem_lite.paths import HOME_VARIABLE, Home

BACKLOG_AGE_S = 300
LOW_DISK_BYTES, FULL_DISK_BYTES = 500 * 2**20, 20 * 2**20
MAX_FILES = 50_000
"""More than a home ever holds, but for a spool that nobody takes in."""
FUTURE_S = 300
_OTHERS, _OWNER = 0o077, 0o700
# Files that the user makes with an editor, without anything in them that is secret. Nobody else gets to them anyway.
_OF_THE_USER = ("config.toml", "synonyms.toml")


def check_home(home: Home, setup: str = INSTALL) -> Check:
    """Whether the folder can be used; `setup` is what makes one."""
    try:
        found = home.root.stat()
    except OSError as error:
        if cause := why_missing(home):
            return Check("data folder", "fail", cause.message, cause.next_step)
        return Check("data folder", "fail", f"{home.root}: {(error.strerror or '').lower()}", setup)
    if not stat.S_ISDIR(found.st_mode):
        return Check(
            "data folder", "fail", f"{home.root} is a file, not a folder", f"set {HOME_VARIABLE} to another place"
        )
    if found.st_uid != os.getuid():
        return Check("data folder", "fail", f"{home.root} belongs to another user", f"chown it to user {os.getuid()}")
    mode = stat.S_IMODE(found.st_mode)
    if not is_ours(home):
        step = f"set {HOME_VARIABLE} to a folder that is new or empty"
        return Check("data folder", "fail", f"{home.root} holds other files and nothing of this memory", step)
    if mode & _OWNER != _OWNER:
        told = f"{home.root} is closed to yourself (mode {mode:03o})"
        return Check("data folder", "fail", told, f"{FIX}; until then {home.fate_of_events()}")
    if not os.access(home.root, os.W_OK):
        return Check(
            "data folder",
            "fail",
            f"{home.root} cannot be written",
            "make it writable; until then hooks keep events elsewhere",
        )
    if found.st_mode & _OTHERS:
        return Check("data folder", "fail", f"others may look into {home.root} ({mode:o})", f"chmod 700 {home.root}")
    return Check("data folder", "ok", str(home.root))


def is_ours(home: Home) -> bool:
    """Whether it is not known to be somebody else's: one that cannot be looked into tells nothing."""
    try:
        return home.is_ours()
    except OSError:
        return True


def check_permissions(home: Home) -> Check:
    """Whether every file of ours is the user's, and closed to others. What else lies there is the user's affair."""
    open_ones: list[Path] = []
    shared: list[Path] = []
    for path, found in entries(home):
        if found.st_uid != os.getuid():
            told = f"{path} belongs to another user"
            return Check("permissions", "fail", told, f"run `sudo chown -R {os.getuid()} {home.root}`")
        if found.st_mode & _OTHERS:
            (shared if is_shared(found) else open_ones).append(path)
    if closed := closed_to_self(home):
        more = f", and so are {len(closed) - 1:,} more" if len(closed) > 1 else ""
        mode = stat.S_IMODE(closed[0][1].st_mode)
        return Check("permissions", "fail", f"{closed[0][0]} is closed to yourself (mode {mode:03o}){more}", FIX)
    if open_ones:
        more = f" and {len(open_ones) - 1:,} more" if len(open_ones) > 1 else ""
        return Check("permissions", "warn", f"{open_ones[0]}{more} would be open to others", FIX)
    if shared:
        told = f"{shared[0]} has another name elsewhere, by which others may read it"
        return Check("permissions", "warn", told, f"run `chmod go= {shared[0]}`, or remove one of the two")
    if link := _open_link(home):
        told = f"{link} leads to {link.resolve()}, which is open to others"
        return Check("permissions", "warn", told, f"run `chmod go= {link.resolve()}`")
    return Check("permissions", "ok", "all of it is yours alone")


def entries(home: Home) -> Iterator[tuple[Path, os.stat_result]]:
    """Every folder and file of ours in the home, with how it is; links and what is not ours by name are left out."""
    left = MAX_FILES
    waiting = [home.root / name for name in _names(home.root) if is_name_of_ours(name) and name not in _OF_THE_USER]
    while waiting and left:
        left -= 1
        path = waiting.pop()
        try:
            found = path.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode):
            is_known = path.parent == home.root
            names = (one for one in _names(path, hidden=True) if not is_known or is_name_of_ours_in(path.name, one))
            waiting += [path / name for name in names]
        if not stat.S_ISLNK(found.st_mode):
            yield path, found


def closed_to_self(home: Home) -> list[tuple[Path, os.stat_result]]:
    """What of ours its own owner may not read or write, by its mode."""
    return [
        (path, found)
        for path, found in entries(home)
        if found.st_uid == os.getuid() and found.st_mode & least_mode(found) != least_mode(found)
    ]


def least_mode(found: os.stat_result) -> int:
    """What the owner of a file or a folder of ours has to be allowed."""
    return 0o700 if stat.S_ISDIR(found.st_mode) else 0o600


def is_shared(found: os.stat_result) -> bool:
    """Whether a file has another name, which is nothing of ours: a link of the user's, or a copy that shares it."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink > 1


def _open_link(home: Home) -> Path | None:
    """Something of ours that is kept elsewhere, where others may look into it."""
    held = (home.spool_new.parent, home.rendered, home.backups, home.installs, home.memory_db, home.inbox_db)
    for path in held:
        with suppress(OSError):
            if path.is_symlink() and path.stat().st_mode & _OTHERS:
                return path
    return None


def check_spool(home: Home, now_s: float) -> Check:
    """Whether events were left lying: in the spool for long, or in a fallback place at all."""
    if home.dropped.exists():
        return Check("spool", "fail", "too many events wait; new ones are let go", "run `claude-mem-lite worker drain`")
    strayed = [place for place in home.fallback_spools() if _names(place)]
    if strayed:
        where = ", ".join(map(str, strayed))
        return Check("spool", "warn", f"events wait in {where}", f"see that {home.root} can be written")
    waiting = _names(home.spool_new)
    old = [name for name in waiting if is_spool_name(name) and now_s - time_of(name).timestamp() > BACKLOG_AGE_S]
    if old:
        return Check("spool", "warn", f"{len(old)} events wait for long", "run `claude-mem-lite worker drain`")
    return Check("spool", "ok", f"{len(waiting)} events wait")


def check_disk(home: Home) -> Check:
    free = shutil.disk_usage(home.root).free
    told = f"{free // 2**20:,} MiB free"
    if free < FULL_DISK_BYTES:
        return Check("disk", "fail", told, "make room, or move the data folder with CLAUDE_MEM_LITE_HOME")
    return Check("disk", "warn" if free < LOW_DISK_BYTES else "ok", told, "make room" if free < LOW_DISK_BYTES else "")


def check_clock(home: Home, now_s: float, newest_s: float | None) -> Check:
    """Whether anything is from the future: then the clock was ahead once, or is behind now."""
    moments = [time_of(name).timestamp() for name in _names(home.spool_new) if is_spool_name(name)]
    moments += [path.stat().st_mtime for path in (home.inbox_db, home.memory_db, home.worker_log) if path.is_file()]
    latest = max((*moments, *([newest_s] if newest_s is not None else [])), default=0.0)
    if latest > now_s + FUTURE_S:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(latest))
        return Check(
            "clock",
            "warn",
            f"the newest of what is stored is of {when} UTC, which is still to come",
            "set the clock right; if it is, it was ahead once, and nothing need be done",
        )
    return Check("clock", "ok", "nothing stored is from the future")


def _names(folder: Path, *, hidden: bool = False) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if hidden or not name.startswith(".")]
    except OSError:
        return []
