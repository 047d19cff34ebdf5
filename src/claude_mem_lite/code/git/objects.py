"""git's objects by id: loose, packed, or from alternates. A corrupt or too large object counts as missing."""

import os
from pathlib import Path

from claude_mem_lite.code.git.packs import BLOB, COMMIT, TREE, Pack, apply_delta, inflate, pack_names
from claude_mem_lite.code.git.safe_files import OBJECT_ID, GitFiles, list_folder, open_file, read_text

_KINDS = {b"commit": COMMIT, b"tree": TREE, b"blob": BLOB}
_MAX_PACKS = 2_000
_MAX_ALTERNATES = 16
_LARGEST_TREE_BYTES = 1024 * 1024
_MAX_CHAIN_LENGTH = 300  # git makes chains of 50, and once made chains of 250
_COMMIT_HEAD_BYTES = 64 * 1024
# The base of a delta may be this many times larger than the limit of the object.
_LARGER_BASE = 4
# Limits for all deltas of an object together: a chain takes some 20 ms at most, even a hostile chain.
_MAX_STEPS = 50_000
_MAX_MADE_BYTES = 64 * 1024 * 1024
_LOOSE_LEAD_BYTES = 32
_RECENT_BYTES = 4 * 1024 * 1024


class Objects:
    """Objects of a repository. For one thread at a time."""

    def __init__(self, common: Path) -> None:
        self._folders = _with_alternates(common / "objects")
        self._files = GitFiles()
        self._packs: list[Pack] | None = None
        self._recent: dict[tuple[int, int], tuple[int, bytes]] = {}
        self._recent_bytes = 0

    def commit_head(self, id_: str) -> bytes | None:
        """Return the beginning of a commit, with tree, parents and time."""
        return self._read(id_, COMMIT, _COMMIT_HEAD_BYTES, begin=True)

    def tree(self, id_: str) -> bytes | None:
        """Return the content of a tree, or None if the tree is missing or larger than 1 MiB (some 25,000 names)."""
        return self._read(id_, TREE, _LARGEST_TREE_BYTES)

    def blob(self, id_: str, most: int) -> bytes | None:
        """Return the content of a file, or None if the blob is missing or larger than `most` bytes."""
        return self._read(id_, BLOB, most)

    def _read(self, id_: str, kind: int, most: int, *, begin: bool = False) -> bytes | None:
        if not OBJECT_ID.fullmatch(id_):
            return None
        found = self._packed(bytes.fromhex(id_), most, begin) or self._loose(id_, most, begin)
        return found[1] if found is not None and found[0] == kind else None

    def _loose(self, id_: str, most: int, begin: bool) -> tuple[int, bytes] | None:
        for folder in self._folders:
            opened = open_file(folder, f"{id_[:2]}/{id_[2:]}")
            if opened is not None:
                try:
                    return _loose_object(opened, most, begin)
                finally:
                    os.close(opened)
        return None

    def _packed(self, id_: bytes, most: int, begin: bool) -> tuple[int, bytes] | None:
        if self._packs is None:
            self._packs = [
                Pack(self._files, folder, name, len(id_))
                for folder in self._folders
                for name in pack_names(list_folder(folder, "pack", _MAX_PACKS))
            ]
        for position, pack in enumerate(self._packs):
            offset = pack.find(id_)
            if offset is not None:
                if position:  # the next object is most likely in the same pack
                    self._packs.insert(0, self._packs.pop(position))
                return self._at(pack, offset, most, begin)
        return None

    def _at(self, pack: Pack, offset: int, most: int, begin: bool) -> tuple[int, bytes] | None:
        """Return the object at an offset of a pack, rebuilt from its chain of deltas."""
        deltas: list[tuple[int, bytes]] = []
        largest = budget = _LARGER_BASE * most
        while (found := self._recent.get((id(pack), offset))) is None:
            entry = pack.entry(offset)
            if entry is None or len(deltas) > _MAX_CHAIN_LENGTH:
                return None
            is_part = begin and not deltas and entry.base is None
            if entry.size > (budget if deltas or entry.base is not None else most) and not is_part:
                return None
            content = pack.content(entry, most if is_part else entry.size)
            if content is None:
                return None
            if entry.base is None:
                found = entry.kind, content
                if not is_part:
                    self._keep(pack, offset, found)
                break
            deltas.append((offset, content))
            budget -= len(content)
            offset = entry.base
        steps, left_bytes = _MAX_STEPS, _MAX_MADE_BYTES
        for position, delta in reversed(deltas):
            made = apply_delta(found[1], delta, min(largest, left_bytes), steps)
            if made is None:
                return None
            found = found[0], made[0]
            steps, left_bytes = steps - made[1], left_bytes - len(made[0])
            self._keep(pack, position, found)
        return found if len(found[1]) <= most or begin else None

    def _keep(self, pack: Pack, offset: int, found: tuple[int, bytes]) -> None:
        """Cache an object. Objects are stored as deltas of each other: without the cache, each link would reread the
        chain."""
        size = len(found[1])
        if size > _RECENT_BYTES // 8:
            return
        while self._recent and self._recent_bytes + size > _RECENT_BYTES:
            self._recent_bytes -= len(self._recent.pop(next(iter(self._recent)))[1])
        self._recent[id(pack), offset] = found
        self._recent_bytes += size


def _loose_object(opened: int, most: int, begin: bool) -> tuple[int, bytes] | None:
    """Return the object in a loose file, after checking kind and size in the header."""

    def read(size: int, at: int) -> bytes:
        try:
            return os.pread(opened, size, at)
        except OSError:
            return b""

    lead, separator, content = (inflate(read, _LOOSE_LEAD_BYTES + most) or b"").partition(b"\0")
    kind, _, size = lead.partition(b" ")
    if not separator or kind not in _KINDS or not size.isdigit() or len(size) > 12:
        return None
    if not begin and not int(size) == len(content) <= most:
        return None
    return _KINDS[kind], content[:most]


def _with_alternates(objects: Path) -> list[Path]:
    """Return the object folder of a repository, and the folders of all alternates."""
    folders = [objects]
    for folder in folders:  # grows on the way
        for line in read_text(folder, "info/alternates").splitlines():
            path = Path(os.path.normpath(folder / line.strip()))
            if line.strip() and not line.startswith("#") and path not in folders and len(folders) < _MAX_ALTERNATES:
                folders.append(path)
    return folders
