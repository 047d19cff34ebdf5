"""Moves of missing files, from git's history and index, and later names of renamed symbols.

Used for missing code only. A body hash alone follows code no further than the next edit, so `KnownRenames` reads the
renames recorded by sessions and by earlier scans."""

import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.code.syntax.changes import CodeAnchor
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.store import symbol_changes
from claude_mem_lite.values import frozen

_MAX_COMMITS = 100
_MAX_LIKELY = 5
# Each lookup of a path in a commit walks the commit's folders.
_MAX_ASKED = 500
# Index entries read between two checks of the clock: they take 5 ms.
_AT_ONCE = 1_000
_MAX_KEPT = 20_000


@frozen
class PossiblePaths:
    """Possible new paths of a missing file."""

    surely: str = ""
    """Path with the last known content of the file."""
    likely: tuple[str, ...] = ()
    """New files of a similar name or kind: only their content can decide."""

    def all(self) -> tuple[str, ...]:
        return (self.surely, *self.likely) if self.surely else self.likely


@frozen
class _SearchTerms:
    """Search terms for the index: blob ids, file names, folders."""

    blobs: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()

    def covers(self, narrower: "_SearchTerms") -> bool:
        return narrower.blobs <= self.blobs and narrower.names <= self.names and narrower.folders <= self.folders


class _Tracked:
    """Index entries matching the search terms. A search interrupted by the deadline continues with the next call."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._terms = _SearchTerms()
        self._left: Iterator[tuple[str, str]] = iter(())
        self._is_read = True
        self.by_blob: dict[str, list[str]] = {}
        self.by_name: dict[str, list[str]] = {}
        self.by_folder: dict[str, list[str]] = {}

    def search(self, terms: _SearchTerms, deadline: Deadline) -> bool:
        """Find all matches; return False if time ran out. 20,000 files take 30 ms."""
        if not self._terms.covers(terms):
            self._terms, self._left, self._is_read = terms, self._repository.each_tracked(), False
            self.by_blob, self.by_name, self.by_folder = {}, {}, {}
        while not self._is_read and not deadline.is_past():
            block = list(islice(self._left, _AT_ONCE))
            for path, blob in block:
                self._note(path, blob)
            self._is_read = len(block) < _AT_ONCE
        return self._is_read

    def _note(self, path: str, blob: str) -> None:
        folder, _, name = path.rpartition("/")
        if blob in self._terms.blobs:
            self.by_blob.setdefault(blob, []).append(path)
        if name in self._terms.names:
            self.by_name.setdefault(name, []).append(path)
        if folder in self._terms.folders:
            self.by_folder.setdefault(folder, []).append(path)


class Moves:
    """Search for the missing files of one checkout. Opened for one request, in one thread; results are cached."""

    def __init__(self, repository: Repository, root: str) -> None:
        self._repository = repository
        self._root = root
        self._tracked = _Tracked(repository)
        self._had: dict[tuple[str, str], str] = {}
        self._found: dict[tuple[str, str], PossiblePaths] = {}

    def find(self, lost: Collection[tuple[str, str]], deadline: Deadline) -> dict[tuple[str, str], PossiblePaths]:
        """Return the possible paths of missing files, each with a commit at which the file existed. A file missing from
        the result: time ran out."""
        asked = sorted(key for key in lost if key not in self._found)
        blobs = self._last_blobs(asked, deadline) if asked else {}
        if blobs and self._tracked.search(_terms(blobs), deadline):
            for (file, commit), (last, blob) in blobs.items():
                paths = self._possible_paths(file, last, blob, deadline)
                if paths is None:
                    break
                self._found[file, commit] = paths
        return {key: self._found[key] for key in lost if key in self._found}

    def _possible_paths(self, file: str, commit: str, blob: str, deadline: Deadline) -> PossiblePaths | None:
        alike = sorted(self._tracked.by_blob.get(blob, ()), key=lambda path: _name(path) != _name(file))
        same = self._new(commit, alike, deadline)
        if same:
            return PossiblePaths(same[0])
        likely = self._new(commit, self._alike(file), deadline) if same is not None else None
        return PossiblePaths("", likely) if likely is not None else None

    def _last_blobs(
        self, asked: Sequence[tuple[str, str]], deadline: Deadline
    ) -> dict[tuple[str, str], tuple[str, str]]:
        """Return the last content of each file, with the last commit known to have the file; empty if time ran out."""
        last = self._last_commits({file for file, _ in asked}, deadline)
        found: dict[tuple[str, str], tuple[str, str]] = {}
        for file, commit in asked:
            at = last.get(file, commit)
            found[file, commit] = at, self._blob_at(at, file, deadline)
            if deadline.is_past():
                return {}
        return found

    def _last_commits(self, files: set[str], deadline: Deadline) -> dict[str, str]:
        """Return the last commit with each file, on the first-parent line of HEAD and not too far back."""
        found: dict[str, str] = {}
        left = sorted(files)
        commit = self._repository.head()[1]
        for _ in range(_MAX_COMMITS):
            if not commit or not left:
                break
            for file in left:
                if deadline.is_past():
                    return found
                if self._blob_at(commit, file, deadline):
                    found[file] = commit
            left = [file for file in left if file not in found]
            commit = self._repository.first_parent(commit)
        return found

    def _new(self, commit: str, paths: Iterable[str], deadline: Deadline) -> tuple[str, ...] | None:
        """Return the first few paths new since a commit: a path present in the commit is another file.

        None: time ran out."""
        new: list[str] = []
        for path in islice(paths, _MAX_ASKED):
            if len(new) == _MAX_LIKELY:
                break
            had = self._blob_at(commit, path, deadline)
            if deadline.is_past():
                return None
            if not had:
                new.append(path)
        return tuple(new)

    def _blob_at(self, commit: str, path: str, deadline: Deadline) -> str:
        """Return the blob id at a path of a commit; '' if absent or unknown. Answers are cached: a repeated search
        continues after a timeout."""
        known = self._had.get((commit, path))
        if known is None:
            found = self._repository.blob_at(commit, path, deadline)
            if deadline.is_past():
                return found or ""
            if len(self._had) >= _MAX_KEPT:
                self._had.clear()
            known = self._had[commit, path] = found or ""
        return known

    def _alike(self, file: str) -> list[str]:
        """Return files of the same name, and files of the same kind in the folder and the folder above, tracked or
        not."""
        folder, kind = os.path.dirname(file), os.path.splitext(file)[1]
        named = self._tracked.by_name.get(_name(file), [])
        around = [path for near in dict.fromkeys((folder, os.path.dirname(folder))) for path in self._in_folder(near)]
        return list(dict.fromkeys((*named, *(path for path in around if path.endswith(kind)))))

    def _in_folder(self, folder: str) -> list[str]:
        """Return the files of a folder. Untracked files come first, because untracked files are new."""
        try:
            with os.scandir(os.path.join(self._root, folder)) as entries:
                here = [entry.name for entry in islice(entries, _MAX_ASKED) if entry.is_file(follow_symlinks=False)]
        except (OSError, ValueError):
            here = []
        tracked = self._tracked.by_folder.get(folder, [])
        return [*sorted({os.path.join(folder, name) for name in here} - set(tracked)), *tracked]


def _terms(blobs: Mapping[tuple[str, str], tuple[str, str]]) -> _SearchTerms:
    """Return the search terms for missing files: same content, same name, nearby folders."""
    files = [file for file, _ in blobs]
    folders = {os.path.dirname(file) for file in files}
    return _SearchTerms(
        frozenset(blob for _, blob in blobs.values() if blob),
        frozenset(map(_name, files)),
        frozenset(folders | {os.path.dirname(folder) for folder in folders}),
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


class KnownRenames:
    """Recorded renames of one project. For the thread of the connection."""

    def __init__(self, db: sqlite3.Connection, project: str) -> None:
        self._db = db
        self._project = project

    def later(
        self, anchor: CodeAnchor, files: Sequence[str], *, memory: str, valid_at: datetime | None
    ) -> list[CodeAnchor]:
        """Return the later names of an anchor's symbol, latest first, each with the last known body.

        `files` are the files possibly holding the symbol. With a memory id, renames found by scans of the memory count,
        too."""
        bodies = dict.fromkeys(symbol_changes.of(self._db, memory, anchor.file, anchor.name), "") if memory else {}
        for file in files:
            bodies |= symbol_changes.became(self._db, self._project, file, anchor.name, anchor.after, valid_at)
        return [
            CodeAnchor(anchor.file, name, after=body, before=anchor.before)
            for name, body in reversed(bodies.items())
            if name != anchor.name
        ]
