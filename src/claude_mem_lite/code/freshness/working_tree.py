"""Safe access to the files of a checkout: plain files only, and nothing outside of the root."""

import errno
import os
import stat
from collections import OrderedDict
from types import TracebackType
from typing import Self

from claude_mem_lite.values import frozen

LARGEST_BYTES = 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_SUCH_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
_MAX_FOLDERS_OPEN = 64
_DEEPEST = 200


@frozen
class FileState:
    """State of a file: any change, or another file at the path, gives a different state."""

    inode: int
    changed_ns: int
    """Time of the last change of any kind (ctime): tools can set back the time of the content, but not this time."""
    size: int


@frozen
class FileText:
    state: FileState
    """State before the text was read: a write during the read gives another state."""
    text: str


class WorkingTree:
    """Access to files below a root, folder by folder: no link, no `..` and no absolute path leads out of the root."""

    def __init__(self, root: str) -> None:
        """Open the root. Raises OSError if the root is missing."""
        # Links on the path to the root are followed: the user chose the path.
        self._root = os.open(root, _FOLDER)
        self._folders: OrderedDict[str, int] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        while self._folders:
            os.close(self._folders.popitem()[1])
        os.close(self._root)

    def state(self, path: str) -> FileState | None:
        """Return the state of a file, or None if the path has no plain file. Raises OSError if the state is unknown."""
        try:
            folder, name = _split(path)
            found = os.stat(name, dir_fd=self._open_folder(folder), follow_symlinks=False)
        except ValueError:
            return None
        except OSError as error:
            if error.errno in _NO_SUCH_FILE:
                return None
            raise
        return _state(found)

    def text(self, path: str) -> FileText | None:
        """Return the text of a file, or None if the file is unreadable, no plain file, or too large."""
        found = self._read(path)
        return FileText(found[0], found[1].decode("utf-8-sig", "replace")) if found else None

    def raw(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None as for `text`."""
        found = self._read(path)
        return found[1] if found else None

    def _read(self, path: str) -> tuple[FileState, bytes] | None:
        try:
            folder, name = _split(path)
            descriptor = os.open(name, _FILE, dir_fd=self._open_folder(folder))
        except (OSError, ValueError):
            return None
        with os.fdopen(descriptor, "rb") as file:
            state = _state(os.fstat(descriptor))
            try:
                raw = file.read(LARGEST_BYTES + 1) if state is not None else b""
            except OSError:
                return None
        if state is None or len(raw) > LARGEST_BYTES:
            return None
        return state, raw

    def _open_folder(self, path: str) -> int:
        """Return a descriptor of a folder, opened through its parent. The last used folders stay open."""
        if not path:
            return self._root
        if path in self._folders:
            self._folders.move_to_end(path)
            return self._folders[path]
        parent, name = _split(path)
        descriptor = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self._open_folder(parent))
        self._folders[path] = descriptor
        if len(self._folders) > _MAX_FOLDERS_OPEN:
            os.close(self._folders.popitem(last=False)[1])
        return descriptor


def is_bare(root: str) -> bool:
    """Return True if a folder is missing or empty."""
    try:
        with os.scandir(root) as entries:
            return next(entries, None) is None
    except (OSError, ValueError):
        return True


def is_path_within(path: str) -> bool:
    """Return True if a path is valid text and stays within the root."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return not path.startswith("/") and path.count("/") <= _DEEPEST and not {"", ".", ".."} & set(path.split("/"))


def _split(path: str) -> tuple[str, str]:
    """Split a path within a checkout into folder and name."""
    if not is_path_within(path):
        raise ValueError(f"{path!r} is no path within a checkout")
    folder, _, name = path.rpartition("/")
    return folder, name


def _state(found: os.stat_result) -> FileState | None:
    if not stat.S_ISREG(found.st_mode):
        return None
    return FileState(found.st_ino, found.st_ctime_ns, found.st_size)
