"""States and symbols of anchored files, read once for all anchors and within a deadline.

Paths come from payloads: a path out of the checkout, or through a link, is never followed."""

import os
import stat
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime

from claude_mem_lite.code.freshness.code_cache import CodeCache, FileCode
from claude_mem_lite.code.freshness.moves import KnownRenames, PossiblePaths
from claude_mem_lite.code.freshness.relocation import Absence, MissingSymbol, RelocationSearch, SymbolLocations
from claude_mem_lite.code.freshness.working_tree import FileState, WorkingTree, is_bare
from claude_mem_lite.code.syntax.changes import CodeAnchor, Symbol
from claude_mem_lite.deadline import PAST, Deadline
from claude_mem_lite.values import frozen

_MAX_FILES = 2_000
# Share of the waiting time for missing files: the rest is for other checks.
_SHARE_FOR_MISSING = 0.45
# Earlier than all times: an unchecked file counts as unchanged.
_OUT_OF_SIGHT = float("-inf")


@frozen
class CheckLimits:
    """Limits of a check."""

    deadline: Deadline
    keeps_time: bool = False
    """True if a caller waits. A file too long to read in the remaining time, and a search longer than its share of
    the time, are left to a later check."""
    relocation: RelocationSearch | None = None
    """Search for relocated code. Without a search, missing code counts as gone."""
    renames: KnownRenames | None = None
    """Source of later names of renamed symbols."""


class AnchoredFiles:
    """Files of a check: states first, then the symbols of files to read, then the search for missing files."""

    def __init__(self, cache: CodeCache, root: str, limits: CheckLimits) -> None:
        self._cache = cache
        self._root = root
        self._limits = limits
        self._deadline = limits.deadline
        self._relocation = limits.relocation
        self._search_deadline: Deadline | None = None
        self._changed_at: dict[str, float | None] = {}
        self._seen: dict[str, FileState] = {}
        self._code: dict[str, FileCode | None] = {}
        self._moved_to: dict[tuple[str, str], PossiblePaths] = {}

    def read_states(self, files: Collection[str]) -> None:
        """Read the states of files, without opening the files."""
        if is_bare(self._root):  # not mounted, for example: the state of every file is unknown
            return
        with suppress(OSError), WorkingTree(self._root) as tree:
            for file in sorted(files)[:_MAX_FILES]:
                if self._deadline.is_past():
                    return
                self._changed_at[file] = self._change_time(tree, file)

    def read(self, files: Collection[str]) -> None:
        """Read the symbols of the files present."""
        there = [file for file in sorted(files) if self.has_seen(file) and not self.is_out_of_sight(file)]
        self._read([file for file in there if not self.lacks(file)])

    def find_moved(self, lost: Collection[tuple[str, str]]) -> None:
        """Find the possible new paths of missing files; each file comes with a commit at which the file existed."""
        if not lost:
            return
        nowhere = dict.fromkeys(lost, PossiblePaths())
        self._moved_to = self._relocation.moved_to(lost, self._deadline_of_search()) if self._relocation else nowhere
        self._read(sorted({path for moved_to in self._moved_to.values() for path in moved_to.all()}))

    def has_seen(self, file: str) -> bool:
        return file in self._changed_at

    def is_out_of_sight(self, file: str) -> bool:
        """Return True if a file is excluded from checks."""
        return self._changed_at.get(file) == _OUT_OF_SIGHT

    def lacks(self, file: str) -> bool:
        return self.has_seen(file) and self._changed_at[file] is None

    def is_older(self, file: str, since: datetime) -> bool:
        """Return True if a file exists and has not changed since a time."""
        at = self._changed_at.get(file)
        return at is not None and at < since.timestamp()

    def has_read(self, file: str) -> bool:
        return self._code.get(file) is not None

    def symbols(self, file: str) -> Sequence[Symbol] | None:
        """Return the symbols of a file after `read`, or None if unknown, as for an unsupported language."""
        code = self._code.get(file)
        return code.symbols if code else None

    def moved_to(self, file: str, commit: str) -> PossiblePaths | None:
        """Return the possible new paths of a missing file, or None if time ran out before all paths were read."""
        found = self._moved_to.get((file, commit))
        return found if found is not None and all(path in self._code for path in found.all()) else None

    def is_whole(self, file: str) -> bool | None:
        """Return True if all definitions of a file are visible. None: time ran out."""
        if self._relocation is None:
            return True
        return self._cache.is_whole(self._root, file, self._deadline, keeps_time=self._limits.keeps_time)

    def name_now(self, file: str, anchor: CodeAnchor) -> str:
        """Return the probable present name of a symbol missing from a file."""
        return self._cache.name_now(self._root, file, anchor.name, anchor.after) if self._relocation else ""

    def later(self, anchor: CodeAnchor, path: str, *, memory: str, valid_at: datetime | None) -> Sequence[CodeAnchor]:
        """Return the later names of a missing symbol, in the recorded file or in the file's new path, latest first."""
        if self._limits.renames is None:
            return ()
        files = tuple(dict.fromkeys((anchor.file, path)))
        return self._limits.renames.later(anchor, files, memory=memory, valid_at=valid_at)

    def absence(self, file: str, commit: str) -> Absence | None:
        """Return the kind of a file's absence. None: time ran out."""
        return self._relocation.absence(file, commit, self._deadline_of_search()) if self._relocation else "deleted"

    def relocated(self, missing: MissingSymbol) -> SymbolLocations:
        """Return the possible new locations of a symbol."""
        if self._relocation is None:
            return []
        keeps_time = self._limits.keeps_time
        found = self._relocation.find(self._cache, missing, self._deadline_of_search(), keeps_time=keeps_time)
        if found is None and keeps_time:
            # A waiting caller needs only the fact of the absence; the background scan finds the rest.
            return self._relocation.find_known(self._cache, missing, self._deadline) or "too many"
        return found

    def _deadline_of_search(self) -> Deadline:
        """Return the deadline of the search for missing code. A search with a longer estimate is not started: a waiting
        caller waits for the other checks, too."""
        if not self._limits.keeps_time:
            return self._deadline
        if self._search_deadline is None:
            share = self._deadline.share(_SHARE_FOR_MISSING)
            takes_s = self._relocation.search_s if self._relocation else 0.0
            self._search_deadline = share if takes_s <= share.left_s() else PAST
        return self._search_deadline

    def _read(self, files: Sequence[str]) -> None:
        keeps_time = self._limits.keeps_time
        self._code |= self._cache.read(self._root, files, self._deadline, keeps_time=keeps_time, seen=self._seen)

    def _change_time(self, tree: WorkingTree, file: str) -> float | None:
        """Return the time of a file's last change, or None if the file is missing."""
        try:
            file.encode()  # half characters: impossible on disk and in a database
            state = tree.state(file)
        except (OSError, ValueError):  # or the file exists, but access is denied
            return _OUT_OF_SIGHT
        if state is not None:
            self._seen[file] = state
            # ctime, not mtime: it cannot be set back, and `git checkout`, `mv` and `cp -p` all renew it.
            return state.changed_ns / 1e9
        return None if _is_missing(self._root, file) else _OUT_OF_SIGHT


def _is_missing(root: str, file: str) -> bool:
    """Return True if a path within the checkout leads to nothing. A path through a link is not followed."""
    parts = file.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return False
    at = root
    for part in parts:
        at = os.path.join(at, part)
        try:
            if stat.S_ISLNK(os.lstat(at).st_mode):
                return False
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):
            return False
    return True  # a folder now
