"""Approximation of `git status`: compare git's index with the files.

git is not run, and no folder is walked. A checkout of some thousand files is compared completely; in a larger checkout,
only the requested files and their neighbours."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from claude_mem_lite.code.git.index import Entries, IndexEntry
from claude_mem_lite.code.git.repository import Repository
from claude_mem_lite.code.git.safe_files import read_bytes
from claude_mem_lite.deadline import Deadline

_MAX_COMPARED = 2_000
_MAX_BESIDE, _MAX_OF_A_FOLDER = 600, 100
_LARGEST_HASHED = 256 * 1024
_FILES_PER_CLOCK_CHECK = 32


def touched(
    repository: Repository, entries: Entries, root: str, first: Sequence[str], most: int, deadline: Deadline
) -> list[str]:
    """Return up to `most` files with changes since the last commit: files of `first` in order, then others by name.

    An untracked file of `first` counts if the file exists."""
    found: dict[str, None] = {}
    known = entries.find(first)
    is_all = known.is_all and not repository.has_split_index()
    _, commit = repository.head()
    for path in first:
        if deadline.is_past():
            break
        entry = known.entries.get(path)
        if entry is not None:
            is_touched = _differs(root, entry) or _is_staged(repository, commit, entry, deadline)
        elif is_all:
            is_touched = _is_plain_file(root, path)
        else:
            is_touched = _differs_from_commit(repository, commit, root, path, deadline)
        if is_touched:
            found[path] = None
    for entry in _further_entries(entries, first, deadline):
        if len(found) >= most:
            break
        if entry.path not in found and _differs(root, entry):
            found[entry.path] = None
    return list(found)[:most]


def _further_entries(entries: Entries, first: Sequence[str], deadline: Deadline) -> Iterator[IndexEntry]:
    """Yield every entry of a small index; for a large index, the entries in the folders of the requested files."""
    if entries.count <= _MAX_COMPARED:
        yield from _in_time(entries.each(), deadline, _MAX_COMPARED)
        return
    folders = dict.fromkeys(path.rpartition("/")[0] for path in first)
    beside = (entry for folder in folders if folder for entry in islice(entries.under(folder), _MAX_OF_A_FOLDER))
    yield from _in_time(beside, deadline, _MAX_BESIDE)


def _in_time(entries: Iterable[IndexEntry], deadline: Deadline, most: int) -> Iterator[IndexEntry]:
    for number, entry in enumerate(entries):
        if number >= most or (number % _FILES_PER_CLOCK_CHECK == 0 and deadline.is_past()):
            return
        yield entry


def _differs(root: str, entry: IndexEntry) -> bool:
    """Return True if a file differs from the staged state. Entries without recorded state would need reading, and are
    skipped."""
    if not entry.is_watched or entry.mtime_s == 0:
        return False
    try:
        now = os.lstat(os.path.join(root, entry.path))
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    if not stat.S_ISREG(now.st_mode):
        return True
    is_same_time = now.st_mtime_ns // 10**9 & 0xFFFFFFFF == entry.mtime_s and (
        entry.mtime_ns == 0 or now.st_mtime_ns % 10**9 == entry.mtime_ns
    )
    if now.st_size & 0xFFFFFFFF != entry.size:
        return not (entry.size == 0 and is_same_time)  # git writes 0 for a file changed in the second of its staging
    return not is_same_time and _content_differs(root, entry)


def _content_differs(root: str, entry: IndexEntry) -> bool:
    """Return True if a file of equal size has other bytes. A file too large to read counts as equal."""
    return _blob_id(root, entry.path, len(entry.id)) not in (None, entry.id)


def _differs_from_commit(repository: Repository, commit: str, root: str, path: str, deadline: Deadline) -> bool:
    """Return True if a file without an index entry differs from the last commit."""
    before = repository.blob_at(commit, path, deadline) if commit else ""
    if before is None or not _is_plain_file(root, path):
        return bool(before)
    return before == "" or _blob_id(root, path, len(before)) not in (None, before)


def _blob_id(root: str, path: str, digits: int) -> str | None:
    """Return the blob id of a file's content, or None if the file is unreadable or too large."""
    data = read_bytes(Path(root), path, _LARGEST_HASHED + 1)
    if data is None or len(data) > _LARGEST_HASHED:
        return None
    make = hashlib.sha256 if digits == 64 else hashlib.sha1
    return make(b"blob %d\0" % len(data) + data).hexdigest()


def _is_staged(repository: Repository, commit: str, entry: IndexEntry, deadline: Deadline) -> bool:
    before = repository.blob_at(commit, entry.path, deadline) if commit else ""
    return before is not None and before != entry.id


def _is_plain_file(root: str, path: str) -> bool:
    if path.startswith(("/", "~")) or ".." in path.split("/"):
        return False
    try:
        return stat.S_ISREG(os.lstat(os.path.join(root, path)).st_mode)
    except (OSError, ValueError):
        return False
