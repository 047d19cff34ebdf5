"""The files of a checkout, opened so that nothing outside of it is ever read, and nothing but plain files."""

import errno
import os
import stat
from collections import OrderedDict
from dataclasses import dataclass
from types import TracebackType
from typing import Self

LARGEST_BYTES = 1024 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_SUCH_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG)
_MAX_FOLDERS_OPEN = 64
_DEEPEST = 200


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file was like when it was looked at: another one, or a changed one, differs."""

    inode: int
    changed_ns: int
    """When it was last changed in any way: a tool can set back the time of its content, but not this one."""
    size: int


@dataclass(frozen=True, slots=True)
class FileText:
    state: FileState
    """As it was before the text was read: what is written meanwhile makes it another."""
    text: str


class WorkingTree:
    """Opens files below a root, folder by folder: no link, no `..` and no absolute path leads out of it."""

    def __init__(self, root: str) -> None:
        """Raises OSError when there is no such root."""
        # By links if need be: the way to the root is the user's own.
        self._root = os.open(root, _FOLDER)
        self._folders: OrderedDict[str, int] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        while self._folders:
            os.close(self._folders.popitem()[1])
        os.close(self._root)

    def state(self, path: str) -> FileState | None:
        """What the file is like now; None when there is no plain file here. Raises OSError if it cannot be told."""
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
        """What the file says; None when it cannot be read, is no plain file, or is larger than is read."""
        found = self._read(path)
        return FileText(found[0], found[1].decode("utf-8-sig", "replace")) if found else None

    def raw(self, path: str) -> bytes | None:
        """The bytes of the file; None as for `text`."""
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
        """The open folder at a path, by way of its parent; those used last stay open."""
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
    """Whether a folder is missing or has nothing in it."""
    try:
        with os.scandir(root) as entries:
            return next(entries, None) is None
    except (OSError, ValueError):
        return True


def is_path_within(path: str) -> bool:
    """Whether a path is one of text, and stays below where it starts."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return not path.startswith("/") and path.count("/") <= _DEEPEST and not {"", ".", ".."} & set(path.split("/"))


def _split(path: str) -> tuple[str, str]:
    """Folder and name of a path within a checkout."""
    if not is_path_within(path):
        raise ValueError(f"{path!r} is no path within a checkout")
    folder, _, name = path.rpartition("/")
    return folder, name


def _state(found: os.stat_result) -> FileState | None:
    if not stat.S_ISREG(found.st_mode):
        return None
    return FileState(found.st_ino, found.st_ctime_ns, found.st_size)
