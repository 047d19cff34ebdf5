"""What files a commit has, and which of them differ between two commits. Only what differs is looked into."""

import time
from typing import NamedTuple

from claude_mem_lite.git.objects import Objects

_MOST_KEPT = 20_000
_MOST_CHANGES = 2_000
_DEEPEST = 64
_FOLDER = b"40000"


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

    def get(self, id_: str) -> dict[str, Item] | None:
        """What a tree holds by name; '' is the empty one; None when it is not here."""
        if not id_:
            return {}
        known = self._known.get(id_)
        if known is None:
            content = self._objects.tree(id_)
            known = _items(content, len(id_) // 2) if content is not None else None
            if known is not None:
                self._keep(id_, known)
        return known

    def find(self, root: str, path: str) -> str | None:
        """The id of the file at a path; '' when there is none, None when that cannot be told."""
        *folders, name = path.split("/")
        at = root
        for folder in folders:
            items = self.get(at)
            if items is None:
                return None
            item = items.get(folder)
            if item is None or not item.is_folder:
                return ""
            at = item.id
        items = self.get(at)
        if items is None:
            return None
        item = items.get(name)
        return item.id if item is not None and not item.is_folder else ""

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
            if len(found) > _MOST_CHANGES or time.monotonic() > deadline:
                return None
        return found

    def _keep(self, id_: str, items: dict[str, Item]) -> None:
        if len(items) > _MOST_KEPT // 4:
            return
        while self._known and self._kept + len(items) > _MOST_KEPT:
            self._kept -= len(self._known.pop(next(iter(self._known))))
        self._known[id_] = items
        self._kept += len(items)


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
