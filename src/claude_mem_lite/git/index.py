"""git's index: which files a checkout tracks. Versions 2, 3 and 4, with ids of 20 or 32 bytes."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.git.files import read_bytes

LARGEST_BYTES = 32 * 1024 * 1024
_VERSIONS = (2, 3, 4)
FIRST_ENTRY_AT = 12
_MODE_AT = 26
_ID_AT = 40
_FILE_KINDS = (8, 10)  # plain files and links: no submodules, and no folders of a sparse index
_EXTENDED = 0x40
_LONGEST_PATH = 4096


def read_index(git_folder: Path, id_bytes: int) -> Iterator[tuple[str, str]]:
    """Tracked files by their paths, each with the id of what is staged; a path in conflict comes with each of its ids.

    One by one, because it takes a second to read those of 200,000 files, and some 50 MB to keep them. None when there
    is no index or when it is larger than 32 MiB (some 300,000 files); of a damaged one, those before the damage. Of
    one that is split in two files only the newer part is read."""
    content = read_bytes(git_folder, "index", LARGEST_BYTES + 1) or b""
    version, count = int.from_bytes(content[4:8], "big"), int.from_bytes(content[8:12], "big")
    if len(content) > LARGEST_BYTES or content[:4] != b"DIRC" or version not in _VERSIONS:
        return
    with suppress(IndexError):  # it ends in the middle of an entry
        yield from _entries(content, count, id_bytes, version)


def count_tracked(git_folder: Path) -> int:
    """How many files the index says it has; 0 when there is none that can be read."""
    head = read_bytes(git_folder, "index", FIRST_ENTRY_AT) or b""
    is_known = head[:4] == b"DIRC" and int.from_bytes(head[4:8], "big") in _VERSIONS
    return int.from_bytes(head[8:12], "big") if is_known else 0


def _entries(content: bytes, count: int, id_bytes: int, version: int) -> Iterator[tuple[str, str]]:
    at, path = FIRST_ENTRY_AT, b""
    for _ in range(count):
        id_end = at + _ID_AT + id_bytes
        name_at = id_end + (4 if content[id_end] & _EXTENDED else 2)
        kept = 0
        if version == 4:
            dropped, name_at = read_number(content, name_at)
            kept = max(0, len(path) - dropped)
        name_end = content.find(b"\0", name_at)
        if name_end < 0:
            return
        path = path[:kept] + content[name_at:name_end]
        if len(path) > _LONGEST_PATH:
            return
        leads_out = path[:1] == b"/" or (b".." in path and b".." in path.split(b"/"))
        if content[at + _MODE_AT] >> 4 in _FILE_KINDS and not leads_out:
            yield path.decode("utf-8", "replace"), content[at + _ID_AT : id_end].hex()
        # Entries are filled up to a multiple of eight bytes, but for version 4.
        at = name_end + 1 if version == 4 else at + ((name_end - at) // 8 + 1) * 8


def read_number(content: bytes, at: int) -> tuple[int, int]:
    """A number written in groups of seven bits, and where it ends; IndexError when it is none of an index."""
    number = content[at] & 127
    while content[at] & 128:
        at += 1
        number = (number + 1) << 7 | content[at] & 127
        if number > LARGEST_BYTES:
            raise IndexError
    return number, at + 1
