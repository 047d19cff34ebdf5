"""Settings of a repository, `.claude-mem-lite.toml` in its root: allowed keys and their checks.

The user of a repository need not have written this file, and may not have read it. So the file can only reduce: smaller
budgets, another built-in layout, excluded folders of the repository, ignored tools. No key sends data, costs money,
reaches beyond the root or stops the memory. Other keys are left out and reported by `doctor`; the rest is used, since
colleagues with other versions share the file.

`is_modest` checks the size of the TOML first, in one pass: `tomllib` notes every prefix of a dotted key and needs
gigabytes for a key with twenty thousand parts."""

import difflib
import fnmatch
import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from claude_mem_lite.code.git.refs import find_checkout
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.paths import read_regular
from claude_mem_lite.values import frozen

_MAX_DOTS = 8
_MAX_TABLES = 300
_MAX_SIGNS = 4_000
_MAX_DEPTH = 20
# Strings and comments as in `tomllib`. An unterminated string matches too, or every quote would be followed to the end
# of the text; the text behind it is not read.
_STRING_OR_COMMENT = lazy(
    r'"""(?:[^"\\]++|\\[\s\S]|"(?!""))*(?:"{3,5}+)?'
    r"|'''(?:[^']++|'(?!''))*(?:'{3,5}+)?"
    r'|"(?:[^"\\\n]++|\\.)*"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
)
_LONG_KEY = lazy(rf"(?:\.[^.,=\[\]{{}}\n]*+){{{_MAX_DOTS + 1}}}")
_BRACKET = lazy(r"[\[\]{}]")


def is_modest(text: str) -> bool:
    """Return whether number and depth of keys, tables and values are of human size."""
    bare = _STRING_OR_COMMENT.sub(lambda bracket: "" if bracket[0][0] == "#" else "s", text)
    tables = sum(line.lstrip().startswith("[") for line in bare.split("\n"))
    if tables > _MAX_TABLES or sum(map(bare.count, "=,.")) > _MAX_SIGNS or _LONG_KEY.search(bare):
        return False
    depth = 0
    for bracket in _BRACKET.finditer(bare):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > _MAX_DEPTH:
            return False
    return True


NAME = ".claude-mem-lite.toml"
MAX_BYTES = 16 * 1024
MAX_ITEMS = 50
MAX_ITEM_LENGTH = 200
MAX_PROBLEMS = 10
"""A file full of mistakes need not have each mistake reported."""
_SHOWN = 40
State = tuple[int, int, int, int]


@frozen
class ProjectSettings:
    """Settings of one repository; None and empty mean not set."""

    path: str = ""
    """The file; '' without a file."""
    budget_tokens: int | None = None
    prompt_budget_tokens: int | None = None
    preset: str = ""
    exclude: tuple[str, ...] = ()
    """Patterns of folders, relative to the root."""
    ignored_tools: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Settings left out, with reasons."""

    def excludes(self, folder: str) -> bool:
        """Return whether a folder of the repository or a parent is excluded. The root itself cannot be excluded."""
        if not self.exclude:
            return False
        inside = os.path.relpath(os.path.realpath(folder), os.path.dirname(self.path))
        paths = [inside, *map(str, Path(inside).parents)]
        return any(fnmatch.fnmatchcase(path, glob) for glob in self.exclude for path in paths if path != ".")


@dataclass(slots=True)
class _ConfigReading:
    """File while being read: allowed values, and problems of the rest."""

    presets: Sequence[str]
    problems: list[str] = field(default_factory=list)

    def tokens(self, key: str, value: object) -> int | None:
        minimum = 1 if key == "budget_tokens" else 0
        if isinstance(value, int) and not isinstance(value, bool) and value >= minimum:
            return value
        self.problems.append(f"{key} must be a whole number, {minimum} or more")
        return None

    def preset(self, value: object) -> str:
        if isinstance(value, str) and value in self.presets:
            return value
        self.problems.append(f"preset must be one of {', '.join(self.presets)}; one of your own belongs in config.toml")
        return ""

    def items(self, key: str, value: object, cleaned: Callable[[str], str]) -> tuple[str, ...]:
        """Return the usable strings of a list; report the others."""
        if not isinstance(value, list):
            self.problems.append(f"{key} must be a list of strings")
            return ()
        if len(value) > MAX_ITEMS:
            self.problems.append(f"{key} has more than {MAX_ITEMS} items; the first ones hold")
        return tuple(self._cleaned(key, value[:MAX_ITEMS], cleaned))

    def _cleaned(self, key: str, value: Sequence[object], cleaned: Callable[[str], str]) -> Iterator[str]:
        for item in value:
            if isinstance(item, str) and len(item) <= MAX_ITEM_LENGTH and (clean := cleaned(item)):
                yield clean
            elif key == "exclude":
                self.problems.append(f"exclude: {_shown(item)} is no folder below the root, as in vendor/*")
            else:
                self.problems.append(f"{key}: {_shown(item)} is no name of a tool")


ALLOWED = ("budget_tokens", "prompt_budget_tokens", "preset", "exclude", "ignored_tools")
"""Keys that a repository may set."""


def find(folder: str, presets: Sequence[str]) -> ProjectSettings:
    """Return the settings of the repository of a folder; empty settings outside of a repository or without a file.

    An unchanged file is not read again: every prompt and every session start asks."""
    try:
        real = os.path.realpath(folder) if os.path.isabs(folder) else ""
        if not _is_above(real):
            return ProjectSettings()
        checkout = find_checkout(Path(real))
        path = str(checkout[0] / NAME) if checkout else ""
        status = os.lstat(path)
    except (OSError, ValueError):  # ValueError: a NUL in the name, so the folder cannot exist
        return ProjectSettings()
    return _read(path, (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode), tuple(presets))


def _is_above(folder: str) -> bool:
    """Return whether the folder or a parent holds a settings file. Usually none does, and the search for git is
    saved."""
    while folder:
        if os.path.lexists(f"{folder}/{NAME}"):
            return True
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return False


@lru_cache(maxsize=64)
def _read(path: str, state: State, presets: tuple[str, ...]) -> ProjectSettings:  # noqa: ARG001  part of the cache key
    try:
        text = read_regular(Path(path), MAX_BYTES, follow=False).decode("utf-8")
        if not is_modest(text):
            raise ValueError("it has more in it than such a file needs")
        settings = tomllib.loads(text)
    except OSError as error:
        return ProjectSettings(path, problems=(f"it cannot be read: {error.strerror}",))
    except (ValueError, RecursionError) as error:  # TOML and UTF-8 errors are ValueErrors
        return ProjectSettings(path, problems=(f"it cannot be read: {_shown(str(error), 120)}",))
    reading = _ConfigReading(presets)
    for key in settings:
        if key not in ALLOWED:
            reading.problems.append(_not_allowed(key))
    return ProjectSettings(
        path,
        budget_tokens=_read_optional(settings, "budget_tokens", reading.tokens),
        prompt_budget_tokens=_read_optional(settings, "prompt_budget_tokens", reading.tokens),
        preset=reading.preset(settings["preset"]) if "preset" in settings else "",
        exclude=reading.items("exclude", settings["exclude"], _inside) if "exclude" in settings else (),
        ignored_tools=reading.items("ignored_tools", settings["ignored_tools"], str.strip)
        if "ignored_tools" in settings
        else (),
        problems=tuple(reading.problems[:MAX_PROBLEMS]),
    )


def _read_optional(settings: dict[str, object], key: str, read: Callable[[str, object], int | None]) -> int | None:
    return read(key, settings[key]) if key in settings else None


def _inside(glob: str) -> str:
    """Return a pattern of folders below the root; '' for a pattern that leads elsewhere."""
    clean = glob.strip().removeprefix("./").rstrip("/")
    leads_out = clean.startswith(("/", "~")) or ".." in clean.split("/") or "\x00" in clean
    return "" if leads_out or clean in ("", ".") else clean


def _not_allowed(key: str) -> str:
    nearest = difflib.get_close_matches(key[:_SHOWN], ALLOWED, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"it may say {', '.join(ALLOWED)}"
    return f"a project may not set {_shown(key)}; {hint}"


def _shown(value: object, max_length: int = _SHOWN) -> str:
    """Return text from an untrusted file, printable on a terminal."""
    return ascii(value)[:max_length] if not isinstance(value, str) or not value.isprintable() else value[:max_length]
