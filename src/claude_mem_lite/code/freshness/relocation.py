"""What became of code that is not where it was: moved to another file, deleted, or only out of sight.

Opened for one look at one checkout, in one thread: what it has found out it keeps."""

import os
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha1
from itertools import islice
from typing import Literal, NamedTuple

from claude_mem_lite.code.freshness.code_cache import CodeCache, is_past
from claude_mem_lite.code.freshness.moves import Moves, Places
from claude_mem_lite.code.freshness.source_files import own_entries
from claude_mem_lite.code.freshness.working_tree import WorkingTree, is_bare
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.code.syntax.languages import language_of

Absence = Literal["deleted", "missing", "out of sight"]
_MAX_ENTRIES = 50_000
_MAX_CHANGED = 1_000
# The index is gone through for where a file may be and for whether it is tracked, and its files are looked at.
_S_PER_FILE = 5e-6
_AT_ONCE = 50
_MAX_COMMITS = 100
# The clock of a file system is a little behind.
_SLACK_S = 1


class Definition(NamedTuple):
    """A symbol, where it is defined."""

    path: str
    name: str


Found = list[Definition] | Literal["too many"] | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A symbol that is not where it was."""

    file: str
    body: str
    since: datetime | None
    """When it was there: what it was moved to was changed after that. None: only what is known already is asked."""
    commit: str = ""


class Elsewhere:
    """Looks around in one checkout, with git or without."""

    def __init__(self, root: str, repository: Repository | None) -> None:
        self.repository = repository
        self._root = root
        self._moves = Moves(repository, root) if repository else None
        self._index = _Index(repository) if repository else None
        self._entries = self._sources()
        self._by_language: dict[str, list[tuple[float, str]]] = {}
        """The files that were listed, each with when it was changed, as a number that grows with age."""
        self._is_cut = False
        self._is_listed = False
        self._read: set[str] = set()

    @cached_property
    def search_s(self) -> float:
        """About how long it takes to go through all files; without git nothing tells."""
        return self.repository.tracked_count() * _S_PER_FILE if self.repository else 0.0

    def places(self, lost: Collection[tuple[str, str]], deadline: float) -> dict[tuple[str, str], Places]:
        """Where missing files may be now, see `Moves.find`."""
        return self._moves.find(lost, deadline) if self._moves else dict.fromkeys(lost, Places())

    def absence(self, file: str, commit: str, deadline: float) -> Absence | None:
        """What it means that a file is not there; None: no time to tell.

        `deleted`: git shows that it was here and was deleted. `missing`: nothing shows why, but the folder it was in is
        there. `out of sight`: git still has it, as in a sparse checkout, or its folder is not mounted or moved away."""
        if self.repository is not None and self._index is not None:
            if not self._index.read(deadline):
                return None
            if self._index.has(file):
                return "out of sight"
            head = self.repository.head()[1]
            blob = self.repository.blob_at(head, file, deadline) if head else ""
            if blob is None and is_past(deadline):
                return None
            if blob is None or blob:
                # Staged, if that part of the index can be seen: a sparse one has whole folders as one entry.
                is_staged = blob and self._index.has_folder(os.path.dirname(file))
                return "deleted" if is_staged else "out of sight"
            was_here = self._was_here(file, commit, deadline)
            if was_here is not False:
                return "deleted" if was_here else None
        return "out of sight" if is_bare(os.path.join(self._root, os.path.dirname(file))) else "missing"

    def find(self, cache: CodeCache, wanted: Wanted, deadline: float, *, keeps_time: bool) -> Found:
        """Where a body stands in files that were changed since; None: no time to look into all of them.

        `too many`: it stands in none of those that were looked into, but there are more."""
        if wanted.since is None:
            return self.find_known(cache, wanted, deadline)
        if not self._list(deadline):
            return None
        changed = self._changed_since(wanted.since.timestamp() - _SLACK_S, language_of(wanted.file))
        if found := self._found(cache, wanted, changed, deadline):
            return found
        unread = [path for path in changed[:_MAX_CHANGED] if path not in self._read]
        folder = os.path.dirname(wanted.file)
        unread.sort(key=lambda path: os.path.dirname(path) != folder)  # those around it are the likeliest
        for start in range(0, len(unread), _AT_ONCE):
            some = unread[start : start + _AT_ONCE]
            read = cache.read(self._root, some, deadline, keeps_time=keeps_time)
            self._read.update(read)
            if len(read) < len(some):
                return None
        found = self._found(cache, wanted, changed, deadline)
        is_sure = found is not None and not self._is_cut and len(changed) <= _MAX_CHANGED
        return found if found or is_sure else "too many"

    def find_known(self, cache: CodeCache, wanted: Wanted, deadline: float) -> list[Definition]:
        """The same for whoever has no time to look which files were changed since: only what is known is asked."""
        found = self._found(cache, wanted, None, deadline) or []
        return [one for one in found if wanted.since is None or self._is_changed_since(one.path, wanted.since)]

    def _found(
        self, cache: CodeCache, wanted: Wanted, among: Collection[str] | None, deadline: float
    ) -> list[Definition] | None:
        """Where the body stands, by what is known; None when that cannot be told."""
        known = cache.find_body(self._root, wanted.body)
        if known is None:
            return None
        paths = {path for path, _ in known if path != wanted.file}
        if among is not None and paths:
            paths &= set(among)
        now = cache.read(self._root, sorted(paths), deadline, keeps_time=True)
        if len(now) < len(paths):
            return None
        return [
            Definition(path, symbol.name)
            for path, code in sorted(now.items())
            for symbol in (code.symbols or () if code else ())
            if symbol.body == wanted.body and not self._is_as_in(wanted.commit, path, deadline)
        ]

    def _changed_since(self, moment: float, language: str) -> list[str]:
        """The source files of a language that were changed since a moment, those that were changed last first."""
        files = self._by_language.get(language, [])
        return [path for _, path in files[: bisect_right(files, -moment, key=lambda file: file[0])]]

    def _is_changed_since(self, path: str, moment: datetime) -> bool:
        try:
            return os.lstat(os.path.join(self._root, path)).st_ctime >= moment.timestamp() - _SLACK_S
        except (OSError, ValueError):
            return False

    def _list(self, deadline: float) -> bool:
        """Go on looking which source files there are; whether that is done."""
        if self._is_listed:
            return True
        for seen, _ in enumerate(self._entries):
            if seen % _AT_ONCE == 0 and is_past(deadline):
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

    def _is_as_in(self, commit: str, path: str, deadline: float) -> bool:
        """Whether a file is the same as in a commit: then nothing was moved to it since."""
        blob = self.repository.blob_at(commit, path, deadline) if self.repository and commit else ""
        if not blob:
            return False
        try:
            with WorkingTree(self._root) as tree:
                found = tree.raw(path)
        except OSError:
            return False
        return found is not None and sha1(b"blob %d\0" % len(found) + found, usedforsecurity=False).hexdigest() == blob

    def _was_here(self, file: str, commit: str, deadline: float) -> bool | None:
        """Whether the last commits of this checkout had a file, or the one at which it is known to have been there."""
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
            if is_past(deadline):
                return None
        return False


class _Index:
    """Which files git tracks in a checkout, by hashes of their paths: with 200,000 files that is 2 MB, not 40."""

    def __init__(self, repository: Repository) -> None:
        self._left = repository.each_tracked()
        self._is_read = False
        self._files = array("q")
        self._folders: set[str] = set()

    def read(self, deadline: float) -> bool:
        """Go on reading; whether that is done."""
        while not self._is_read:
            if is_past(deadline):
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
