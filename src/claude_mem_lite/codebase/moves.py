"""Where files that are missing may have been moved to, by git's history and index. Called when memories are checked."""

import os
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice

from claude_mem_lite.git.repository import Repository

_MOST_COMMITS = 100
_MOST_LIKELY = 5
# Asking what a commit had at a path takes a walk through its folders.
_MOST_ASKED = 500


@dataclass(frozen=True, slots=True)
class Places:
    """Paths at which a missing file may be now."""

    surely: str = ""
    """What it last held is here now."""
    likely: tuple[str, ...] = ()
    """New files of its name or kind: only what they hold can tell whether one of them is it."""

    def all(self) -> tuple[str, ...]:
        return (self.surely, *self.likely) if self.surely else self.likely


class Moves:
    """Looks for the missing files of one checkout. Opened for one look, in one thread: what it knows it keeps."""

    def __init__(self, repository: Repository, root: str) -> None:
        self._repository = repository
        self._root = root
        self._is_read = False
        self._by_blob: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}
        self._by_folder: dict[str, list[str]] = {}
        self._found: dict[tuple[str, str], Places] = {}

    def find(self, lost: Collection[tuple[str, str]], deadline: float) -> dict[tuple[str, str], Places]:
        """For each missing file, with a commit at which it was there, where it may be. Not in the answer: no time."""
        asked = sorted(one for one in lost if one not in self._found)
        last = self._last_commits({file for file, _ in asked}, deadline)
        for file, commit in asked:
            if time.monotonic() >= deadline:
                break
            self._found[file, commit] = self._places(file, last.get(file, commit))
        return {one: self._found[one] for one in lost if one in self._found}

    def _places(self, file: str, commit: str) -> Places:
        self._read()
        blob = self._repository.blob_at(commit, file)
        alike = sorted(self._by_blob.get(blob, ()), key=lambda path: _name(path) != _name(file))
        if same := self._new(commit, alike):
            return Places(same[0])
        return Places("", self._new(commit, self._alike(file)))

    def _read(self) -> None:
        """Read what git tracks, once: that takes 30 ms with 20,000 files."""
        if self._is_read:
            return
        self._is_read = True
        for path, blob in self._repository.tracked().items():
            self._by_blob.setdefault(blob, []).append(path)
            self._by_name.setdefault(_name(path), []).append(path)
            self._by_folder.setdefault(os.path.dirname(path), []).append(path)

    def _last_commits(self, files: set[str], deadline: float) -> dict[str, str]:
        """The last commit on the line of this checkout that had each of the files, where it is not too long ago."""
        found: dict[str, str] = {}
        commit = self._repository.head()[1]
        for _ in range(_MOST_COMMITS):
            if not commit or len(found) == len(files) or time.monotonic() >= deadline:
                break
            found |= {file: commit for file in files if file not in found and self._repository.blob_at(commit, file)}
            commit = self._repository.first_parent(commit)
        return found

    def _new(self, commit: str, paths: Iterable[str]) -> tuple[str, ...]:
        """The first few of the paths at which a commit had nothing: what it had there is another file."""
        new: list[str] = []
        for asked, path in enumerate(paths):
            if asked == _MOST_ASKED or len(new) == _MOST_LIKELY:
                break
            if not self._repository.blob_at(commit, path):
                new.append(path)
        return tuple(new)

    def _alike(self, file: str) -> list[str]:
        """Files of its name, and of its kind in its folder and the one above, tracked or not yet."""
        folder, kind = os.path.dirname(file), os.path.splitext(file)[1]
        named = self._by_name.get(_name(file), [])
        around = [path for near in dict.fromkeys((folder, os.path.dirname(folder))) for path in self._in_folder(near)]
        return list(dict.fromkeys((*named, *(path for path in around if path.endswith(kind)))))

    def _in_folder(self, folder: str) -> list[str]:
        """The files of a folder: what is there but not tracked comes first, because that is new."""
        try:
            with os.scandir(os.path.join(self._root, folder)) as entries:
                here = [entry.name for entry in islice(entries, _MOST_ASKED) if entry.is_file(follow_symlinks=False)]
        except (OSError, ValueError):
            here = []
        tracked = self._by_folder.get(folder, [])
        return [*sorted({os.path.join(folder, name) for name in here} - set(tracked)), *tracked]


def _name(path: str) -> str:
    return path.rpartition("/")[2]
