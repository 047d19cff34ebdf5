"""Safe reading of the manifests of a checkout: plain files in the root, a bounded part of each, nothing is run.

A repository may be hostile and built to be slow. A broken, too large or linked file counts as missing, and all work on
the content takes linear time, because the thread serves all projects. No clock is involved, so a busy machine reads the
same as an idle machine.

`is_plain_name` decides about names from a foreign repository: only plain names may be repeated to an agent."""

import json
import os
import stat
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from claude_mem_lite.code.git.safe_files import read_bytes
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.project_config import is_modest

LARGEST_BYTES = 64 * 1024
# Generated parts make this file long, and parsing JSON is quick.
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
_MAX_NAME_LENGTH = 80
# Each part of a name with slashes is matched separately: `github.com/gin-gonic/gin`.
_PART = lazy(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
_BETWEEN_WORDS = lazy(r"[._/@-]")
_MAX_WORDS = 5
_SPEAKS = frozenset("you your must should shall always never instructions prompt please".split())  # noqa: SIM905


class ManifestFolder:
    """Root of a checkout. Each file is read once, and half a megabyte in all."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._left = _MAX_BYTES
        self._texts: dict[str, str] = {}
        self._tables: dict[str, Table] = {}
        self.used: dict[str, None] = {}
        """Files read with content, in order."""

    def has(self, name: str) -> bool:
        """Return True if a plain file, or a folder, of this name exists."""
        try:
            return not stat.S_ISLNK(os.lstat(self._path / name).st_mode)
        except (OSError, ValueError):
            return False

    def text(self, name: str) -> str:
        """Return the beginning of a file's text; '' if the file is missing or no plain file."""
        if name not in self._texts:
            limit = min(_LARGEST_PACKAGE if name == "package.json" else LARGEST_BYTES, self._left)
            raw = read_bytes(self._path, name, limit + 1) or b""
            self._left -= min(len(raw), limit)
            # Truncated TOML or JSON cannot be parsed.
            whole = len(raw) <= limit or not name.endswith((".toml", ".json"))
            self._texts[name] = raw[:limit].decode("utf-8-sig", "replace") if whole else ""
        if self._texts[name]:
            self.used[name] = None
        return self._texts[name]

    def lines(self, name: str) -> list[str]:
        """Return the first lines of a file, each truncated."""
        return [line[:_MAX_LINE_LENGTH] for line in self.text(name).split("\n")[:_MAX_LINES]]

    def table(self, name: str) -> "Table":
        """Return the content of a TOML or JSON file; an empty table if the file is broken."""
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
    """Untyped value from a manifest. A value of an unexpected type counts as missing."""

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
        """Return the keys of a table, in order."""
        return [key for key in self._value if isinstance(key, str)] if isinstance(self._value, Mapping) else []

    def texts(self) -> list[str]:
        """Return the strings of a list, in order."""
        is_list = isinstance(self._value, Sequence) and not isinstance(self._value, str)
        return [item for item in self._value if isinstance(item, str)] if is_list else []  # type: ignore[attr-defined]


def is_plain_name(name: str) -> bool:
    """Return True if a name is short, of plain letters, and no sentence with hyphens for spaces."""
    parts = name.removeprefix("@").split("/") if len(name) <= _MAX_NAME_LENGTH else []
    if not parts or not all(map(_PART.fullmatch, parts)):
        return False
    words = [_BETWEEN_WORDS.split(part.lower()) for part in parts]
    if any(len(part_words) > _MAX_WORDS for part_words in words):
        return False
    all_words = [word for part_words in words for word in part_words]
    return not (_SPEAKS & set(all_words) or reads_like_an_order(" ".join(all_words)))
