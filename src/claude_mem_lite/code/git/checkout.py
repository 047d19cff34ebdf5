"""Git folder and HEAD of a checkout. `project_identity` and `Repository` build on this module."""

import os
from pathlib import Path

from claude_mem_lite.code.git.refs import packed_refs
from claude_mem_lite.code.git.safe_files import OBJECT_ID, REF, open_file, read_text


def find_checkout(folder: Path) -> tuple[Path, Path] | None:
    """Return the root of the checkout around a folder, and the git folder. The search goes upwards."""
    for root in (folder, *folder.parents):
        git_folder = git_folder_of(root)
        if git_folder is not None:
            return root, git_folder
    return None


def git_folder_of(root: Path) -> Path | None:
    """Return the git folder of a checkout with exactly this root, or None if the folder is no checkout root."""
    entry = root / ".git"
    if entry.is_dir() and (entry / "HEAD").is_file():
        return entry
    if entry.is_file():
        target = read_text(root, ".git").partition("gitdir:")[2].strip()
        git_folder = Path(os.path.normpath(root / target)) if target else None
        if git_folder is not None and git_folder.is_dir():
            return git_folder
    return None


def common_folder(git_folder: Path) -> Path:
    """Return the git folder shared by all worktrees."""
    shared = read_text(git_folder, "commondir").strip()
    return Path(os.path.realpath(git_folder / shared)) if shared else Path(os.path.realpath(git_folder))


def folder_identity(common: Path) -> str:
    """Return a value to recognise a git folder by, stable across every rewrite of the history; '' if none is available.

    The value tells a git folder from a later replacement at the same path. git writes `description` when it creates the
    folder, and never again. An inode number alone gets reused, and copies preserve the time alone. The device number
    may change with a reboot, so the value leaves it out."""
    opened = open_file(common, "description")
    if opened is None:
        return ""
    try:
        found = os.fstat(opened)
    finally:
        os.close(opened)
    return f"{found.st_ino}-{found.st_mtime_ns}"


def read_head(git_folder: Path, common: Path) -> tuple[str, str]:
    """Return the branch ('' when detached) and the commit ('' when unborn). Malformed content counts as ('', '')."""
    head = read_text(git_folder, "HEAD").strip()
    if OBJECT_ID.fullmatch(head):
        return "", head
    ref = head.removeprefix("ref:").strip()
    if not head.startswith("ref:") or not REF.fullmatch(ref):
        return "", ""
    loose = (read_text(folder, ref).strip() for folder in (git_folder, common))
    commit = next((value for value in loose if OBJECT_ID.fullmatch(value)), "")
    return ref.removeprefix("refs/heads/"), commit or packed_refs(common, ref).get(ref, "")
