"""Where a checkout keeps its git folder, and what its HEAD says. `places` and `Repository` begin here."""

import os
from pathlib import Path

from claude_mem_lite.code.git.refs import packed_refs
from claude_mem_lite.code.git.safe_files import OBJECT_ID, REF, open_file, read_text


def find_checkout(folder: Path) -> tuple[Path, Path] | None:
    """The root of the checkout a folder is in, and its git folder, looking upwards."""
    for root in (folder, *folder.parents):
        git_folder = git_folder_of(root)
        if git_folder is not None:
            return root, git_folder
    return None


def git_folder_of(root: Path) -> Path | None:
    """The git folder of a checkout with exactly this root; None when it is none."""
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
    """The git folder that all worktrees share."""
    shared = read_text(git_folder, "commondir").strip()
    return Path(os.path.realpath(git_folder / shared)) if shared else Path(os.path.realpath(git_folder))


def folder_identity(common: Path) -> str:
    """Return what tells a git folder from another one that is put in its place, and outlives every rewriting of its
    history; '' when nothing does.

    git writes `description` when it makes the folder, and never again. The inode number alone is given out anew, the
    time alone is kept by copies. The number of the device may be another one after a reboot, so it is left out."""
    opened = open_file(common, "description")
    if opened is None:
        return ""
    try:
        found = os.fstat(opened)
    finally:
        os.close(opened)
    return f"{found.st_ino}-{found.st_mtime_ns}"


def read_head(git_folder: Path, common: Path) -> tuple[str, str]:
    """Branch ('' when detached) and commit ('' when unborn). Anything else a repository claims is not believed."""
    head = read_text(git_folder, "HEAD").strip()
    if OBJECT_ID.fullmatch(head):
        return "", head
    ref = head.removeprefix("ref:").strip()
    if not head.startswith("ref:") or not REF.fullmatch(ref):
        return "", ""
    loose = (read_text(folder, ref).strip() for folder in (git_folder, common))
    commit = next((one for one in loose if OBJECT_ID.fullmatch(one)), "")
    return ref.removeprefix("refs/heads/"), commit or packed_refs(common, ref).get(ref, "")
