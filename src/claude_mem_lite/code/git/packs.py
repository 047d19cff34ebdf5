"""One pack of objects with its index (version 2). Bytes are read on demand: nothing of the pack stays in memory."""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.code.git.safe_files import GitFiles

COMMIT, TREE, BLOB = 1, 2, 3
_OFFSET_DELTA, _ID_DELTA = 6, 7
_INDEX_START = b"\xfftOc\x00\x00\x00\x02"
_FANOUT_END = 8 + 256 * 4
_MAX_NAMES_AT_ONCE = 1024
_CHUNK_BYTES = 4096
_HEADER_BYTES = 64
_PACK_NAME = re.compile(r"pack-[0-9a-f]{40,64}\.idx")


@dataclass(frozen=True, slots=True)
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
