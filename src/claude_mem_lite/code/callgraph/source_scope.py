"""Source files covered by the call graph, and the reasons for leaving out a file."""

import os
import threading
import time
from collections.abc import Callable, Sequence

from claude_mem_lite.code.freshness.source_files import Sources, find_tracked, is_no_project, walk
from claude_mem_lite.code.freshness.working_tree import LARGEST_BYTES, WorkingTree
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.errors import MemoryLiteError

LANGUAGES = "Python, JavaScript, TypeScript, Go, Rust, Java, C, C++ and Ruby"
_DEFINES_NOTHING = "defines no function, method or class that could be read"
# A client in the middle of a read asks again at once; after this time, a new read begins.
_KEPT_S = 30.0


class Walks:
    """Cache of the last walk during a read: a large folder takes seconds to walk."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: tuple[str, float, Sources] | None = None

    def find_sources(self, root: str) -> Sources:
        """Return the source files of a checkout. Raises MemoryLiteError for a folder too large to walk."""
        tracked = find_tracked(root)
        if tracked is not None:
            return tracked
        if is_no_project(root):
            raise MemoryLiteError(
                f"{root} is no project, and too large to read as a whole",
                "go to the folder of a project, or name it with --cwd",
            )
        with self._lock:
            kept = self._kept
        return kept[2] if kept and kept[0] == root and self._now() < kept[1] + _KEPT_S else walk(root)

    def keep(self, root: str, sources: Sources) -> None:
        """Store the files of a walk, for the rest of the read."""
        if not sources.by_git:
            with self._lock:
                self._kept = (root, self._now(), sources)

    def forget(self) -> None:
        """Drop the files of the last walk, at the end of the read."""
        with self._lock:
            self._kept = None


def within(root: str, cwd: str, name: str) -> str:
    """Return a name with its file as a path from the root; the file may be absolute or relative to `cwd`."""
    file, mark, rest = name.strip().partition("::")
    if not file.startswith(("/", "./", "../")) or "\0" in file + cwd:
        return name
    folder, own = os.path.split(os.path.join(cwd, file))
    path = os.path.join(os.path.realpath(folder), own)
    inside = os.path.relpath(path, root)
    if inside.split("/")[0] != "..":
        # A path with ./ may be relative to the root too, typed in a subfolder.
        return f"{inside}{mark}{rest}" if file[0] == "/" or os.path.lexists(path) else name
    raise MemoryLiteError(f"{path} is outside of the project {root}", "--cwd names another one")


def why_not_read(root: str, cwd: str, name: str, sources: Sources, permitted: Sequence[str]) -> str:
    """Return the reason for not reading an existing file, as the rest of a sentence; '' for any other name."""
    file, names_symbol, _ = name.strip().partition("::")
    if not {"/", "."} & set(file):  # a program without an ending may have the name of a symbol
        return ""
    from_cwd = os.path.relpath(os.path.join(os.path.realpath(cwd), file), root)
    for path in dict.fromkeys((from_cwd, file)):
        size = _size(root, path)
        if size is not None:
            reason = _reason(path, size, sources, permitted) or ("" if names_symbol else _DEFINES_NOTHING)
            return f"{path} {reason}" if reason else ""
    return ""


def _reason(path: str, size: int, sources: Sources, permitted: Sequence[str]) -> str:
    """Return the reason for not reading a file; '' for a file that is read."""
    if not language_of(path):
        return f"is in a language that is not read; the languages are {LANGUAGES}"
    if path in sources.paths and path not in permitted:
        return "is excluded by the configuration; it is not read"
    if path not in sources.paths and sources.by_git and not sources.is_cut:
        return "is not tracked by git; it is seen after `git add`"
    if path not in sources.paths:
        return "is not among the files that are read: there are too many files, or its folder holds third-party code"
    if size > LARGEST_BYTES:
        return "is over 1 MiB; so large a file is not read"
    return ""


def _size(root: str, path: str) -> int | None:
    """Return the size of a file of the checkout, or None if the file is missing."""
    try:
        with WorkingTree(root) as tree:
            state = tree.state(path)
    except OSError:
        return None
    return state.size if state else None
