"""The manifests of a checkout, read with care: plain files in its root, a bounded piece of each, nothing is run.

A repository may be foreign. What is broken, too large or behind a link is not there."""

import json
import os
import stat
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from claude_mem_lite.git.files import read_bytes

LARGEST_BYTES = 256 * 1024
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
    """The root of a checkout, whose files are read once each."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._texts: dict[str, str] = {}
        self.used: dict[str, None] = {}
        """The files that gave something, in order: `text` was asked for them and they were there."""

    def has(self, name: str) -> bool:
        """Whether a plain file, or a folder, of this name is there."""
        try:
            return not stat.S_ISLNK(os.lstat(self._path / name).st_mode)
        except (OSError, ValueError):
            return False

    def text(self, name: str) -> str:
        """What a file says; nothing when it is missing, too large, or no plain file."""
        if name not in self._texts:
            raw = read_bytes(self._path, name, LARGEST_BYTES + 1) or b""
            self._texts[name] = raw.decode("utf-8-sig", "replace") if len(raw) <= LARGEST_BYTES else ""
        if self._texts[name]:
            self.used[name] = None
        return self._texts[name]

    def table(self, name: str) -> "Table":
        """What a TOML or JSON file holds; nothing when it is broken."""
        try:
            told: object = tomllib.loads(self.text(name)) if name.endswith(".toml") else json.loads(self.text(name))
        except (ValueError, RecursionError):
            return Table(None)
        return Table(told)


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
