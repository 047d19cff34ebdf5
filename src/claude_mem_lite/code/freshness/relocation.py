"""Search for relocated code: moved to another file, deleted, or only hidden.

Opened for one request on one checkout, in one thread; results are cached."""

import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from hashlib import sha1
from itertools import islice
from typing import Literal, NamedTuple

from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.moves import Moves, PossiblePaths
from claude_mem_lite.code.freshness.source_files import own_entries
from claude_mem_lite.code.freshness.working_tree import WorkingTree, is_bare
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.limits import LIMITS
from claude_mem_lite.values import frozen

Absence = Literal["deleted", "missing", "out of sight"]
_MAX_ENTRIES = 50_000
_MAX_CHANGED = 1_000
_AT_ONCE = 50
_MAX_COMMITS = 100
# The clock of a file system is a little behind.
_SLACK_S = 1


class SymbolLocation(NamedTuple):
    """Symbol with the file of its definition."""

    path: str
    name: str


SymbolLocations = list[SymbolLocation] | Literal["too many"] | None


@frozen
class MissingSymbol:
    """Symbol missing from its recorded file."""

    file: str
    body: str
    since: datetime | None
    """Time at which the file had the symbol: the new file was changed later. None: only cached content is searched."""
    commit: str = ""


class RelocationSearch:
    """Search in one checkout, with or without git."""

    def __init__(self, root: str, repository: Repository | None, s_per_file: float = LIMITS.search_s_per_file) -> None:
        self.repository = repository
        self._root = root
        self._s_per_file = s_per_file
        self._moves = Moves(repository, root) if repository else None
        self._index = _Index(repository) if repository else None
        self._entries = self._sources()
        self._by_language: dict[str, list[tuple[float, str]]] = {}
        """Listed files by language, each with its negative change time, so the newest come first."""
        self._is_cut = False
        self._is_listed = False
        self._read: set[str] = set()

    @cached_property
    def search_s(self) -> float:
        """Return the estimated time for a walk over all files; 0 without git."""
        return self.repository.tracked_count() * self._s_per_file if self.repository else 0.0

    def moved_to(self, lost: Collection[tuple[str, str]], deadline: Deadline) -> dict[tuple[str, str], PossiblePaths]:
        """Return the possible new paths of missing files, see `Moves.find`."""
        return self._moves.find(lost, deadline) if self._moves else dict.fromkeys(lost, PossiblePaths())

    def absence(self, file: str, commit: str, deadline: Deadline) -> Absence | None:
        """Return the kind of a file's absence. None: time ran out.

        `deleted`: git shows the deletion. `missing`: unexplained, but the folder exists. `out of sight`: git still has
        the file, as in a sparse checkout, or the folder is not mounted or was moved away."""
        if self.repository is not None and self._index is not None:
            if not self._index.read(deadline):
                return None
            if self._index.has(file):
                return "out of sight"
            head = self.repository.head()[1]
            blob = self.repository.blob_at(head, file, deadline) if head else ""
            if blob is None and deadline.is_past():
                return None
            if blob is None or blob:
                # A staged deletion, if the index shows the folder: a sparse index has a whole folder as a single entry.
                is_staged = blob and self._index.has_folder(os.path.dirname(file))
                return "deleted" if is_staged else "out of sight"
            was_here = self._was_here(file, commit, deadline)
            if was_here is not False:
                return "deleted" if was_here else None
        return "out of sight" if is_bare(os.path.join(self._root, os.path.dirname(file))) else "missing"

    def find(
        self, cache: CodeCache, missing: MissingSymbol, deadline: Deadline, *, keeps_time: bool
    ) -> SymbolLocations:
        """Return the symbols with the recorded body in files changed since. None: time ran out.

        `too many`: no match among the files searched, but more files remain."""
        if missing.since is None:
            return self.find_known(cache, missing, deadline)
        if not self._list(deadline):
            return None
        changed = self._changed_since(missing.since.timestamp() - _SLACK_S, language_of(missing.file))
        if found := self._found(cache, missing, changed, deadline):
            return found
        unread = [path for path in changed[:_MAX_CHANGED] if path not in self._read]
        folder = os.path.dirname(missing.file)
        unread.sort(key=lambda path: os.path.dirname(path) != folder)  # nearby files are the likeliest
        for start in range(0, len(unread), _AT_ONCE):
            batch = unread[start : start + _AT_ONCE]
            read = cache.read(self._root, batch, deadline, keeps_time=keeps_time)
            self._read.update(read)
            if len(read) < len(batch):
                return None
        found = self._found(cache, missing, changed, deadline)
        is_sure = found is not None and not self._is_cut and len(changed) <= _MAX_CHANGED
        return found if found or is_sure else "too many"

    def find_known(self, cache: CodeCache, missing: MissingSymbol, deadline: Deadline) -> list[SymbolLocation]:
        """Return matching symbols from cached content only, without listing the files changed since."""
        found = self._found(cache, missing, None, deadline) or []
        since = missing.since
        return [location for location in found if since is None or self._is_changed_since(location.path, since)]

    def _found(
        self, cache: CodeCache, missing: MissingSymbol, among: Collection[str] | None, deadline: Deadline
    ) -> list[SymbolLocation] | None:
        """Return matching symbols from cached content, after checking that the files are up to date. None: unknown."""
        known = cache.find_body(self._root, missing.body)
        if known is None:
            return None
        paths = {path for path, _ in known if path != missing.file}
        if among is not None and paths:
            paths &= set(among)
        now = cache.read(self._root, sorted(paths), deadline, keeps_time=True)
        if len(now) < len(paths):
            return None
        return [
            SymbolLocation(path, symbol.name)
            for path, code in sorted(now.items())
            for symbol in (code.symbols or () if code else ())
            if symbol.body == missing.body and not self._is_as_in(missing.commit, path, deadline)
        ]

    def _changed_since(self, since: float, language: str) -> list[str]:
        """Return the source files of a language changed since a time, latest first."""
        files = self._by_language.get(language, [])
        return [path for _, path in files[: bisect_right(files, -since, key=lambda file: file[0])]]

    def _is_changed_since(self, path: str, since: datetime) -> bool:
        try:
            return os.lstat(os.path.join(self._root, path)).st_ctime >= since.timestamp() - _SLACK_S
        except (OSError, ValueError):
            return False

    def _list(self, deadline: Deadline) -> bool:
        """Continue to list the source files; return True when done."""
        if self._is_listed:
            return True
        for seen, _ in enumerate(self._entries):
            if seen % _AT_ONCE == 0 and deadline.is_past():
                return False
        for files in self._by_language.values():
            files.sort()
        self._is_listed = True
        return True

    def _sources(self) -> Iterator[None]:
        for seen, path in enumerate(own_entries(self._root)):
            if seen >= _MAX_ENTRIES:
                self._is_cut = True
                return
            if language := language_of(path):
                with suppress(OSError, ValueError):
                    at = os.lstat(os.path.join(self._root, path)).st_ctime
                    self._by_language.setdefault(language, []).append((-at, path))
            yield

    def _is_as_in(self, commit: str, path: str, deadline: Deadline) -> bool:
        """Return True if a file is the same as in a commit: then no code was moved into the file since."""
        blob = self.repository.blob_at(commit, path, deadline) if self.repository and commit else ""
        if not blob:
            return False
        try:
            with WorkingTree(self._root) as tree:
                found = tree.raw(path)
        except OSError:
            return False
        return found is not None and sha1(b"blob %d\0" % len(found) + found, usedforsecurity=False).hexdigest() == blob

    def _was_here(self, file: str, commit: str, deadline: Deadline) -> bool | None:
        """Return True if a recent commit of this checkout, or the recorded commit, has a file."""
        assert self.repository is not None
        if commit and self.repository.blob_at(commit, file, deadline):
            return True
        at = self.repository.head()[1]
        for _ in range(_MAX_COMMITS):
            at = self.repository.first_parent(at) if at else ""
            if not at:
                break
            if self.repository.blob_at(at, file, deadline):
                return True
            if deadline.is_past():
                return None
        return False


class _Index:
    """Tracked files of a checkout by path hash: 200,000 files take 2 MB instead of 40."""

    def __init__(self, repository: Repository) -> None:
        self._left = repository.each_tracked()
        self._is_read = False
        self._files = array("q")
        self._folders: set[str] = set()

    def read(self, deadline: Deadline) -> bool:
        """Continue to read the index; return True when done."""
        while not self._is_read:
            if deadline.is_past():
                return False
            paths = [path for path, _ in islice(self._left, _AT_ONCE)]
            self._files.extend(map(hash, paths))
            self._folders.update(map(os.path.dirname, paths))
            if len(paths) < _AT_ONCE:
                self._files = array("q", sorted(self._files))
                self._is_read = True
        return True

    def has(self, file: str) -> bool:
        at = bisect_left(self._files, hash(file))
        return at < len(self._files) and self._files[at] == hash(file)

    def has_folder(self, folder: str) -> bool:
        return folder in self._folders
