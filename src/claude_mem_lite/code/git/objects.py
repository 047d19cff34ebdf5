"""git's objects by id: loose, packed, or from alternates. A corrupt or too large object counts as missing.

Packs have an index of version 2. Bytes are read on demand: nothing of a pack stays in memory."""

import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path

from claude_mem_lite.code.git.safe_files import OBJECT_ID, GitFiles, list_folder, open_file, read_text
from claude_mem_lite.values import frozen

COMMIT, TREE, BLOB = 1, 2, 3
_OFFSET_DELTA, _ID_DELTA = 6, 7
_INDEX_START = b"\xfftOc\x00\x00\x00\x02"
_FANOUT_END = 8 + 256 * 4
_MAX_NAMES_AT_ONCE = 1024
_CHUNK_BYTES = 4096
_HEADER_BYTES = 64
_PACK_NAME = re.compile(r"pack-[0-9a-f]{40,64}\.idx")


@frozen
class PackEntry:
    """Header of an object in a pack: a whole object, or a delta to another object of the same pack."""

    kind: int
    size: int
    start: int
    """Offset of the compressed bytes."""
    base: int | None = None
    """Offset of the delta's base object."""


class Pack:
    """Objects of a pack by id. Unreadable objects count as missing; checksums are not verified."""

    def __init__(self, files: GitFiles, objects: Path, index: str, id_bytes: int) -> None:
        self._files = files
        self._objects = objects
        self._index = f"pack/{index}"
        self._data = f"pack/{index.removesuffix('.idx')}.pack"
        self._id_bytes = id_bytes
        head = files.read(objects, self._index, _FANOUT_END, 0)
        self._fanout = head[8:] if head.startswith(_INDEX_START) and len(head) == _FANOUT_END else bytes(1024)
        self._count = self._first_from(256)
        if _FANOUT_END + self._count * (id_bytes + 8) > files.size(objects, self._index):
            self._fanout, self._count = bytes(1024), 0

    def find(self, target: bytes) -> int | None:
        """Return the offset of an object, or None if the pack does not have the object."""
        low, high = self._first_from(target[0]), self._first_from(target[0] + 1)
        while high - low > _MAX_NAMES_AT_ONCE:
            middle = (low + high) // 2
            if self._names(middle, 1) <= target:
                low = middle
            else:
                high = middle
        names = self._names(low, high - low)
        at = names.find(target)
        while at > 0 and at % self._id_bytes:
            at = names.find(target, at + 1)
        return self._offset(low + at // self._id_bytes) if at >= 0 else None

    def entry(self, offset: int) -> PackEntry | None:
        """Return the header at an offset, or None if the offset holds no valid header."""
        head = self._files.read(self._objects, self._data, _HEADER_BYTES, offset)
        if len(head) < 2:
            return None
        kind, size, at = head[0] >> 4 & 7, head[0] & 15, 1
        shift = 4
        while head[at - 1] & 128:
            if at >= min(10, len(head)):
                return None
            size |= (head[at] & 127) << shift
            at, shift = at + 1, shift + 7
        if kind in (COMMIT, TREE, BLOB):
            return PackEntry(kind, size, offset + at)
        if kind == _OFFSET_DELTA:
            back, at = _offset_back(head, at)
            return PackEntry(kind, size, offset + at, offset - back) if 0 < back < offset else None
        if kind == _ID_DELTA and len(head) >= at + self._id_bytes:
            base = self.find(head[at : at + self._id_bytes])
            return PackEntry(kind, size, offset + at + self._id_bytes, base) if base is not None else None
        return None

    def content(self, entry: PackEntry, most: int) -> bytes | None:
        """Return the first `most` bytes of an entry's content."""
        target = min(entry.size, most)
        found = inflate(lambda size, at: self._files.read(self._objects, self._data, size, entry.start + at), target)
        return found if found is not None and len(found) == target else None

    def _first_from(self, first_byte: int) -> int:
        """Return the number of ids with a lower first byte."""
        if first_byte == 0:
            return 0
        return int.from_bytes(self._fanout[first_byte * 4 - 4 : first_byte * 4], "big")

    def _names(self, first: int, count: int) -> bytes:
        if not 0 < count <= _MAX_NAMES_AT_ONCE or first + count > self._count:  # the fanout of a corrupt index
            return b""
        at = _FANOUT_END + first * self._id_bytes
        return self._files.read(self._objects, self._index, count * self._id_bytes, at)

    def _offset(self, number: int) -> int | None:
        offsets = _FANOUT_END + self._count * (self._id_bytes + 4)
        found = self._files.read(self._objects, self._index, 4, offsets + number * 4)
        if len(found) < 4:
            return None
        offset = int.from_bytes(found, "big")
        if not offset >> 31:
            return offset
        far = offsets + self._count * 4 + (offset & 0x7FFFFFFF) * 8
        found = self._files.read(self._objects, self._index, 8, far)
        return int.from_bytes(found, "big") if len(found) == 8 and found[0] < 128 else None


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


def pack_names(entries: list[tuple[str, bool]]) -> list[str]:
    """Return the pack indexes among the entries of a folder."""
    return [name for name, is_folder in entries if not is_folder and _PACK_NAME.fullmatch(name)]


def inflate(read: Callable[[int, int], bytes], most: int) -> bytes | None:
    """Return the first `most` bytes of a compressed stream, or None if the stream is corrupt.

    Decompression stops after `most` bytes, and reading stops after the longest input possible for `most` bytes."""
    stream = zlib.decompressobj()
    parts: list[bytes] = []
    left, at = most, 0
    try:
        while left > 0 and not stream.eof:
            chunk = read(min(max(_CHUNK_BYTES, left), 65_536), at)
            if not chunk or at > 2 * most + _CHUNK_BYTES:
                return None
            at += len(chunk)
            part = stream.decompress(chunk, left)
            parts.append(part)
            left -= len(part)
    except zlib.error:
        return None
    return b"".join(parts)


def apply_delta(base: bytes, delta: bytes, most: int, most_steps: int) -> tuple[bytes, int] | None:
    """Return an object built from a base and a delta, and the number of steps. None: the delta does not fit the base.

    The result is limited to `most` bytes and `most_steps` steps: a step may add a single byte, so a small file could
    cause long work."""
    base_size, at = _size(delta, 0)
    size, at = _size(delta, at)
    if base_size != len(base) or size > most:
        return None
    parts: list[bytes] = []
    made, end = 0, len(delta)
    while at < end and made <= size:
        if len(parts) == most_steps:
            return None
        step = delta[at]
        at += 1
        if step & 128:
            start = length = 0
            for bit in range(7):
                if step >> bit & 1:
                    if at >= end:
                        return None
                    if bit < 4:
                        start |= delta[at] << 8 * bit
                    else:
                        length |= delta[at] << 8 * (bit - 4)
                    at += 1
            part = base[start : start + (length or 0x10000)]
        else:
            part = delta[at : at + step]
            at += step
        if not part:
            return None
        parts.append(part)
        made += len(part)
    return (b"".join(parts), len(parts)) if made == size else None


def _size(delta: bytes, at: int) -> tuple[int, int]:
    size = 0
    for number, part in enumerate(delta[at : at + 10]):
        size |= (part & 127) << 7 * number
        if not part & 128:
            return size, at + number + 1
    return -1, len(delta)


def _offset_back(head: bytes, at: int) -> tuple[int, int]:
    """Return the distance of a delta's base, and the end offset of the number; distance 0 if the number does not
    end."""
    back = head[at] & 127 if at < len(head) else 0
    while at < len(head) and head[at] & 128:
        at += 1
        if at >= len(head):
            return 0, at
        back = (back + 1) << 7 | head[at] & 127
    return back, at + 1
