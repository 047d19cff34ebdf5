"""Files of commits, and the differences between two commits. Equal subtrees are skipped."""

import time
from typing import NamedTuple

from claude_mem_lite.code.git.objects import Objects

_MAX_KEPT = 20_000
_MAX_KEPT_BYTES = 4 * 1024 * 1024
_MAX_CHANGES = 2_000
_DEEPEST = 64
_FOLDER = b"40000"
_FILES = (b"100644", b"100755", b"100664", b"120000", b"160000")


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

    def find(self, root: str, path: str, deadline: float) -> str | None:
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

    def _find(self, tree: str, name: str, deadline: float) -> TreeEntry | None:
        """Return the entry of a tree with a name, with an empty id if no entry exists. None: unknown."""
        content = self._content(tree) if time.monotonic() <= deadline else None
        if content is None:
            return None
        try:
            # Finding a single name is a hundred times faster than parsing all, and a folder may have tens of thousands.
            return _entry(content, name.encode("utf-8", "surrogateescape"), len(tree) // 2)
        except UnicodeEncodeError:  # half a character: no file has such a name
            return TreeEntry(False, "")

    def changes(self, before: str, after: str, deadline: float) -> Changes | None:
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
            if len(found) > _MAX_CHANGES or time.monotonic() > deadline:
                return None
        return found

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
        if len(items) > _MAX_KEPT // 4:
            return
        while self._known and self._kept + len(items) > _MAX_KEPT:
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
