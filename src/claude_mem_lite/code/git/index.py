"""Parser of git's index, the list of tracked files. Versions 2, 3 and 4, with ids of 20 or 32 bytes.

`walk` is the only parser. `read_index` reads all entries, and `entries.Entries` finds single entries."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

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
