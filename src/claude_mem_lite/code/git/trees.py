"""What files a commit has, and which of them differ between two commits. Only what differs is looked into."""

import time
from typing import NamedTuple

from claude_mem_lite.code.git.objects import Objects

_MAX_KEPT = 20_000
_MAX_KEPT_BYTES = 4 * 1024 * 1024
_MAX_CHANGES = 2_000
_DEEPEST = 64
_FOLDER = b"40000"
_FILES = (b"100644", b"100755", b"100664", b"120000", b"160000")


class Item(NamedTuple):
    """What stands under a name in a tree: another tree, or a file (a link and a submodule count as such)."""

    is_folder: bool
    id: str


Changes = dict[str, tuple[str, str]]
"""Paths of files that differ, each with its id before and after, '' where it is not there."""


class Trees:
    """The trees of a repository by id."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._known: dict[str, dict[str, Item]] = {}
        self._kept = 0
        self._contents: dict[str, bytes] = {}
        self._kept_bytes = 0

    def get(self, id_: str) -> dict[str, Item] | None:
        """What a tree holds by name; '' is the empty one; None when it is not here."""
        if not id_:
            return {}
        known = self._known.get(id_)
        if known is None:
            content = self._content(id_)
            known = _items(content, len(id_) // 2) if content is not None else None
            if known is not None:
                self._keep(id_, known)
        return known

    def find(self, root: str, path: str, deadline: float) -> str | None:
        """The id of the file at a path; '' when there is none, None when that cannot be told, or not in time."""
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

    def _find(self, tree: str, name: str, deadline: float) -> Item | None:
        """What a tree has under one name, without an id when that is nothing; None when that cannot be told."""
        content = self._content(tree) if time.monotonic() <= deadline else None
        if content is None:
            return None
        try:
            # One name is found a hundred times faster than all are read, and a folder may have tens of thousands.
            return _item(content, name.encode("utf-8", "surrogateescape"), len(tree) // 2)
        except UnicodeEncodeError:  # half a character: no file is called like that
            return Item(False, "")

    def changes(self, before: str, after: str, deadline: float) -> Changes | None:
        """What differs between two trees; None when trees are missing, or that is too much or takes too long."""
        found: Changes = {}
        left = [("", before, after)]
        while left:
            lead, one, other = left.pop()
            old, new = self.get(one), self.get(other)
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

    def _keep(self, id_: str, items: dict[str, Item]) -> None:
        if len(items) > _MAX_KEPT // 4:
            return
        while self._known and self._kept + len(items) > _MAX_KEPT:
            self._kept -= len(self._known.pop(next(iter(self._known))))
        self._known[id_] = items
        self._kept += len(items)


def _item(content: bytes, name: bytes, id_bytes: int) -> Item:
    """What is written in a tree under a name; nothing when there is no such name."""
    wanted = b" %b\0" % name
    at = content.find(wanted)
    while at >= 0:
        is_folder = content[max(0, at - 6) : at] not in _FILES
        start = at - (len(_FOLDER) if is_folder else len(_FILES[0]))
        # Before it stands nothing, or the id of another one, and before that the end of a name.
        is_entry = start == 0 or (start > id_bytes and content[start - id_bytes - 1] == 0)
        if is_entry and (not is_folder or content[start:at] == _FOLDER):
            id_at = at + len(wanted)
            return Item(is_folder, content[id_at : id_at + id_bytes].hex())
        at = content.find(wanted, at + 1)
    return Item(False, "")


def _items(content: bytes, id_bytes: int) -> dict[str, Item] | None:
    """What is written in a tree; None when it is damaged."""
    found: dict[str, Item] = {}
    at, end = 0, len(content)
    while at < end:
        space = content.find(b" ", at, at + 8)
        zero = content.find(b"\0", space + 1)
        id_end = zero + 1 + id_bytes
        if space < 0 or zero < 0 or id_end > end:
            return None
        name = content[space + 1 : zero].decode("utf-8", "surrogateescape")
        found[name] = Item(content[at:space] == _FOLDER, content[zero + 1 : id_end].hex())
        at = id_end
    return found
