"""Safe reading of git's files: no links, no pipes, nothing outside git's folders, never more than the limit.

All of `git/` reads through this module. A repository may be hostile: a file that cannot be read safely counts as
missing."""

import os
import re
import stat
import weakref
from pathlib import Path

SMALL_BYTES = 256 * 1024
OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# `..` and names with a leading dot are refused: git allows neither, and with reftables HEAD says `.invalid`.
REF = re.compile(r"refs/(?!.*\.\.)(?!.*/\.)[\w./+@#,=()!&%-]{1,240}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_folder(folder: Path, name: str) -> int | None:
    """Return a descriptor of a folder, or of an inner folder reached without links; None if no such folder exists."""
    try:
        opened = os.open(folder, _FOLDER)
        for part in name.split("/") if name else ():
            outer = opened
            try:
                if part in ("", ".", ".."):
                    return None
                opened = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=outer)
            finally:
                os.close(outer)
    except (OSError, ValueError):  # ValueError: a name with a NUL
        return None
    return opened


def open_file(folder: Path, name: str) -> int | None:
    """Return a descriptor of a plain file in a folder, or None if the file is missing, a link, a pipe or a device."""
    inner, _, last = name.rpartition("/")
    outer = open_folder(folder, inner)
    if outer is None:
        return None
    try:
        opened = os.open(last, _FILE, dir_fd=outer)
    except (OSError, ValueError):
        return None
    finally:
        os.close(outer)
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    return None


def read_bytes(folder: Path, name: str, limit: int) -> bytes | None:
    """Return the first `limit` bytes of a file in a folder, or None if the file is unreadable."""
    opened = open_file(folder, name)
    if opened is None:
        return None
    try:
        with os.fdopen(opened, "rb", buffering=0) as file:
            parts: list[bytes] = []
            while limit > 0 and (part := file.read(limit)):
                parts.append(part)
                limit -= len(part)
            return b"".join(parts)
    except OSError:
        return None


def read_tail(folder: Path, name: str, limit: int) -> tuple[bytes, bool]:
    """Return the last `limit` bytes of a file in a folder, and True if the file has no more bytes."""
    opened = open_file(folder, name)
    if opened is None:
        return b"", True
    try:
        size = os.fstat(opened).st_size
        return os.pread(opened, limit, max(0, size - limit)), size <= limit
    except OSError:
        return b"", True
    finally:
        os.close(opened)


def read_text(folder: Path, name: str, limit: int = SMALL_BYTES) -> str:
    """Return the beginning of a small text file; '' if the file is unreadable."""
    return (read_bytes(folder, name, limit) or b"").decode("utf-8", "replace")


def list_folder(folder: Path, name: str, most: int) -> list[tuple[str, bool]]:
    """Return the entries of an inner folder, sorted by name, each with True for a folder. Links are left out."""
    opened = open_folder(folder, name)
    if opened is None:
        return []
    found: list[tuple[str, bool]] = []
    try:
        with os.scandir(opened) as entries:
            for entry in entries:
                if len(found) == most:
                    break
                if not entry.is_symlink():
                    found.append((entry.name, entry.is_dir(follow_symlinks=False)))
    except OSError:
        return []
    finally:
        os.close(opened)
    return sorted(found)


class GitFiles:
    """Cache of open files for random reads. The files are closed when the object is garbage-collected."""

    _MAX_OPEN = 24

    def __init__(self) -> None:
        self._opened: dict[tuple[Path, str], int] = {}
        weakref.finalize(self, _close_all, self._opened)

    def size(self, folder: Path, name: str) -> int:
        """Return the size of a file in bytes; 0 if the file is unreadable."""
        descriptor = self._open(folder, name)
        return os.fstat(descriptor).st_size if descriptor is not None else 0

    def read(self, folder: Path, name: str, size: int, offset: int) -> bytes:
        """Return up to `size` bytes from an offset; fewer at the end of the file, none if the file is unreadable."""
        descriptor = self._open(folder, name)
        try:
            return os.pread(descriptor, size, offset) if descriptor is not None else b""
        except (OSError, OverflowError):
            return b""

    def _open(self, folder: Path, name: str) -> int | None:
        known = self._opened.get((folder, name))
        if known is not None:
            return known
        opened = open_file(folder, name)
        if opened is not None:
            while len(self._opened) >= self._MAX_OPEN:
                os.close(self._opened.pop(next(iter(self._opened))))
            self._opened[folder, name] = opened
        return opened


def _close_all(opened: dict[tuple[Path, str], int]) -> None:
    while opened:
        os.close(opened.popitem()[1])
