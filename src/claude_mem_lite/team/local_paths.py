"""Removal of home folders and user names from paths, before a text leaves this device. Pure."""

import re
from collections.abc import Sequence

from claude_mem_lite.values import frozen

_HOME = "~"
_NAME = r"[^/\\\s\"'`<>|:;,()\[\]{}*?%]+"
_SLASHES = r"(?:/+|%2[Ff])"
_BACKSLASHES = r"(?:[\\/]+|%5[Cc]|%2[Ff])"
# A slash after a word belongs to an address or to a path inside the project: `example.org/home/list`, `src/home/x`.
_START = r"(?<![\w.~-])"
_POSIX = re.compile(
    rf"{_START}{_SLASHES}(?:(?:var|usr|export|private|mnt|[a-z]|mnt/[a-z]|cygdrive/[a-z]){_SLASHES})?"
    rf"(?:home\d?|Users){_SLASHES}{_NAME}"
)
# A Windows name may have spaces; the name then ends at the next separator.
_WINDOWS = re.compile(
    rf"(?:[A-Za-z](?::|%3[Aa])|\\\\[\w.$?-]+(?:\\+[\w.$]+)?){_BACKSLASHES}(?i:users|documents and settings)"
    rf"{_BACKSLASHES}"
    rf"(?:[^\\/:*?\"<>|\r\n]{{1,40}}(?=[\\/])|{_NAME})"
)
_ROOT = re.compile(rf"{_START}{_SLASHES}root(?![\w-])(?!\.\w)")
_MOUNTED = re.compile(rf"{_START}/+(?:run/)?media/{_NAME}")
# Agents name folders of projects by their paths: `projects/-home-ana-shop`.
_DASHED = re.compile(r"(?<=[/\\])-(?:home|Users)-[^-/\\\s\"']+|(?<=[/\\])[A-Za-z]--Users-[^-/\\\s\"']+")
_NAMED_HOME = re.compile(r"(?<![\w~/])~[A-Za-z_][\w.-]*(?=/)")
# Worktrees of agents inside of the checkout: nobody else has them.
_WORKTREE = re.compile(rf"(?<![\w./~-])\.(?:claude/)?worktrees/{_NAME}/")
_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:|file:", re.I)


@frozen
class LocalPaths:
    """Folders of this machine: the user's home, and the folders in which a project is checked out."""

    home: str
    roots: tuple[str, ...] = ()

    def out_of(self, text: str) -> str:
        """Return a text with paths of checkouts and of worktrees in them made relative, and home folders as `~`."""
        if "/" not in text and "\\" not in text and "%" not in text:
            return text
        for root in _longest_first(self.roots):
            text = _within(root).sub("", text)
            text = _whole(root).sub(".", text)
        if _is_telling(self.home):
            text = _whole(self.home).sub(_HOME, text)
        for pattern in (_WINDOWS, _POSIX, _ROOT, _MOUNTED, _DASHED, _NAMED_HOME):
            text = pattern.sub(_HOME, text)
        return _WORKTREE.sub("", text)

    def file(self, path: str) -> str:
        """Return a file path relative to its checkout; '' for a path outside of the checkouts."""
        relative = self.out_of(path).replace("\\", "/")
        return relative if is_inside(relative) else ""


def is_inside(path: str) -> bool:
    """Return whether a path is relative and stays inside of its folder."""
    return bool(path) and not _ABSOLUTE.match(path) and ".." not in path.replace("\\", "/").split("/")


def _longest_first(folders: Sequence[str]) -> list[str]:
    return sorted((folder.rstrip("/") for folder in folders if _is_telling(folder)), key=len, reverse=True)


def _is_telling(folder: str) -> bool:
    return len(folder.rstrip("/\\")) > 1


def _within(folder: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.~/-])(?:file://)?{re.escape(folder)}[/\\]+")


def _whole(folder: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.~-])(?:file://)?{re.escape(folder.rstrip('/'))}(?![\w-])(?!\.\w)")
