"""What stands at the files that memories are tied to, looked at once for all of them, within a deadline.

The paths come from payloads: what leads out of the checkout, or through a link, is not looked at."""

import os
import stat
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.code.freshness.code_cache import CodeCache, FileCode
from claude_mem_lite.code.freshness.moves import KnownRenames, Places
from claude_mem_lite.code.freshness.relocation import Absence, Elsewhere, Found, Wanted
from claude_mem_lite.code.freshness.working_tree import FileState, WorkingTree, is_bare
from claude_mem_lite.code.syntax.anchors import CodeAnchor
from claude_mem_lite.code.syntax.changes import Symbol

_MAX_FILES = 2_000
# Of the time that somebody waits: others are to be looked at as well.
_SHARE_FOR_MISSING = 1 / 3
# Before all times: of what is not looked at, nothing tells that it changed.
_OUT_OF_SIGHT = float("-inf")


@dataclass(frozen=True, slots=True)
class Effort:
    """How far a look may go."""

    deadline: float
    """On the monotonic clock."""
    keeps_time: bool = False
    """Somebody waits: a file that would take longer to read than there is time, and a search that would take more than
    a third of it, are left to a later look."""
    elsewhere: Elsewhere | None = None
    """Looks for what is not where it was; without it, that counts as gone."""
    renames: KnownRenames | None = None
    """Tells under which names it went on."""


class TiedFiles:
    """Looks first at all files, then into those that must be read, then for those that are missing."""

    def __init__(self, cache: CodeCache, root: str, effort: Effort) -> None:
        self._cache = cache
        self._root = root
        self._effort = effort
        self._deadline = effort.deadline
        self._elsewhere = effort.elsewhere
        self._search_until: float | None = None
        self._changed_at: dict[str, float | None] = {}
        self._seen: dict[str, FileState] = {}
        self._code: dict[str, FileCode | None] = {}
        self._places: dict[tuple[str, str], Places] = {}

    def look(self, files: Collection[str]) -> None:
        """Look at files, without opening them."""
        if is_bare(self._root):  # not mounted, say: nothing can be told of any file
            return
        with suppress(OSError), WorkingTree(self._root) as tree:
            for file in sorted(files)[:_MAX_FILES]:
                if self._is_late():
                    return
                self._changed_at[file] = self._look_at(tree, file)

    def read(self, files: Collection[str]) -> None:
        """Read the symbols of those of the files that are there."""
        there = [file for file in sorted(files) if self.has_seen(file) and not self.is_out_of_sight(file)]
        self._read([file for file in there if not self.lacks(file)])

    def look_for(self, lost: Collection[tuple[str, str]]) -> None:
        """Look where missing files may be now; each comes with the commit at which it was there."""
        if not lost:
            return
        nowhere = dict.fromkeys(lost, Places())
        self._places = self._elsewhere.places(lost, self._until()) if self._elsewhere else nowhere
        self._read(sorted({path for places in self._places.values() for path in places.all()}))

    def has_seen(self, file: str) -> bool:
        return file in self._changed_at

    def is_out_of_sight(self, file: str) -> bool:
        """Whether a file is none that is looked at."""
        return self._changed_at.get(file) == _OUT_OF_SIGHT

    def lacks(self, file: str) -> bool:
        return self.has_seen(file) and self._changed_at[file] is None

    def is_older(self, file: str, moment: datetime) -> bool:
        """Whether a file is there and was not touched since."""
        at = self._changed_at.get(file)
        return at is not None and at < moment.timestamp()

    def has_read(self, file: str) -> bool:
        return self._code.get(file) is not None

    def symbols(self, file: str) -> Sequence[Symbol] | None:
        """The symbols of a file that was read; None when they cannot be told, as of a language that we do not read."""
        code = self._code.get(file)
        return code.symbols if code else None

    def places(self, file: str, commit: str) -> Places | None:
        """Where a missing file may be now; None when there was no time to look into all of these."""
        found = self._places.get((file, commit))
        return found if found is not None and all(path in self._code for path in found.all()) else None

    def is_whole(self, file: str) -> bool | None:
        """Whether all that a file defines can be seen in it; None: no time to tell."""
        if self._elsewhere is None:
            return True
        return self._cache.is_whole(self._root, file, self._deadline, keeps_time=self._effort.keeps_time)

    def name_now(self, file: str, anchor: CodeAnchor) -> str:
        """What a symbol that is missing in a file may be called there now."""
        return self._cache.name_now(self._root, file, anchor.name, anchor.after) if self._elsewhere else ""

    def later(self, anchor: CodeAnchor, path: str, *, memory: str, told_at: datetime | None) -> Sequence[CodeAnchor]:
        """Under which names a symbol that is missing went on, in its file or where that is now, the last first."""
        if self._effort.renames is None:
            return ()
        files = tuple(dict.fromkeys((anchor.file, path)))
        return self._effort.renames.later(anchor, files, memory=memory, told_at=told_at)

    def absence(self, file: str, commit: str) -> Absence | None:
        """What it means that a file is missing; None: no time to tell."""
        return self._elsewhere.absence(file, commit, self._until()) if self._elsewhere else "deleted"

    def elsewhere(self, wanted: Wanted) -> Found:
        """Where a symbol may have been moved to."""
        if self._elsewhere is None:
            return []
        keeps_time = self._effort.keeps_time
        found = self._elsewhere.find(self._cache, wanted, self._until(), keeps_time=keeps_time)
        if found is None and keeps_time:
            # Not where it was is all that whoever waits must know; the rest is found in the background.
            return self._elsewhere.find_known(self._cache, wanted, self._deadline) or "too many"
        return found

    def _until(self) -> float:
        """How long to search for what is not where it was: whoever waits waits for all the rest, too. A search that
        would take longer than that is not begun."""
        if not self._effort.keeps_time:
            return self._deadline
        if self._search_until is None:
            now = time.monotonic()
            share_s = (self._deadline - now) * _SHARE_FOR_MISSING
            takes_s = self._elsewhere.search_s if self._elsewhere else 0.0
            self._search_until = now + share_s if takes_s <= share_s else now
        return self._search_until

    def _read(self, files: Sequence[str]) -> None:
        keeps_time = self._effort.keeps_time
        self._code |= self._cache.read(self._root, files, self._deadline, keeps_time=keeps_time, seen=self._seen)

    def _look_at(self, tree: WorkingTree, file: str) -> float | None:
        """When a file was last changed; None when it is missing."""
        try:
            file.encode()  # half characters, which no text on disk or in a database can have
            state = tree.state(file)
        except (OSError, ValueError):  # or it is there, and not for us to see
            return _OUT_OF_SIGHT
        if state is not None:
            self._seen[file] = state
            # ctime, not mtime: it cannot be set back, and `git checkout`, `mv` and `cp -p` all renew it.
            return state.changed_ns / 1e9
        return None if _is_missing(self._root, file) else _OUT_OF_SIGHT

    def _is_late(self) -> bool:
        return time.monotonic() >= self._deadline


def _is_missing(root: str, file: str) -> bool:
    """Whether a path within the checkout leads to nothing; one that meets a link on its way, nobody follows."""
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
