"""Checkouts of the folders that recorded sessions worked in: a folder inside a checkout is a part of the checkout."""

from collections.abc import Collection

from claude_mem_lite.code.git.project_identity import find_location

_OF_WORKTREES = frozenset(("worktrees", ".worktrees"))
"""Folders inside a checkout that hold other checkouts."""


def checkouts_of(folders: Collection[str], *, is_one_project: bool) -> dict[str, str]:
    """Return the checkout of each folder: the checkout on this machine, else the folder itself.

    Folders of one project may come from another machine: there a folder is also a part of a folder that contains it."""
    located = {folder: _checkout_here(folder) for folder in folders}
    if not is_one_project:
        return located
    roots = frozenset(root for root in located.values() if root.startswith("/") and root.strip("/"))
    return {folder: _containing(root, roots) for folder, root in located.items()}


def _checkout_here(folder: str) -> str:
    root = find_location(folder).root
    return root if root and folder.startswith(f"{root.rstrip('/')}/") else folder


def _containing(folder: str, roots: Collection[str]) -> str:
    """Return the outermost root around a folder, up to a worktree."""
    around = max((root for root in roots if folder.startswith(f"{root.rstrip('/')}/")), key=len, default="")
    if not around or _OF_WORKTREES.intersection(folder[len(around) :].split("/")):
        return folder
    return _containing(around, roots)
