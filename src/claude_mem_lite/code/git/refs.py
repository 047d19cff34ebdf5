"""Branches from git's files: loose refs and packed refs. Reftables are not read: a repository with reftables shows no
branches."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from claude_mem_lite.code.git.safe_files import OBJECT_ID, REF, list_folder, open_file, read_text

_MAX_REFS = 20_000
_MAX_FOLDERS = 5_000
_PACKED_BYTES = 32 * 1024 * 1024
_MAX_LINE_LENGTH = 512
_BLOCK_BYTES = 1024 * 1024
_MAX_PACKED_KEPT = 4
_BRANCH_LEADS = (b" refs/heads/", b" refs/remotes/")


def read_refs(common: Path, lead: str) -> dict[str, str]:
    """Return refs with a prefix, as `refs/heads`, by the rest of the name, each with its commit."""
    found = packed_refs(common, f"{lead}/")
    found.update(_loose_refs(common, lead))
    return {name.removeprefix(f"{lead}/"): commit for name, commit in found.items()}


def packed_refs(common: Path, lead: str) -> dict[str, str]:
    """Return the local and remote branches in `packed-refs` with a prefix of the full name."""
    opened = open_file(common, "packed-refs")
    if opened is None:
        return {}
    try:
        state = os.fstat(opened)
        # Called for every event: a forge may store a ref for each of 200,000 pull requests.
        branches = _packed_branches(_Packed(opened, common, state.st_ino, state.st_mtime_ns, state.st_size))
    finally:
        os.close(opened)
    return {name: commit for name, commit in branches.items() if name.startswith(lead)}


@dataclass(frozen=True, slots=True)
class _Packed:
    """Cache key: a `packed-refs` file in the state of its opening."""

    opened: int = field(compare=False)
    common: Path
    inode: int
    changed_ns: int
    size: int


@lru_cache(maxsize=_MAX_PACKED_KEPT)
def _packed_branches(packed: _Packed) -> dict[str, str]:
    found: dict[str, str] = {}
    at, rest = 0, b""
    with suppress(OSError):
        while at < _PACKED_BYTES and (block := os.pread(packed.opened, _BLOCK_BYTES, at)):
            at += len(block)
            lines, _, rest = (rest + block).rpartition(b"\n")
            _add_branches(found, lines)
            rest = rest[:_MAX_LINE_LENGTH]
        _add_branches(found, rest)
    return found


def _add_branches(found: dict[str, str], lines: bytes) -> None:
    """Add the branches in a block of whole lines. Other refs are skipped without a loop over the lines."""
    for lead in _BRANCH_LEADS:
        at = lines.find(lead)
        while at >= 0 and len(found) < _MAX_REFS:
            start = lines.rfind(b"\n", 0, at) + 1
            end = lines.find(b"\n", at)
            commit, _, name = lines[start : end if end >= 0 else None].partition(b" ")
            _add(found, name.decode("utf-8", "replace").strip(), commit.decode("ascii", "replace"))
            at = lines.find(lead, end) if end >= 0 else -1


def symbolic_ref(folder: Path, name: str) -> str:
    """Return the full name of a symbolic ref's target; '' if the ref is ordinary or missing."""
    target = read_text(folder, name).strip()
    ref = target.removeprefix("ref:").strip()
    return ref if target.startswith("ref:") and REF.fullmatch(ref) else ""


def _loose_refs(common: Path, lead: str) -> dict[str, str]:
    found: dict[str, str] = {}
    folders = [lead]
    for folder in folders:  # grows on the way
        for name, is_folder in list_folder(common, folder, _MAX_REFS):
            ref = f"{folder}/{name}"
            if is_folder and len(folders) < _MAX_FOLDERS:
                folders.append(ref)
            elif not is_folder and len(found) < _MAX_REFS and not name.endswith(".lock"):
                _add(found, ref, read_text(common, ref, _MAX_LINE_LENGTH).strip())
    return found


def _add(found: dict[str, str], ref: str, commit: str) -> None:
    if REF.fullmatch(ref) and OBJECT_ID.fullmatch(commit):
        found[ref] = commit
