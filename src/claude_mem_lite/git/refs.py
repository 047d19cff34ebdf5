"""Branches by git's files: loose refs and packed ones. Reftables are not read: such a repository shows no branches."""

import os
from contextlib import suppress
from pathlib import Path

from claude_mem_lite.git.files import OBJECT_ID, REF, list_folder, open_file, read_text

_MOST_REFS = 20_000
_MOST_FOLDERS = 5_000
_PACKED_BYTES = 32 * 1024 * 1024
_LONGEST_LINE = 512


def read_refs(common: Path, lead: str) -> dict[str, str]:
    """Refs under `refs/heads` or another lead, by the rest of their names, each with its commit."""
    found = packed_refs(common, f"{lead}/")
    found.update(_loose_refs(common, lead))
    return {name.removeprefix(f"{lead}/"): commit for name, commit in found.items()}


def packed_refs(common: Path, lead: str) -> dict[str, str]:
    """What `packed-refs` holds of the refs whose full names begin like this."""
    opened = open_file(common, "packed-refs")
    if opened is None:
        return {}
    found: dict[str, str] = {}
    wanted, read = lead.encode(), 0
    with os.fdopen(opened, "rb") as file, suppress(OSError):
        while read < _PACKED_BYTES and len(found) < _MOST_REFS and (line := file.readline(_LONGEST_LINE)):
            read += len(line)
            commit, _, name = line.partition(b" ")
            if name.startswith(wanted):
                _add(found, name.decode("utf-8", "replace").strip(), commit.decode("ascii", "replace"))
    return found


def symbolic_ref(folder: Path, name: str) -> str:
    """The full name of the ref that a ref stands for; '' when it is an ordinary one or not there."""
    target = read_text(folder, name).strip()
    ref = target.removeprefix("ref:").strip()
    return ref if target.startswith("ref:") and REF.fullmatch(ref) else ""


def _loose_refs(common: Path, lead: str) -> dict[str, str]:
    found: dict[str, str] = {}
    folders = [lead]
    for folder in folders:  # grows on the way
        for name, is_folder in list_folder(common, folder, _MOST_REFS):
            ref = f"{folder}/{name}"
            if is_folder and len(folders) < _MOST_FOLDERS:
                folders.append(ref)
            elif not is_folder and len(found) < _MOST_REFS and not name.endswith(".lock"):
                _add(found, ref, read_text(common, ref, _LONGEST_LINE).strip())
    return found


def _add(found: dict[str, str], ref: str, commit: str) -> None:
    if REF.fullmatch(ref) and OBJECT_ID.fullmatch(commit):
        found[ref] = commit
