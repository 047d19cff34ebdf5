"""Checks of the data folder and the settings: existence, privacy, disk space, events left behind, readable files."""

import os
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.config import Config, project_settings
from claude_mem_lite.config_loader import load_config, read_synonyms
from claude_mem_lite.errors import ConfigError, joined
from claude_mem_lite.event_names import is_spool_name, time_of
from claude_mem_lite.install.doctor.check import FIX, INSTALL, Check
from claude_mem_lite.install.purge import is_own_name, is_own_name_in
from claude_mem_lite.install.targets import why_missing
from claude_mem_lite.paths import HOME_VARIABLE, Home
from claude_mem_lite.project_config import ALLOWED, NAME

BACKLOG_AGE_S = 300
LOW_DISK_BYTES, FULL_DISK_BYTES = 500 * 2**20, 20 * 2**20
MAX_FILES = 50_000
"""More than a home ever holds, except for a spool without a worker."""
FUTURE_S = 300
_OTHERS, _OWNER = 0o077, 0o700
# Files that the user makes with an editor, without secrets. The home is closed to others anyway.
_OF_THE_USER = ("config.toml", "synonyms.toml")


def check_home(home: Home, setup: str = INSTALL) -> Check:
    """Check that the folder can be used; `setup` is the step that makes a folder."""
    try:
        status = home.root.stat()
    except OSError as error:
        if cause := why_missing(home):
            return Check("data folder", "fail", cause.message, cause.next_step)
        return Check("data folder", "fail", f"{home.root}: {(error.strerror or '').lower()}", setup)
    if not stat.S_ISDIR(status.st_mode):
        return Check(
            "data folder", "fail", f"{home.root} is a file, not a folder", f"set {HOME_VARIABLE} to another place"
        )
    if status.st_uid != os.getuid():
        return Check("data folder", "fail", f"{home.root} belongs to another user", f"chown it to user {os.getuid()}")
    mode = stat.S_IMODE(status.st_mode)
    if not is_ours(home):
        step = f"set {HOME_VARIABLE} to a folder that is new or empty"
        return Check("data folder", "fail", f"{home.root} holds other files and nothing of this memory", step)
    if mode & _OWNER != _OWNER:
        finding = f"{home.root} is closed to yourself (mode {mode:03o})"
        return Check("data folder", "fail", finding, f"{FIX}; until then {home.fate_of_events()}")
    if not os.access(home.root, os.W_OK):
        return Check(
            "data folder",
            "fail",
            f"{home.root} cannot be written",
            "make it writable; until then hooks keep events elsewhere",
        )
    if status.st_mode & _OTHERS:
        return Check("data folder", "fail", f"other users can read {home.root} ({mode:o})", f"chmod 700 {home.root}")
    return Check("data folder", "ok", str(home.root))


def is_ours(home: Home) -> bool:
    """Return whether the folder may belong to this package: an unreadable folder counts as ours."""
    try:
        return home.is_ours()
    except OSError:
        return True


def check_permissions(home: Home) -> Check:
    """Check that every file of this package belongs to the user, and is closed to others. Other files are the user's
    affair."""
    open_ones: list[Path] = []
    shared: list[Path] = []
    for path, status in entries(home):
        if status.st_uid != os.getuid():
            finding = f"{path} belongs to another user"
            return Check("permissions", "fail", finding, f"run `sudo chown -R {os.getuid()} {home.root}`")
        if status.st_mode & _OTHERS:
            (shared if is_shared(status) else open_ones).append(path)
    if closed := closed_to_self(home):
        more = f", and so are {len(closed) - 1:,} more" if len(closed) > 1 else ""
        mode = stat.S_IMODE(closed[0][1].st_mode)
        return Check("permissions", "fail", f"{closed[0][0]} is closed to yourself (mode {mode:03o}){more}", FIX)
    if open_ones:
        more = f" and {len(open_ones) - 1:,} more" if len(open_ones) > 1 else ""
        return Check("permissions", "warn", f"{open_ones[0]}{more} would be open to others", FIX)
    if shared:
        finding = f"{shared[0]} has another name elsewhere, by which others may read it"
        return Check("permissions", "warn", finding, f"run `chmod go= {shared[0]}`, or remove one of the two")
    if link := _open_link(home):
        finding = f"{link} leads to {link.resolve()}, which is open to others"
        return Check("permissions", "warn", finding, f"run `chmod go= {link.resolve()}`")
    return Check("permissions", "ok", "all of it is yours alone")


def entries(home: Home) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield every folder and file of this package in the home, with its status; links and foreign names are left
    out."""
    left = MAX_FILES
    waiting = [home.root / name for name in _names(home.root) if is_own_name(name) and name not in _OF_THE_USER]
    while waiting and left:
        left -= 1
        path = waiting.pop()
        try:
            status = path.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):
            is_known = path.parent == home.root
            names = (name for name in _names(path, hidden=True) if not is_known or is_own_name_in(path.name, name))
            waiting += [path / name for name in names]
        if not stat.S_ISLNK(status.st_mode):
            yield path, status


def closed_to_self(home: Home) -> list[tuple[Path, os.stat_result]]:
    """Return files of this package that their own owner may not read or write, by mode."""
    return [
        (path, status)
        for path, status in entries(home)
        if status.st_uid == os.getuid() and status.st_mode & min_mode(status) != min_mode(status)
    ]


def min_mode(status: os.stat_result) -> int:
    """Return the permissions that the owner of a file or folder of this package needs."""
    return 0o700 if stat.S_ISDIR(status.st_mode) else 0o600


def is_shared(status: os.stat_result) -> bool:
    """Return whether a file has another name outside of the package: a link of the user's, or a copy that shares the
    file."""
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1


def _open_link(home: Home) -> Path | None:
    """Return a linked file or folder of this package outside of the home that is open to others."""
    held = (home.spool_new.parent, home.rendered, home.backups, home.installs, home.memory_db, home.inbox_db)
    for path in held:
        with suppress(OSError):
            if path.is_symlink() and path.stat().st_mode & _OTHERS:
                return path
    return None


def check_spool(home: Home, now_s: float) -> Check:
    """Check for events left behind: for long in the spool, or at all in a fallback folder."""
    if home.dropped.exists():
        return Check("spool", "fail", "too many events wait; new ones are let go", "run `claude-mem-lite worker drain`")
    strayed = [folder for folder in home.fallback_spools() if _names(folder)]
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
    finding = f"{free // 2**20:,} MiB free"
    if free < FULL_DISK_BYTES:
        return Check("disk", "fail", finding, "make room, or move the data folder with CLAUDE_MEM_LITE_HOME")
    return Check(
        "disk", "warn" if free < LOW_DISK_BYTES else "ok", finding, "make room" if free < LOW_DISK_BYTES else ""
    )


def check_clock(home: Home, now_s: float, newest_s: float | None) -> Check:
    """Check for times in the future: the clock was ahead once, or is behind now."""
    moments = [time_of(name).timestamp() for name in _names(home.spool_new) if is_spool_name(name)]
    moments += [path.stat().st_mtime for path in (home.inbox_db, home.memory_db, home.worker_log) if path.is_file()]
    latest = max((*moments, *([newest_s] if newest_s is not None else [])), default=0.0)
    if latest > now_s + FUTURE_S:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(latest))
        return Check(
            "clock",
            "warn",
            f"the newest stored time is {when} UTC, which is in the future",
            "set the clock; if it is right now, it was ahead before, and there is nothing to do",
        )
    return Check("clock", "ok", "nothing stored is from the future")


def _names(folder: Path, *, hidden: bool = False) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if hidden or not name.startswith(".")]
    except OSError:
        return []


def check_switch(home: Home) -> Check:
    if home.off_switch.exists():
        return Check("switch", "warn", "capture is switched off", "run `claude-mem-lite on`")
    return Check("switch", "ok", "capture is on")


def check_configuration(home: Home, environment: Mapping[str, str]) -> Check:
    """Check that the settings can be read. Otherwise no event is accepted, because the settings may exclude folders."""
    try:
        config = load_config(home.config, environment)
    except ConfigError as error:
        step = joined(error.next_step, "until it is fixed, events wait and none is lost")
        return Check("configuration", "fail", error.message, step)
    finding = f"in {home.config}" if home.config.exists() else "there is no config.toml, so the defaults hold"
    more = "" if config == Config() else "; `claude-mem-lite config` shows what is in force"
    return Check("configuration", "ok", f"{finding}{more}")


def check_project_file(folder: str) -> Sequence[Check]:
    """Check the repository's own settings, if there are any."""
    repository = project_settings(folder)
    if not repository.path:
        return []
    if repository.problems:
        step = f"this part is ignored: correct {NAME}, or leave it as it is"
        return [Check("project file", "warn", f"{repository.path}: {problem}", step) for problem in repository.problems]
    keys = [key for key in ALLOWED if getattr(repository, key) not in (None, "", ())]
    return [Check("project file", "ok", f"{repository.path} sets {', '.join(keys) or 'nothing'}")]


def check_synonyms(home: Home) -> Sequence[Check]:
    """Check that the user's synonyms can be read, if there are any."""
    if not os.path.lexists(home.synonyms):
        return []
    try:
        read_synonyms(home.synonyms)
    except ConfigError as error:
        return [Check("synonyms", "warn", f"{error.message}; those of the package hold", error.next_step)]
    return [Check("synonyms", "ok", str(home.synonyms))]
