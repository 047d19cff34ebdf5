"""Excluded folders, by the same rules as `claude_mem_lite.config.is_excluded`.

Imported only if a guard matched and a configuration excludes folders: reading TOML takes longer than the whole hook."""

import fnmatch
import os
import tomllib

MAX_BYTES = 16 * 1024
MAX_DOTS = 200
"""Maximum in one line: `tomllib` notes every prefix of a dotted key, gigabytes for a key with twenty thousand parts."""


def is_excluded(users: str, repositorys: str, root: str, folder: str) -> bool:
    """Return whether a folder or a parent is excluded by the user's configuration or by the repository's."""
    real = os.path.realpath(folder)
    spellings = {folder, os.path.normpath(folder), real}
    try:
        globs = [os.path.expanduser(glob).rstrip("/") for glob in _globs(users)]
    except (tomllib.TOMLDecodeError, RecursionError):
        return True  # it may name this folder: until it can be read, events wait too
    globs += [os.path.realpath(glob) for glob in globs]
    if _matches(globs, {each for spelling in spellings for each in _with_parents(spelling)}):
        return True
    inside = os.path.relpath(real, os.path.realpath(root)) if root else "."
    try:
        return inside != "." and _matches(_globs(repositorys), _with_parents(inside))
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def _globs(configuration: str) -> list[str]:
    if len(configuration) > MAX_BYTES or any(line.count(".") > MAX_DOTS for line in configuration.split("\n")):
        return []
    value = tomllib.loads(configuration).get("exclude")
    return [glob for glob in value if isinstance(glob, str)] if isinstance(value, list) else []


def _with_parents(path: str) -> set[str]:
    found = {path}
    while (parent := os.path.dirname(path)) not in (path, ""):
        found.add(parent)
        path = parent
    return found


def _matches(globs: list[str], paths: set[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, glob) for glob in globs for path in paths)
