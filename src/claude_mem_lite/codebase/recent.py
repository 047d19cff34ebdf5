"""What files held that somebody who waits asked for a moment ago: contexts ask for the same ones again and again, and a
question to code.db takes as long as the rest of the answer. Threads share it."""

import threading
from collections.abc import Iterable, Sequence

from claude_mem_lite.codebase.tables import ReadFile

# Some 600 bytes each.
_MOST_SYMBOLS = 4_000


class RecentFiles:
    """By checkout and path. Whoever asks compares the state: nothing here tells whether a file is still the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[tuple[str, str], ReadFile] = {}
        self._symbols = 0

    def find(self, root: str, paths: Sequence[str]) -> dict[str, ReadFile]:
        """Those of the files that are known, by their paths."""
        with self._lock:
            return {path: known for path in paths if (known := self._files.get((root, path)))}

    def keep(self, root: str, read: Iterable[ReadFile]) -> None:
        """Know these from now on; those that were known longest make room for them."""
        with self._lock:
            for file in read:
                self._drop((root, file.path))
                self._files[root, file.path] = file
                self._symbols += _size(file)
            while self._symbols > _MOST_SYMBOLS:
                self._drop(next(iter(self._files)))

    def clear(self) -> None:
        with self._lock:
            self._files.clear()
            self._symbols = 0

    def _drop(self, key: tuple[str, str]) -> None:
        if known := self._files.pop(key, None):
            self._symbols -= _size(known)


def _size(file: ReadFile) -> int:
    return 1 + len(file.symbols or ())
