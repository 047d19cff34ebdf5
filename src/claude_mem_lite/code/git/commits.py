"""Commits with their ancestry and files. A walk goes from new to old, and only as far back as a question needs; equal
subtrees of two commits are skipped."""

import heapq
import re
from collections.abc import Iterable
from typing import NamedTuple

from claude_mem_lite.code.git.objects import Objects
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.values import frozen

_MAX_KEPT_TREES = 20_000
_MAX_KEPT_BYTES = 4 * 1024 * 1024
_MAX_CHANGES = 2_000
_DEEPEST = 64
_FOLDER = b"40000"
_FILES = (b"100644", b"100755", b"100664", b"120000", b"160000")
CLOCK_SLACK_S = 24 * 3600
"""Allowed clock difference between machines: a commit may look this much older than its parent."""
_MAX_COMMITS = 50_000
_MAX_KEPT = 8_192
_ID = rb"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_HEAD = re.compile(rb"tree (%b)\n((?:parent %b\n)*)author [^\n]*\ncommitter [^\n]* (\d{1,12}) [-+]\d{4}\n" % (_ID, _ID))


class TreeEntry(NamedTuple):
    """Entry of a tree: another tree, or a file (links and submodules included)."""

    is_folder: bool
    id: str


Changes = dict[str, tuple[str, str]]
"""Changed files by path, each with the blob id before and after, '' where absent."""


class Trees:
    """Trees of a repository by id."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._known: dict[str, dict[str, TreeEntry]] = {}
        self._kept = 0
        self._contents: dict[str, bytes] = {}
        self._kept_bytes = 0

    def get(self, id_: str) -> dict[str, TreeEntry] | None:
        """Return the entries of a tree by name; '' is the empty tree. None: the tree is missing."""
        if not id_:
            return {}
        known = self._known.get(id_)
        if known is None:
            content = self._content(id_)
            known = _entries(content, len(id_) // 2) if content is not None else None
            if known is not None:
                self._keep(id_, known)
        return known

    def find(self, root: str, path: str, deadline: Deadline) -> str | None:
        """Return the blob id of the file at a path. '': no file; None: unknown, for want of objects or time."""
        *folders, name = path.split("/")
        at = root
        for folder in folders:
            found = self._find(at, folder, deadline)
            if found is None:
                return None
            if not found.is_folder:
                return ""
            at = found.id
        found = self._find(at, name, deadline)
        return None if found is None else "" if found.is_folder else found.id

    def _find(self, tree: str, name: str, deadline: Deadline) -> TreeEntry | None:
        """Return the entry of a tree with a name, with an empty id if no entry exists. None: unknown."""
        content = self._content(tree) if not deadline.is_past() else None
        if content is None:
            return None
        try:
            # Finding a single name is a hundred times faster than parsing all, and a folder may have tens of thousands.
            return _entry(content, name.encode("utf-8", "surrogateescape"), len(tree) // 2)
        except UnicodeEncodeError:  # half a character: no file has such a name
            return TreeEntry(False, "")

    def changes(self, before: str, after: str, deadline: Deadline) -> Changes | None:
        """Return the differences between two trees. None: a tree is missing, or a limit of size or time was reached."""
        found: Changes = {}
        left = [("", before, after)]
        while left:
            lead, old_id, new_id = left.pop()
            old, new = self.get(old_id), self.get(new_id)
            if old is None or new is None or lead.count("/") > _DEEPEST:
                return None
            for name in old.keys() | new.keys():
                was, now = old.get(name), new.get(name)
                if was == now:
                    continue
                folders = tuple(item.id if item and item.is_folder else "" for item in (was, now))
                files = tuple(item.id if item and not item.is_folder else "" for item in (was, now))
                if folders[0] != folders[1]:
                    left.append((f"{lead}{name}/", folders[0], folders[1]))
                if files[0] != files[1]:
                    found[f"{lead}{name}"] = files[0], files[1]
            if len(found) > _MAX_CHANGES or deadline.is_past():
                return None
        return found

    def first_change(self, before: str, after: str) -> str:
        """Return the path of one file that differs between two trees; '' if there is none, or a tree is missing."""
        lead = ""
        for _ in range(_DEEPEST):
            old, new = self.get(before), self.get(after)
            if old is None or new is None:
                return ""
            name = next((name for name in (*new, *old) if old.get(name) != new.get(name)), "")
            was, now = old.get(name), new.get(name)
            if not name or not all(entry is None or entry.is_folder for entry in (was, now)):
                return f"{lead}{name}" if name else ""
            lead, before, after = f"{lead}{name}/", was.id if was else "", now.id if now else ""
        return ""

    def _content(self, id_: str) -> bytes | None:
        content = self._contents.get(id_)
        if content is None:
            content = self._objects.tree(id_)
            if content is not None:
                while self._contents and self._kept_bytes + len(content) > _MAX_KEPT_BYTES:
                    self._kept_bytes -= len(self._contents.pop(next(iter(self._contents))))
                self._contents[id_] = content
                self._kept_bytes += len(content)
        return content

    def _keep(self, id_: str, items: dict[str, TreeEntry]) -> None:
        if len(items) > _MAX_KEPT_TREES // 4:
            return
        while self._known and self._kept + len(items) > _MAX_KEPT_TREES:
            self._kept -= len(self._known.pop(next(iter(self._known))))
        self._known[id_] = items
        self._kept += len(items)


def _entry(content: bytes, name: bytes, id_bytes: int) -> TreeEntry:
    """Return the entry with a name in a tree's content; an empty entry if none exists."""
    needle = b" %b\0" % name
    at = content.find(needle)
    while at >= 0:
        is_folder = content[max(0, at - 6) : at] not in _FILES
        start = at - (len(_FOLDER) if is_folder else len(_FILES[0]))
        # The bytes before an entry are either absent, or the id of another entry, preceded by the end of a name.
        is_entry = start == 0 or (start > id_bytes and content[start - id_bytes - 1] == 0)
        if is_entry and (not is_folder or content[start:at] == _FOLDER):
            id_at = at + len(needle)
            return TreeEntry(is_folder, content[id_at : id_at + id_bytes].hex())
        at = content.find(needle, at + 1)
    return TreeEntry(False, "")


def _entries(content: bytes, id_bytes: int) -> dict[str, TreeEntry] | None:
    """Parse a tree; None if the content is corrupt."""
    found: dict[str, TreeEntry] = {}
    at, end = 0, len(content)
    while at < end:
        space = content.find(b" ", at, at + 8)
        zero = content.find(b"\0", space + 1)
        id_end = zero + 1 + id_bytes
        if space < 0 or zero < 0 or id_end > end:
            return None
        name = content[space + 1 : zero].decode("utf-8", "surrogateescape")
        found[name] = TreeEntry(content[at:space] == _FOLDER, content[zero + 1 : id_end].hex())
        at = id_end
    return found


@frozen
class CommitHead:
    tree: str
    parents: tuple[str, ...]
    time: int
    """Commit time, in seconds since 1970."""


class Commits:
    """Commits of a repository by id."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._known: dict[str, CommitHead] = {}

    def get(self, id_: str) -> CommitHead | None:
        """Return a commit, or None if the commit is missing, as beyond the end of a shallow clone."""
        known = self._known.get(id_)
        if known is not None:
            return known
        found = _HEAD.match(self._objects.commit_head(id_) or b"")
        if found is None:
            return None
        if len(self._known) >= _MAX_KEPT:
            self._known.clear()
        parents = tuple(line.removeprefix("parent ") for line in found[2].decode().splitlines())
        commit = self._known[id_] = CommitHead(found[1].decode(), parents, int(found[3]))
        return commit


class Ancestry:
    """Set of all commits reachable from some heads. A later question continues the walk where the last question
    stopped."""

    def __init__(self, commits: Commits, heads: Iterable[str]) -> None:
        self._commits = commits
        self._to_read = [(head, head) for head in heads]
        """Commits to read next, each with the child leading to it."""
        self._ahead: list[tuple[int, str]] = []
        self._seen: set[str] = set()
        self._passed: list[tuple[int, str]] = []
        self.cut_off: set[str] = set()
        """Commits with a missing parent, and missing heads."""

    def reaches(self, tip: str, deadline: Deadline) -> bool | None:
        """Return True if a commit is reachable. None: unknown, for want of objects or time."""
        if tip in self._seen:
            return True
        target = self._commits.get(tip)
        if target is None or not self._go_back(target.time - CLOCK_SLACK_S, deadline, tip):
            return None
        return tip in self._seen

    def since(self, earliest: int, deadline: Deadline) -> list[str] | None:
        """Return the reachable commits since a time, oldest first, or None if time ran out."""
        if not self._go_back(earliest - CLOCK_SLACK_S, deadline):
            return None
        return [id_ for when, id_ in sorted(self._passed) if when >= earliest]

    def _go_back(self, until: int, deadline: Deadline, tip: str = "") -> bool:
        """Walk until all remaining commits are older, or until the tip was met. Return False if time ran out."""
        while tip not in self._seen and (self._to_read or (self._ahead and -self._ahead[0][0] >= until)):
            # The clock is checked at each commit: a commit may have a thousand parents, and a hostile commit takes 20
            # ms to read.
            if deadline.is_past() or len(self._passed) >= _MAX_COMMITS:
                return False
            if self._to_read:
                self._add(*self._to_read.pop())
                continue
            when, id_ = heapq.heappop(self._ahead)
            self._passed.append((-when, id_))
            commit = self._commits.get(id_)
            self._to_read += [(parent, id_) for parent in commit.parents] if commit else []
        return True

    def _add(self, id_: str, child: str) -> None:
        if id_ in self._seen:
            return
        commit = self._commits.get(id_)
        if commit is None:
            self.cut_off.add(child)
        else:
            self._seen.add(id_)
            heapq.heappush(self._ahead, (-commit.time, id_))


def is_on_first_line(commits: Commits, head: str, tip: str, deadline: Deadline) -> bool | None:
    """Return True if first parents alone lead from a head to a commit: a commit made on the branch, or a
    fast-forward."""
    target, at = commits.get(tip), head
    for _ in range(_MAX_COMMITS):
        if deadline.is_past():
            return None
        commit = commits.get(at)
        if target is None or commit is None:
            return None
        if at == tip:
            return True
        if not commit.parents or commit.time < target.time - CLOCK_SLACK_S:
            return False
        at = commit.parents[0]
    return None
