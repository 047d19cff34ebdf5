"""Parser of git's index, the list of tracked files. Versions 2, 3 and 4, with ids of 20 or 32 bytes.

`walk` is the only parser. `read_index` parses the whole index, which takes half a second for 100,000 files. `Entries`
searches: entries are sorted, and the start of an entry can be recognised from any offset, so a binary search finds a
name."""

import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from claude_mem_lite.code.git.safe_files import read_bytes

LARGEST_BYTES = 32 * 1024 * 1024
VERSIONS = (2, 3, 4)
FIRST_ENTRY_AT = 12
HEAD_BYTES = 40
EXTENDED = 0x40
MAX_PATH_LENGTH = 4096
_MODE_AT = 26
_SLASH = ord("/")
_FILE_KINDS = (8, 10)  # plain files and links: no submodules, and no folders of a sparse index
RawEntry = tuple[int, bytes, int]
"""Offset of an entry, name, and offset of the next entry."""
_HEAD = struct.Struct(">8xII8xI8xI")  # change time in seconds and nanoseconds, mode, size
_PLAIN_MODES = (0o100644, 0o100755)
_MODES = frozenset((*_PLAIN_MODES, 0o120000, 0o160000, 0o040000))
_ENTRY_MODE_AT = 24
_MODE_BYTES = frozenset(mode.to_bytes(4, "big") for mode in _MODES)
_ASSUMED_UNCHANGED, _SKIPPED = 0x80, 0x40
_NAME_LENGTH = 0xFFF
_MAX_ENTRY_LENGTH = MAX_PATH_LENGTH + 100
_MAX_PROBES = 64
_ENDING = re.compile(rb"\.([A-Za-z+]{1,6})\0")
_WINDOWS, _WINDOW_BYTES = 64, 8 * 1024


def walk(content: bytes, at: int, count: int, id_bytes: int, version: int) -> Iterator[RawEntry]:
    """Yield entries from an offset on; in a corrupt index, only the entries before the corruption."""
    flags_after, is_packed, name = HEAD_BYTES + id_bytes, version == 4, b""
    with suppress(IndexError):  # the content ends in the middle of an entry
        for _ in range(count):
            flags_at = at + flags_after
            name_at = flags_at + (4 if content[flags_at] & EXTENDED else 2)
            if is_packed:
                dropped, name_at = _read_number(content, name_at)
                name_end = content.find(b"\0", name_at, name_at + MAX_PATH_LENGTH + 1)
                name = name[: max(0, len(name) - dropped)] + content[name_at:name_end]
            else:
                name_end = content.find(b"\0", name_at, name_at + MAX_PATH_LENGTH + 1)
                name = content[name_at:name_end]
            if name_end < 0 or not name or len(name) > MAX_PATH_LENGTH:
                return
            # Entries are padded to a multiple of eight bytes, except in version 4.
            after = name_end + 1 if is_packed else at + ((name_end - at) // 8 + 1) * 8
            yield at, name, after
            at = after


def leads_out(name: bytes) -> bool:
    """Return True if a name is a path out of the checkout."""
    return name[:1] == b"/" or (b".." in name and b".." in name.split(b"/"))


def read_index(git_folder: Path, id_bytes: int) -> Iterator[tuple[str, str]]:
    """Yield tracked files by path, each with the id of the staged content. A path in conflict comes once for each id.

    The function is a generator: 200,000 files take a second to read and some 50 MB to store. Nothing is yielded if the
    index is missing or larger than 32 MiB (some 300,000 files). A corrupt index yields only the entries before the
    corruption, and a split index only the newer part."""
    content = read_bytes(git_folder, "index", LARGEST_BYTES + 1) or b""
    version, count = int.from_bytes(content[4:8], "big"), int.from_bytes(content[8:12], "big")
    if len(content) > LARGEST_BYTES or content[:4] != b"DIRC" or version not in VERSIONS:
        return
    for at, name, _ in walk(content, FIRST_ENTRY_AT, count, id_bytes, version):
        # Calling `leads_out` for each name would take 5 % more time.
        is_inside = (name[0] != _SLASH and b".." not in name) or not leads_out(name)
        if is_inside and content[at + _MODE_AT] >> 4 in _FILE_KINDS:
            yield name.decode("utf-8", "replace"), content[at + HEAD_BYTES : at + HEAD_BYTES + id_bytes].hex()


def count_tracked(git_folder: Path) -> int:
    """Return the number of tracked files by the index header; 0 if no readable index exists."""
    head = read_bytes(git_folder, "index", FIRST_ENTRY_AT) or b""
    is_known = head[:4] == b"DIRC" and int.from_bytes(head[4:8], "big") in VERSIONS
    return int.from_bytes(head[8:12], "big") if is_known else 0


def _read_number(content: bytes, at: int) -> tuple[int, int]:
    """Return a number written in groups of seven bits, and the end offset. Raises IndexError if the number is
    invalid."""
    number = content[at] & 127
    while content[at] & 128:
        at += 1
        number = (number + 1) << 7 | content[at] & 127
        if number > LARGEST_BYTES:
            raise IndexError
    return number, at + 1


class IndexEntry(NamedTuple):
    """Tracked file: the id of the staged content, and the file's state when staged."""

    path: str
    id: str
    mtime_s: int
    mtime_ns: int
    size: int
    is_watched: bool
    """False for links, submodules, files outside a sparse checkout, and files marked "assume unchanged"."""


class FoundEntries(NamedTuple):
    """Entries by path; `is_all` is True if every other path is surely not in the index."""

    entries: dict[str, IndexEntry]
    is_all: bool


class Entries:
    """Index of one checkout, parsed from bytes. A corrupt index yields fewer entries, or none."""

    def __init__(self, content: bytes, id_bytes: int) -> None:
        self._content = content
        self._id_bytes = id_bytes
        self._version = int.from_bytes(content[4:8], "big")
        is_known = content[:4] == b"DIRC" and self._version in VERSIONS
        self.count = int.from_bytes(content[8:12], "big") if is_known else 0
        """Number of files according to the header."""

    def each(self) -> Iterator[IndexEntry]:
        """Yield all entries, sorted by name."""
        return self._from(FIRST_ENTRY_AT)

    def under(self, folder: str) -> Iterator[IndexEntry]:
        """Yield the entries in a folder and below; none if the index version has no random access."""
        lead = f"{folder}/" if folder else ""
        if self._version == 4 and lead:
            return
        for entry in self._from(self._lower_bound(lead.encode("utf-8", "replace"))):
            if not entry.path.startswith(lead):
                return
            yield entry

    def find(self, paths: Sequence[str]) -> FoundEntries:
        """Return the entries of files; none for version 4, where a name depends on all names before."""
        if self._version == 4 or not self.count:
            return FoundEntries({}, False)
        found: dict[str, IndexEntry] = {}
        for path in paths:
            at = self._lower_bound(path.encode("utf-8", "replace"))
            entry = next(self._from(at), None)
            if entry is not None and entry.path == path:
                found[path] = entry
        return FoundEntries(found, True)

    def endings(self) -> Counter[str]:
        """Count file endings, as `py`. A large index is sampled: 64 pieces of 8 KiB, spread evenly."""
        content = self._content
        if len(content) <= _WINDOWS * _WINDOW_BYTES:
            windows: list[bytes] = [content]
        else:
            step = len(content) // _WINDOWS
            windows = [content[at : at + _WINDOW_BYTES] for at in range(0, step * _WINDOWS, step)]
        counts: Counter[bytes] = Counter()
        for window in windows if self.count else ():
            counts.update(_ENDING.findall(window))
        endings_found: Counter[str] = Counter()
        for ending, number in counts.items():
            endings_found[ending.decode().lower()] += number
        return endings_found

    def _from(self, at: int) -> Iterator[IndexEntry]:
        """Yield the entries from an offset on."""
        for raw in walk(self._content, at, self.count, self._id_bytes, self._version):
            entry = self._entry(raw)
            if entry is None:
                return
            yield entry

    def _entry(self, raw: RawEntry) -> IndexEntry | None:
        """Return the entry at an offset, or None if the mode is unknown or the name length disagrees with the
        header."""
        content, (at, name, _) = self._content, raw
        id_end = at + HEAD_BYTES + self._id_bytes
        mtime_s, mtime_ns, mode, size = _HEAD.unpack_from(content, at)
        if mode not in _MODES or not self._fits(at, name):
            return None
        flags, path = content[id_end], name.decode("utf-8", "replace")
        is_left_out = flags & _ASSUMED_UNCHANGED or (flags & EXTENDED and content[id_end + 2] & _SKIPPED)
        is_watched = mode in _PLAIN_MODES and not is_left_out and "\ufffd" not in path and not leads_out(name)
        return IndexEntry(path, content[at + HEAD_BYTES : id_end].hex(), mtime_s, mtime_ns, size, is_watched)

    def _fits(self, at: int, name: bytes) -> bool:
        """Return True if a name has the length stated in the entry."""
        flags_at = at + HEAD_BYTES + self._id_bytes
        length = (self._content[flags_at] << 8 | self._content[flags_at + 1]) & _NAME_LENGTH
        return length in (_NAME_LENGTH, len(name))

    def _lower_bound(self, name: bytes) -> int:
        """Return the offset of the first entry with a name not less than `name`."""
        low, high = FIRST_ENTRY_AT, len(self._content)
        for _ in range(_MAX_PROBES):
            if high - low <= 8:
                break
            middle = (low + high) // 2
            found = self._next_begin(middle, min(high, middle + _MAX_ENTRY_LENGTH))
            if found is None:
                high = middle  # after the last entry, or no other entry begins before `high`
                continue
            at, own, after = found
            if own < name:
                low = after
            else:
                high = middle if at > middle else at
        found = self._next_begin(low, low + 2 * _MAX_ENTRY_LENGTH)
        while found is not None and found[1] < name:
            found = self._next_begin(found[2], found[2] + 8)
        return found[0] if found else len(self._content)

    def _next_begin(self, start: int, end: int) -> RawEntry | None:
        """Return the first entry beginning in a range of offsets.

        Entries begin at multiples of eight from the first entry, with a known mode and a matching name length."""
        content = self._content
        for at in range(start + (FIRST_ENTRY_AT - start) % 8, end, 8):
            if content[at + _ENTRY_MODE_AT : at + _ENTRY_MODE_AT + 4] not in _MODE_BYTES:
                continue
            for raw in walk(content, at, 1, self._id_bytes, self._version):
                if self._fits(at, raw[1]):
                    return raw
        return None
