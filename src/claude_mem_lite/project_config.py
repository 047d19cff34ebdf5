"""A repository's own settings, `.claude-mem-lite.toml` in its root: what it may say, and nothing else.

Whoever works in a repository need not have written this file, and may not have read it. So it can only make less of
what there is: smaller budgets, another built-in layout, folders of its own and tools that are left out. Nothing in it
can send anything anywhere, cost anything, reach beyond its root or stop anything. What it may not say is left out and
named by `doctor`; the rest holds, since colleagues with other versions share the file.

Whether TOML is such that reading it takes time in proportion to its length.

`tomllib` notes every beginning of a dotted key: of one key with twenty thousand parts it makes gigabytes. So a text is
looked over first, once from its beginning to its end, for what no manifest has."""

import difflib
import fnmatch
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from claude_mem_lite.code.git.checkout import find_checkout
from claude_mem_lite.paths import read_regular

_MAX_DOTS = 8
_MAX_TABLES = 300
_MAX_SIGNS = 4_000
_MAX_DEPTH = 20
# Strings and comments as `tomllib` sees them. One that does not end is taken as well, or each beginning of one would be
# followed to the end of the text; behind it nothing is read.
_STRING_OR_COMMENT = re.compile(
    r'"""(?:[^"\\]++|\\[\s\S]|"(?!""))*(?:"{3,5}+)?'
    r"|'''(?:[^']++|'(?!''))*(?:'{3,5}+)?"
    r'|"(?:[^"\\\n]++|\\.)*"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
)
_LONG_KEY = re.compile(rf"(?:\.[^.,=\[\]{{}}\n]*+){{{_MAX_DOTS + 1}}}")
_BRACKET = re.compile(r"[\[\]{}]")


def is_modest(text: str) -> bool:
    """Whether the parts of keys, the tables, the values and their depth are as many as people write."""
    bare = _STRING_OR_COMMENT.sub(lambda found: "" if found[0][0] == "#" else "s", text)
    tables = sum(line.lstrip().startswith("[") for line in bare.split("\n"))
    if tables > _MAX_TABLES or sum(map(bare.count, "=,.")) > _MAX_SIGNS or _LONG_KEY.search(bare):
        return False
    depth = 0
    for found in _BRACKET.finditer(bare):
        depth += 1 if found[0] in "[{" else -1
        if depth > _MAX_DEPTH:
            return False
    return True


NAME = ".claude-mem-lite.toml"
MAX_BYTES = 16 * 1024
MAX_ITEMS = 50
MAX_ITEM_LENGTH = 200
MAX_PROBLEMS = 10
"""Who fills the file with mistakes need not have each of them told."""
_SHOWN = 40
State = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """What one repository says; None and empty say nothing."""

    path: str = ""
    """The file; '' when there is none."""
    budget_tokens: int | None = None
    prompt_budget_tokens: int | None = None
    preset: str = ""
    exclude: tuple[str, ...] = ()
    """Folders below the root, as patterns told from there."""
    ignored_tools: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What was left out, and why."""

    def excludes(self, folder: str) -> bool:
        """Whether a folder of the repository, or one above it, is excluded. The root itself cannot be."""
        if not self.exclude:
            return False
        inside = os.path.relpath(os.path.realpath(folder), os.path.dirname(self.path))
        ways = [inside, *map(str, Path(inside).parents)]
        return any(fnmatch.fnmatchcase(way, glob) for glob in self.exclude for way in ways if way != ".")


@dataclass(slots=True)
class _Reading:
    """The file while it is read: what may be said, and what is wrong with the rest."""

    presets: Sequence[str]
    problems: list[str] = field(default_factory=list)

    def tokens(self, key: str, value: object) -> int | None:
        least = 1 if key == "budget_tokens" else 0
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        self.problems.append(f"{key} must be a whole number, {least} or more")
        return None

    def preset(self, value: object) -> str:
        if isinstance(value, str) and value in self.presets:
            return value
        self.problems.append(f"preset must be one of {', '.join(self.presets)}; one of your own belongs in config.toml")
        return ""

    def items(self, key: str, value: object, cleaned: Callable[[str], str]) -> tuple[str, ...]:
        """The strings of a list that can be used; the others are named."""
        if not isinstance(value, list):
            self.problems.append(f"{key} must be a list of strings")
            return ()
        if len(value) > MAX_ITEMS:
            self.problems.append(f"{key} has more than {MAX_ITEMS} items; the first ones hold")
        return tuple(self._cleaned(key, value[:MAX_ITEMS], cleaned))

    def _cleaned(self, key: str, value: Sequence[object], cleaned: Callable[[str], str]) -> Iterator[str]:
        for one in value:
            if isinstance(one, str) and len(one) <= MAX_ITEM_LENGTH and (clean := cleaned(one)):
                yield clean
            elif key == "exclude":
                self.problems.append(f"exclude: {_shown(one)} is no folder below the root, as in vendor/*")
            else:
                self.problems.append(f"{key}: {_shown(one)} is no name of a tool")


ALLOWED = ("budget_tokens", "prompt_budget_tokens", "preset", "exclude", "ignored_tools")
"""What a repository may say."""


def find(folder: str, presets: Sequence[str]) -> ProjectSettings:
    """What the repository that a folder is in says; nothing when it is in none or there is no such file.

    A file that did not change is not read again: every prompt and every start asks."""
    try:
        real = os.path.realpath(folder) if os.path.isabs(folder) else ""
        if not _may_have_one(real):
            return ProjectSettings()
        found = find_checkout(Path(real))
        path = str(found[0] / NAME) if found else ""
        looked = os.lstat(path)
    except (OSError, ValueError):  # ValueError: a NUL in the name, so no such folder can exist
        return ProjectSettings()
    return _read(path, (looked.st_ino, looked.st_mtime_ns, looked.st_size, looked.st_mode), tuple(presets))


def _may_have_one(folder: str) -> bool:
    """Whether such a file is there or anywhere above. Mostly there is none, and git need not be looked for."""
    while folder:
        if os.path.lexists(f"{folder}/{NAME}"):
            return True
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return False


@lru_cache(maxsize=64)
def _read(path: str, state: State, presets: tuple[str, ...]) -> ProjectSettings:  # noqa: ARG001  a key to know it by
    try:
        text = read_regular(Path(path), MAX_BYTES, follow=False).decode("utf-8")
        if not is_modest(text):
            raise ValueError("it has more in it than such a file needs")
        given = tomllib.loads(text)
    except OSError as error:
        return ProjectSettings(path, problems=(f"it cannot be read: {error.strerror}",))
    except (ValueError, RecursionError) as error:  # those of TOML and UTF-8 are such too
        return ProjectSettings(path, problems=(f"it cannot be read: {_shown(str(error), 120)}",))
    reading = _Reading(presets)
    for key in given:
        if key not in ALLOWED:
            reading.problems.append(_not_allowed(key))
    return ProjectSettings(
        path,
        budget_tokens=_if_given(given, "budget_tokens", reading.tokens),
        prompt_budget_tokens=_if_given(given, "prompt_budget_tokens", reading.tokens),
        preset=reading.preset(given["preset"]) if "preset" in given else "",
        exclude=reading.items("exclude", given["exclude"], _inside) if "exclude" in given else (),
        ignored_tools=reading.items("ignored_tools", given["ignored_tools"], str.strip)
        if "ignored_tools" in given
        else (),
        problems=tuple(reading.problems[:MAX_PROBLEMS]),
    )


def _if_given(given: dict[str, object], key: str, read: Callable[[str, object], int | None]) -> int | None:
    return read(key, given[key]) if key in given else None


def _inside(glob: str) -> str:
    """A pattern of folders below the root; '' when it leads anywhere else."""
    clean = glob.strip().removeprefix("./").rstrip("/")
    leads_out = clean.startswith(("/", "~")) or ".." in clean.split("/") or "\x00" in clean
    return "" if leads_out or clean in ("", ".") else clean


def _not_allowed(key: str) -> str:
    nearest = difflib.get_close_matches(key[:_SHOWN], ALLOWED, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"it may say {', '.join(ALLOWED)}"
    return f"a project may not set {_shown(key)}; {hint}"


def _shown(value: object, most: int = _SHOWN) -> str:
    """What stands in a file that anybody may have written, fit for a terminal."""
    return ascii(value)[:most] if not isinstance(value, str) or not value.isprintable() else value[:most]
