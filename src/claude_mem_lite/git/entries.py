"""git's index looked into here and there: a file by its name, the files of a folder, which endings names have.

`index.read_index` goes through all of it, which takes half a second for 100,000 files. Here nothing does: entries are
sorted, and one can be told from what surrounds it, so a name is found as in a telephone book."""

import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from claude_mem_lite.git.index import FIRST_ENTRY_AT, read_number

_HEAD_BYTES = 40
_HEAD = struct.Struct(">8xII8xI8xI")  # when it was changed in seconds and nanoseconds, its mode, its size
_PLAIN_MODES = (0o100644, 0o100755)
_MODES = frozenset((*_PLAIN_MODES, 0o120000, 0o160000, 0o040000))
_ASSUMED_UNCHANGED, _EXTENDED, _SKIPPED = 0x80, 0x40, 0x40
_NAME_LENGTH = 0xFFF
_LONGEST_ENTRY = 4096 + 100
_MOST_PROBES = 64
_ENDING = re.compile(rb"\.([A-Za-z+]{1,6})\0")
_WINDOWS, _WINDOW_BYTES = 64, 8 * 1024


class Entry(NamedTuple):
    """A tracked file: the id of what is staged, and what the file was like then."""

    path: str
    id: str
    mtime_s: int
    mtime_ns: int
    size: int
    is_watched: bool
    """False for links, submodules, what a sparse checkout leaves out, and what git was told to take for unchanged."""


class Found(NamedTuple):
    """Entries by their paths, and whether one that is not among them is surely not in the index."""

    entries: dict[str, Entry]
    is_all: bool


class Entries:
    """The index of one checkout, from its bytes. What is damaged gives less, or nothing."""

    def __init__(self, content: bytes, id_bytes: int) -> None:
        self._content = content
        self._id_bytes = id_bytes
        self._version = int.from_bytes(content[4:8], "big")
        is_known = content[:4] == b"DIRC" and self._version in (2, 3, 4)
        self.count = int.from_bytes(content[8:12], "big") if is_known else 0
        """How many files it says it has."""

    def each(self) -> Iterator[Entry]:
        """All entries, in the order of their names."""
        return self._from(FIRST_ENTRY_AT)

    def under(self, folder: str) -> Iterator[Entry]:
        """The entries in a folder and below; none when names cannot be looked up."""
        lead = f"{folder}/" if folder else ""
        if self._version == 4 and lead:
            return
        for entry in self._from(self._lower_bound(lead.encode("utf-8", "replace"))):
            if not entry.path.startswith(lead):
                return
            yield entry

    def find(self, paths: Sequence[str]) -> Found:
        """The entries of files; none in version 4, where a name is told by all names before it."""
        if self._version == 4 or not self.count:
            return Found({}, False)
        found: dict[str, Entry] = {}
        for path in paths:
            at = self._lower_bound(path.encode("utf-8", "replace"))
            entry = next(self._from(at), None)
            if entry is not None and entry.path == path:
                found[path] = entry
        return Found(found, True)

    def endings(self) -> Counter[str]:
        """How often names end in what, as `py`; of a large index, in 64 pieces of 8 KiB all over it."""
        content = self._content
        if len(content) <= _WINDOWS * _WINDOW_BYTES:
            windows: list[bytes] = [content]
        else:
            step = len(content) // _WINDOWS
            windows = [content[at : at + _WINDOW_BYTES] for at in range(0, step * _WINDOWS, step)]
        counts: Counter[bytes] = Counter()
        for window in windows if self.count else ():
            counts.update(_ENDING.findall(window))
        told: Counter[str] = Counter()
        for ending, number in counts.items():
            told[ending.decode().lower()] += number
        return told

    def _from(self, at: int) -> Iterator[Entry]:
        """The entries from where one begins."""
        path, number = b"", 0
        while number < self.count:
            read = self._read(at, path)
            if read is None:
                return
            entry, path, at = read
            number += 1
            yield entry

    def _read(self, at: int, before: bytes) -> tuple[Entry, bytes, int] | None:
        """The entry at an offset, its name, and where the next one begins; None when there is none."""
        content, id_end = self._content, at + _HEAD_BYTES + self._id_bytes
        if id_end + 4 > len(content):
            return None
        mtime_s, mtime_ns, mode, size = _HEAD.unpack_from(content, at)
        if mode not in _MODES:
            return None
        flags = content[id_end]
        name_at = id_end + (4 if flags & _EXTENDED else 2)
        kept = b""
        if self._version == 4:
            try:
                dropped, name_at = read_number(content, name_at)
            except IndexError:
                return None
            kept = before[: max(0, len(before) - dropped)]
        name_end = content.find(b"\0", name_at, name_at + _LONGEST_ENTRY)
        name = kept + content[name_at:name_end]
        length = (flags << 8 | content[id_end + 1]) & _NAME_LENGTH
        if name_end < 0 or not name or length not in (_NAME_LENGTH, len(name)):
            return None
        path = name.decode("utf-8", "replace")
        is_left_out = flags & _ASSUMED_UNCHANGED or (flags & _EXTENDED and content[id_end + 2] & _SKIPPED)
        is_watched = mode in _PLAIN_MODES and not is_left_out and _can_be_named(path)
        id_ = content[at + _HEAD_BYTES : id_end].hex()
        entry = Entry(path, id_, mtime_s, mtime_ns, size, is_watched)
        return entry, name, name_end + 1 if self._version == 4 else at + ((name_end - at) // 8 + 1) * 8

    def _lower_bound(self, name: bytes) -> int:
        """Where the first entry begins whose name is not before this one."""
        low, high = FIRST_ENTRY_AT, len(self._content)
        for _ in range(_MOST_PROBES):
            if high - low <= 8:
                break
            middle = (low + high) // 2
            found = self._next_begin(middle, min(high, middle + _LONGEST_ENTRY))
            if found is None:
                high = middle  # after the last entry, or no other begins before `high`
                continue
            at, own, after = found
            if own < name:
                low = after
            else:
                high = middle if at > middle else at
        found = self._next_begin(low, low + 2 * _LONGEST_ENTRY)
        while found is not None and found[1] < name:
            found = self._next_begin(found[2], found[2] + 8)
        return found[0] if found else len(self._content)

    def _next_begin(self, start: int, end: int) -> tuple[int, bytes, int] | None:
        """The first entry that begins in a stretch: where, its name, and where the next begins.

        Entries begin at multiples of eight from the first, with a known mode and the length of the name."""
        at = start + (FIRST_ENTRY_AT - start) % 8
        while at < end:
            read = self._read(at, b"")
            if read is not None:
                return at, read[1], read[2]
            at += 8
        return None


def _can_be_named(path: str) -> bool:
    return "\ufffd" not in path and path[0] != "/" and (".." not in path or ".." not in path.split("/"))
