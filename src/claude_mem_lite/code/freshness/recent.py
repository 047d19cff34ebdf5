"""What code.db told somebody who waits a moment ago: contexts ask for the same files again and again, and a question to
it takes as long as the rest of the answer. Threads share it."""

import threading
from collections.abc import Iterable, Mapping

from claude_mem_lite.code.freshness.cache_tables import ReadFile
from claude_mem_lite.code.freshness.working_tree import FileState

# Some 600 bytes each.
_MOST_SYMBOLS = 4_000


class RecentFiles:
    """By checkout and path."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[tuple[str, str], ReadFile] = {}
        self._symbols = 0

    def find(self, root: str, states: Mapping[str, FileState | None]) -> dict[str, ReadFile]:
        """Those of the files that are known in the state in which they are, by their paths."""
        found: dict[str, ReadFile] = {}
        with self._lock:
            for path, state in states.items():
                known = self._files.pop((root, path), None)
                if known is not None:
                    self._files[root, path] = known  # the last to make room now
                    if state is not None and known.state == state:
                        found[path] = known
        return found

    def keep(self, root: str, told: Iterable[ReadFile]) -> None:
        """Know these from now on; those that nobody asked for for longest make room for them."""
        with self._lock:
            for file in told:
                self._drop((root, file.path))
                if _size(file) <= _MOST_SYMBOLS:
                    self._files[root, file.path] = file
                    self._symbols += _size(file)
            while self._symbols > _MOST_SYMBOLS:
                self._drop(next(iter(self._files)))

    def drop(self, root: str, paths: Iterable[str]) -> None:
        """Know nothing of these any more: they are gone, or others."""
        with self._lock:
            for path in paths:
                self._drop((root, path))

    def clear(self) -> None:
        with self._lock:
            self._files.clear()
            self._symbols = 0

    def _drop(self, key: tuple[str, str]) -> None:
        if known := self._files.pop(key, None):
            self._symbols -= _size(known)


def _size(file: ReadFile) -> int:
    return 1 + len(file.symbols or ())
