"""Source files of a project: the files tracked by git, else the files below the folder."""

import os
from collections.abc import Iterator
from pathlib import PurePosixPath

from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.values import frozen

_MAX_TRACKED = 50_000
_MAX_WALKED = 20_000
_MAX_ENTRIES = 200_000
# Third-party code and build output.
_NOT_OURS = (
    *("node_modules", "bower_components", "vendor", "third_party", "site-packages", "dist-packages", "venv", "env"),
    *("build", "dist", "target", "out", "coverage", "__pycache__", "Pods", "DerivedData"),
)


@frozen
class Sources:
    """Source files of a project, relative to the root. `is_cut`: too many files, the list is incomplete."""

    paths: tuple[str, ...]
    is_cut: bool = False
    by_git: bool = False
    """True if git tracks the files."""


def find_tracked(root: str) -> Sources | None:
    """Return the tracked source files, or None if git tracks nothing at all, as before the first `git add`."""
    repository = open_repository(root)
    tracked = repository.tracked() if repository is not None else {}
    paths = sorted(path for path in tracked if language_of(path))
    return Sources(tuple(paths[:_MAX_TRACKED]), len(paths) > _MAX_TRACKED, by_git=True) if tracked else None


def is_no_project(root: str) -> bool:
    """Return True if a folder is the user's home or the whole machine, too large to walk."""
    return root == "/" or root == os.path.realpath(os.path.expanduser("~"))


def walk(root: str) -> Sources:
    """Return the source files below a folder, tracked or not, without folders of third-party code."""
    found: list[str] = []
    for seen, path in enumerate(own_entries(root)):
        if seen >= _MAX_ENTRIES or len(found) >= _MAX_WALKED:
            return Sources(tuple(sorted(found)), is_cut=True)
        if language_of(path):
            found.append(path)
    return Sources(tuple(sorted(found)))


def own_entries(root: str) -> Iterator[str]:
    """Yield all entries below a folder except third-party folders, as relative paths. Links are not followed."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in inside:
            path = str(PurePosixPath(folder, entry.name))
            if entry.is_symlink() or entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False) and entry.name not in _NOT_OURS:
                waiting.append(path)
            yield path
