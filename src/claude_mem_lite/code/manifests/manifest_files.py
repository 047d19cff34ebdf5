"""The manifests of a checkout, read with care: plain files in its root, a bounded piece of each, nothing is run.

A repository may be foreign, and made to be slow. What is broken, too large or behind a link is not there, and all that
is done with what is read takes time in proportion to its length: the thread that looks works for all projects. There is
no clock in it, so that a busy machine reads what an idle one does.

Names that a foreign repository gives to things: which of them may be repeated to an agent."""

import json
import os
import re
import stat
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from claude_mem_lite.code.git.safe_files import read_bytes
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.project_config import is_modest

LARGEST_BYTES = 64 * 1024
# Generated parts make this one long, and reading JSON is quick.
_LARGEST_PACKAGE = 256 * 1024
_MAX_BYTES = 512 * 1024
_MAX_LINES = 2_000
_MAX_LINE_LENGTH = 200
MANIFESTS = (
    "pyproject.toml",
    "setup.cfg",
    "requirements.txt",
    "tox.ini",
    "noxfile.py",
    "uv.lock",
    "poetry.lock",
    "package.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "mvnw",
    "build.gradle",
    "build.gradle.kts",
    "gradlew",
    "Gemfile",
    "Rakefile",
    "composer.json",
    "CMakeLists.txt",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
)
READMES = ("README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md")


class Root:
    """The root of a checkout, whose files are read once each, and half a megabyte of them in all."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._left = _MAX_BYTES
        self._texts: dict[str, str] = {}
        self._tables: dict[str, Table] = {}
        self.used: dict[str, None] = {}
        """The files that gave something, in order: `text` was asked for them and they were there."""

    def has(self, name: str) -> bool:
        """Whether a plain file, or a folder, of this name is there."""
        try:
            return not stat.S_ISLNK(os.lstat(self._path / name).st_mode)
        except (OSError, ValueError):
            return False

    def text(self, name: str) -> str:
        """What a file says, of a long one how it begins; nothing when it is missing or no plain file."""
        if name not in self._texts:
            limit = min(_LARGEST_PACKAGE if name == "package.json" else LARGEST_BYTES, self._left)
            raw = read_bytes(self._path, name, limit + 1) or b""
            self._left -= min(len(raw), limit)
            # Half of TOML or JSON is neither.
            whole = len(raw) <= limit or not name.endswith((".toml", ".json"))
            self._texts[name] = raw[:limit].decode("utf-8-sig", "replace") if whole else ""
        if self._texts[name]:
            self.used[name] = None
        return self._texts[name]

    def lines(self, name: str) -> list[str]:
        """The first lines of a file, each without what goes on for too long."""
        return [line[:_MAX_LINE_LENGTH] for line in self.text(name).split("\n")[:_MAX_LINES]]

    def table(self, name: str) -> "Table":
        """What a TOML or JSON file holds; nothing when it is broken."""
        text = self.text(name)
        if name not in self._tables:
            self._tables[name] = Table(_read(text, is_toml=name.endswith(".toml")))
        return self._tables[name]


def _read(text: str, *, is_toml: bool) -> object:
    try:
        if is_toml:
            return tomllib.loads(text) if is_modest(text) else None
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class Table:
    """A value out of a manifest, of which nothing is known: what is asked for and is something else is not there."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __bool__(self) -> bool:
        return bool(self._value)

    def at(self, *keys: str) -> "Table":
        value = self._value
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        return Table(value)

    def text(self) -> str:
        return self._value if isinstance(self._value, str) else ""

    def names(self) -> list[str]:
        """The names in a table, in their order."""
        return [key for key in self._value if isinstance(key, str)] if isinstance(self._value, Mapping) else []

    def texts(self) -> list[str]:
        """The strings of a list, in their order."""
        is_list = isinstance(self._value, Sequence) and not isinstance(self._value, str)
        return [item for item in self._value if isinstance(item, str)] if is_list else []  # type: ignore[attr-defined]


_LONGEST = 80
# Of a name with slashes, each part by itself: `github.com/gin-gonic/gin`.
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
_BETWEEN_WORDS = re.compile(r"[._/@-]")
_MAX_WORDS = 5
_SPEAKS = frozenset("you your must should shall always never instructions prompt please".split())  # noqa: SIM905


def is_plain_name(name: str) -> bool:
    """Whether a name is short, of plain letters, and no sentence with hyphens for its blanks."""
    parts = name.removeprefix("@").split("/") if len(name) <= _LONGEST else []
    if not parts or not all(map(_PART.fullmatch, parts)):
        return False
    words = [_BETWEEN_WORDS.split(part.lower()) for part in parts]
    if any(len(one) > _MAX_WORDS for one in words):
        return False
    told = [word for one in words for word in one]
    return not (_SPEAKS & set(told) or reads_like_an_order(" ".join(told)))
