"""Facts about a project from its manifests and README: role, commands, main dependencies.

The worker reads facts for a new project, and after changes to the files. Files are only read; nothing is run."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal, NamedTuple, get_args

from claude_mem_lite.code.manifests.commands import commands
from claude_mem_lite.code.manifests.manifest_files import MANIFESTS, READMES, ManifestFolder, is_plain_name
from claude_mem_lite.code.manifests.role import role
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.safety.redact import redact

MAX_LISTED = 10
MAX_COUNTED = 300
"""Limit of counted names; a larger number is of no use."""
# For single, truncated lines (see `ManifestFolder.lines`), or pieces of bounded length.
_REQUIREMENT = re.compile(
    r"[ \t]{0,8}+([A-Za-z0-9][\w.-]{0,60}+)[ \t]{0,8}+(?:\[[^\]]{0,100}+\])?[ \t]{0,8}+(?:[<>=!~;@,(\r]|$)"
)
_VERSION = re.compile(r"[\^~<>=!v ]{0,3}\d[\d.x*, <>=|^~-]{0,24}")
_GO_REQUIRE = re.compile(
    r"(?:require)?[ \t]{1,8}+([\w.-]{1,80}+/[\w./-]{1,120}+)[ \t]{1,8}+v\S{1,80}+(?:[ \t]{0,8}+(//[ \t]?indirect))?"
)
_GO_VERSION = re.compile(r"go[ \t]{1,8}+(\d\S{0,30}+)")
_GEM = re.compile(r"[ \t]{0,16}+gem[ \t]{1,8}+['\"]([\w-]{1,60}+)['\"]")
_ARTIFACT = re.compile(r"<artifactId>\s{0,40}+([\w.-]{1,80}+)\s{0,40}+</artifactId>")
_GRADLE = re.compile(
    r"[ \t]{0,16}+(?:implementation|api|compile)[ \t]{0,8}+\(?[ \t]{0,8}+['\"][\w.-]{1,80}+:([\w.-]{1,80}+)"
)
_CMAKE = re.compile(r"(?i)[ \t]{0,16}+find_package[ \t]{0,8}+\([ \t]{0,8}+(\w{1,60}+)")
_MAX_DEPENDENCY_LENGTH = 2_000
Slot = Literal["role", "commands", "dependencies"]
SLOTS: tuple[Slot, ...] = get_args(Slot)
_NAMES = (*MANIFESTS, *READMES)
# Version of the wording of facts. A change makes the worker read all facts again.
WORDING_VERSION = "2"


def dependencies(root: ManifestFolder) -> tuple[str, ...]:
    """Return the names in the order of the manifests, without extensions of other listed names."""
    names = list(dict.fromkeys(islice(_each(root), MAX_COUNTED)))
    known = frozenset(names)
    return tuple(name for name in names if is_plain_name(name) and not _is_part(name, known))


def language_version(root: ManifestFolder) -> str:
    """Return the required language version, as `Python >=3.11`; '' if none is stated."""
    stated = {
        "Python": root.table("pyproject.toml").at("project", "requires-python").text(),
        "Rust": root.table("Cargo.toml").at("package", "rust-version").text(),
        "Go": next(_firsts(_GO_VERSION, root.lines("go.mod")), ""),
        "Node": root.table("package.json").at("engines", "node").text(),
        "PHP": root.table("composer.json").at("require", "php").text(),
    }
    return next((f"{name} {text}" for name, text in stated.items() if _VERSION.fullmatch(text)), "")


def _each(root: ManifestFolder) -> Iterator[str]:
    project = root.table("pyproject.toml")
    yield from _required(project.at("project", "dependencies").texts())
    yield from (name for name in project.at("tool", "poetry", "dependencies").names() if name != "python")
    if not project:
        yield from _required(root.lines("requirements.txt"))
    package = root.table("package.json")
    runtime = package.at("dependencies").names()
    yield from runtime or (name for name in package.at("devDependencies").names() if not name.startswith("@types/"))
    cargo = root.table("Cargo.toml")
    yield from cargo.at("dependencies").names()
    yield from cargo.at("workspace", "dependencies").names()
    for line in root.lines("go.mod"):
        if (found := _GO_REQUIRE.match(line)) and not found[2]:
            yield found[1]
    yield from _firsts(_GEM, root.lines("Gemfile"))
    yield from _of_maven(root.text("pom.xml"))
    for name in ("build.gradle", "build.gradle.kts"):
        yield from _firsts(_GRADLE, root.lines(name))
    required = root.table("composer.json").at("require").names()
    yield from (name for name in required if name != "php" and not name.startswith("ext-"))
    yield from _firsts(_CMAKE, root.lines("CMakeLists.txt"))


def _firsts(pattern: re.Pattern[str], lines: Iterable[str]) -> Iterator[str]:
    """Yield the first group of a pattern for each matching line."""
    return (found[1] for line in lines if (found := pattern.match(line)))


def _of_maven(text: str) -> Iterator[str]:
    for block in text.split("<dependency>", MAX_COUNTED + 1)[1 : MAX_COUNTED + 1]:
        content = block[:_MAX_DEPENDENCY_LENGTH].partition("</dependency>")[0]
        if "<scope>test" not in content and (found := _ARTIFACT.search(content)):
            yield found[1]


def _required(lines: Iterable[str]) -> Iterator[str]:
    """Yield the names in pip requirement lines."""
    return _firsts(_REQUIREMENT, (line for line in lines if not line.lstrip().startswith(("#", "-"))))


def _is_part(name: str, known: frozenset[str]) -> bool:
    """Return True if a name extends another listed name: `tree-sitter-python` beside `tree-sitter`."""
    return any(sign in "-/" and name[:at] in known for at, sign in enumerate(name))


class Fact(NamedTuple):
    slot: Slot
    line: str
    files: tuple[str, ...]
    """Files with the fact."""


def read_facts(root: str) -> list[Fact]:
    """Return the facts of a checkout, at most one fact a slot, each on one line."""
    found = []
    files = ManifestFolder(root)
    for slot, read in (("role", _role), ("commands", _commands), ("dependencies", _dependencies)):
        files.used = {}
        line = read(files)
        if line and redact(line) == line and not reads_like_an_order(line):
            found.append(Fact(slot, line, tuple(files.used)))  # type: ignore[arg-type]  # one of the slots above
    return found


def signature(root: str, wording: str = WORDING_VERSION) -> str:
    """Return a short fingerprint of the manifests, changed by any change to them; '' without manifests.

    The fingerprint takes some forty `lstat` calls; no file is read."""
    seen = []
    for name in _NAMES:
        try:
            now = os.lstat(os.path.join(root, name))
        except (OSError, ValueError):
            continue
        seen.append(f"{name} {now.st_size} {now.st_mtime_ns}")
    return hashlib.sha256("\n".join((wording, *seen)).encode()).hexdigest()[:16] if seen else ""


def _role(root: ManifestFolder) -> str:
    text = role(root)
    return f"What it is: {text}" if text else ""


def _commands(root: ManifestFolder) -> str:
    text = ", ".join(f"{purpose} `{line}`" for purpose, line in commands(root))
    return f"Commands: {text}" if text else ""


def _dependencies(root: ManifestFolder) -> str:
    names, version = dependencies(root), language_version(root)
    number = len(names) - MAX_LISTED
    more = "" if number <= 0 else f" and {number} more" if len(names) < MAX_COUNTED // 2 else " and many more"
    listed = f"{', '.join(names[:MAX_LISTED])}{more}"
    if not names:
        return f"Language: {version}" if version else ""
    return f"Main dependencies: {listed}" + (f" ({version})" if version else "")
