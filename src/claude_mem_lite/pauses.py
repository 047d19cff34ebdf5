"""Periods in which memory was off or a folder was excluded: imports leave out the turns of these periods.

A period is one small file in `pauses/` of the home, because hooks and `off` must note periods without a database. Hooks
write the same form (`hook/kernel.py`); the worker closes periods and copies them to memory.db
(`worker/pause_watch.py`)."""

import hashlib
import os
import re
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.config import matches
from claude_mem_lite.paths import Home, read_regular
from claude_mem_lite.values import frozen

_NAME = re.compile(r"(\d{20})(?:-[0-9a-f]{8})?")
_TIMES = re.compile(r"(\d{20}) (\d{20}) (off|on )\n")
_MAX_BYTES = 8 * 1024
_MAX_NS = 2**63 - 1
"""Largest time that SQLite can store."""


@frozen
class Pause:
    """One period. `glob` names the excluded folders; '' means that memory was off everywhere.

    A folder excluded by its repository is named by a digest, because not even the name may be stored."""

    name: str
    glob: str
    first_ns: int
    last_ns: int
    """Last time at which the pause held; the end of a pause that is over."""
    is_over: bool

    def covers(self, began_ns: int, ended_ns: int, folders: Iterable[str]) -> bool:
        """Return whether work in the folders between two times touches the period."""
        if ended_ns < self.first_ns or (self.is_over and began_ns > self.last_ns):
            return False
        return not self.glob or any(self.glob == digest(folder) or matches((self.glob,), folder) for folder in folders)

    def joined(self, record: "Pause") -> "Pause":
        """Return the union of two records of one period."""
        first, last = min(self.first_ns, record.first_ns), max(self.last_ns, record.last_ns)
        return Pause(self.name, self.glob, first, last, self.is_over and record.is_over)

    def ended(self, now_ns: int) -> "Pause":
        # A clock that was set back must not shorten the period.
        return Pause(self.name, self.glob, min(self.first_ns, now_ns), max(self.last_ns, now_ns), True)


def load(home: Home) -> list[Pause]:
    """Return all noted periods, oldest first."""
    with suppress(FileNotFoundError):
        names = sorted(name for name in os.listdir(home.pauses) if _NAME.fullmatch(name))
        return [_read(home.pauses / name) for name in names]
    return []


def save(home: Home, pause: Pause) -> None:
    """Note a period, or update its file."""
    home.pauses.mkdir(mode=0o700, exist_ok=True)
    # Without O_NONBLOCK a pipe would block the job thread.
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(home.pauses / pause.name, flags, 0o600)
    try:
        state = "on " if pause.is_over else "off"  # both have the same length: hooks overwrite in place
        written = f"{pause.first_ns:020d} {pause.last_ns:020d} {state}\n{pause.glob}".encode()
        os.pwrite(handle, written, 0)
        os.ftruncate(handle, len(written))
        os.fsync(handle)
    finally:
        os.close(handle)


def digest(folder: str) -> str:
    """Return the name of a folder that its repository excludes."""
    return f"#{hashlib.sha256(folder.encode(errors='surrogatepass')).hexdigest()}"


def begin_exclusion(glob: str, since_ns: int, now_ns: int) -> Pause:
    """Return the period of a folder that was not excluded at `since_ns` and is excluded at `now_ns`."""
    name = f"{since_ns:020d}-{zlib.crc32(glob.encode()):08x}"
    return Pause(name, glob, min(since_ns, now_ns), now_ns, is_over=False)


def note_off(home: Home, now_ns: int) -> None:
    """Note that the off switch exists; the period is named by the time of the switch."""
    switched_ns = max(home.off_switch.stat().st_mtime_ns, 0)
    path = home.pauses / f"{switched_ns:020d}"
    current = Pause(path.name, "", min(switched_ns, now_ns), now_ns, is_over=False)
    save(home, current.joined(_read(path)) if path.exists() else current)


def end_off(home: Home, now_ns: int) -> None:
    """Note that the off switch is gone."""
    for pause in load(home):
        if not pause.glob and not pause.is_over:
            save(home, pause.ended(now_ns))


def covering(pauses: Sequence[Pause], began_ns: int, ended_ns: int, folders: Sequence[str]) -> Pause | None:
    """Return the first period that work touches; None if the work may be imported."""
    return next((pause for pause in pauses if pause.covers(began_ns, ended_ns, folders)), None)


def _read(path: Path) -> Pause:
    """Return the period in a file. A corrupt file still has its name and time, and counts as not over."""
    named_ns = min(int(path.name[:20]), _MAX_NS)
    content = b""
    with suppress(OSError):
        content = read_regular(path, _MAX_BYTES, follow=False)
    head, _, glob = content.decode(errors="replace").partition("\n")
    times = _TIMES.fullmatch(f"{head}\n")
    if times is None:
        return Pause(path.name, glob, named_ns, named_ns, is_over=False)
    first_ns, last_ns = min(named_ns, int(times[1])), min(int(times[2]), _MAX_NS)
    return Pause(path.name, glob, first_ns, last_ns, is_over=times[3] == "on ")
