"""Facts about a project from its manifests and README: role, commands, main dependencies.

The worker reads facts for a new project, and after changes to the files. Files are only read; nothing is run. Only
names from fixed lists become commands, and a command names the runner and the target, never the target's content. Text
invented by a foreign repository never becomes part of a command, except a program with the project's own name."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal, NamedTuple, get_args

from claude_mem_lite.code.manifests.manifest_files import MANIFESTS, READMES, ManifestFolder, Table, is_plain_name
from claude_mem_lite.code.manifests.role import role
from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.redact import redact

Purpose = Literal["test", "lint", "format", "build", "run"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
# Names of targets and scripts by purpose, plainest name first.
_COMMAND_NAMES: dict[Purpose, tuple[str, ...]] = {
    "test": ("test", "tests", "check", "test:unit", "unit", "ci"),
    "lint": ("lint", "check", "typecheck", "type-check", "clippy", "vet"),
    "format": ("format", "fmt", "prettier"),
    "build": ("build", "compile", "dist", "package", "all"),
    "run": ("run", "dev", "start", "serve"),
}
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
# For single, truncated lines: see `ManifestFolder.lines`.
_MAKE_TARGETS = lazy(r"([\w.-]{1,60}+(?: {1,8}+[\w.-]{1,60}+){0,20}) {0,8}+::?(?![=:])", re.A)
_JUST_RECIPE = lazy(r"@?([\w-]{1,60}+)(?: [^:=]{0,150}+)?:(?!=)", re.A)
_GO_MODULE = lazy(r"module[ \t]{1,8}+\S")
_CMAKE_PROJECT = lazy(r"(?i)[ \t]{0,16}+project[ \t]{0,8}+\(")
_CMAKE_TESTS = lazy(r"(?i)[ \t]{0,16}+(?:enable_testing[ \t]{0,8}+\(|include[ \t]{0,8}+\([ \t]{0,8}+CTest)")
_PROGRAM = lazy(r"[a-z][a-z0-9_-]{1,30}")
_CHECKERS = {"ruff": "ruff check", "flake8": "flake8", "pylint": "pylint", "mypy": "mypy", "pyright": "pyright"}
_NO_TEST = "no test specified"  # written by npm into a new package.json


class Command(NamedTuple):
    purpose: Purpose
    line: str


MAX_LISTED = 10
MAX_COUNTED = 300
"""Limit of counted names; a larger number is of no use."""
# For single, truncated lines (see `ManifestFolder.lines`), or pieces of bounded length.
_REQUIREMENT = lazy(
    r"[ \t]{0,8}+([A-Za-z0-9][\w.-]{0,60}+)[ \t]{0,8}+(?:\[[^\]]{0,100}+\])?[ \t]{0,8}+(?:[<>=!~;@,(\r]|$)"
)
_VERSION = lazy(r"[\^~<>=!v ]{0,3}\d[\d.x*, <>=|^~-]{0,24}")
_GO_REQUIRE = lazy(
    r"(?:require)?[ \t]{1,8}+([\w.-]{1,80}+/[\w./-]{1,120}+)[ \t]{1,8}+v\S{1,80}+(?:[ \t]{0,8}+(//[ \t]?indirect))?"
)
_GO_VERSION = lazy(r"go[ \t]{1,8}+(\d\S{0,30}+)")
_GEM = lazy(r"[ \t]{0,16}+gem[ \t]{1,8}+['\"]([\w-]{1,60}+)['\"]")
_ARTIFACT = lazy(r"<artifactId>\s{0,40}+([\w.-]{1,80}+)\s{0,40}+</artifactId>")
_GRADLE = lazy(r"[ \t]{0,16}+(?:implementation|api|compile)[ \t]{0,8}+\(?[ \t]{0,8}+['\"][\w.-]{1,80}+:([\w.-]{1,80}+)")
_CMAKE = lazy(r"(?i)[ \t]{0,16}+find_package[ \t]{0,8}+\([ \t]{0,8}+(\w{1,60}+)")
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


def commands(root: ManifestFolder) -> list[Command]:
    """Return a command for each purpose found, in the order of the purposes.

    Commands written by people come first: a Makefile, then scripts, then the usual commands of the language."""
    found: dict[Purpose, str] = {}
    for purpose, line in _each_command(root):
        found.setdefault(purpose, line)
    return [Command(purpose, found[purpose]) for purpose in PURPOSES if purpose in found]


def _each_command(root: ManifestFolder) -> Iterator[Command]:
    yield from _makefile(root)
    yield from _justfile(root)
    yield from _package_json(root)
    yield from _python(root)
    yield from _cargo(root)
    yield from _go(root)
    yield from _java(root)
    yield from _ruby(root)
    yield from _composer(root)
    yield from _cmake(root)


def _named(lead: str, names: set[str]) -> Iterator[Command]:
    """Yield commands for known names, each name for one purpose: `check` counts as a test only without a test
    target."""
    used: set[str] = set()
    for purpose in PURPOSES:
        name = next(
            (candidate for candidate in _COMMAND_NAMES[purpose] if candidate in names and candidate not in used), None
        )
        if name:
            used.add(name)
            yield Command(purpose, f"{lead} {name}")


def _makefile(root: ManifestFolder) -> Iterator[Command]:
    lines = next((root.lines(name) for name in _MAKEFILES if root.text(name)), [])
    names = {name for line in lines if (found := _MAKE_TARGETS.match(line)) for name in found[1].split()}
    yield from _named("make", names)


def _justfile(root: ManifestFolder) -> Iterator[Command]:
    lines = next((root.lines(name) for name in _JUSTFILES if root.text(name)), [])
    yield from _named("just", {found[1] for line in lines if (found := _JUST_RECIPE.match(line))})


def _package_json(root: ManifestFolder) -> Iterator[Command]:
    scripts = root.table("package.json").at("scripts")
    names = {name for name in scripts.names() if _NO_TEST not in scripts.at(name).text()}
    locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
    manager = next((name for lock, name in locks.items() if root.has(lock)), "npm")
    for purpose, line in _named(f"{manager} run", names):
        yield Command(purpose, line.replace(" run test", " test") if line.endswith(" run test") else line)


def _python(root: ManifestFolder) -> Iterator[Command]:
    project = root.table("pyproject.toml")
    tools = project.at("tool")
    runner = "uv run " if root.has("uv.lock") else "poetry run " if root.has("poetry.lock") else ""
    yield from _named("poe", set(tools.at("poe", "tasks").names()))
    yield from _named("pdm run", set(tools.at("pdm", "scripts").names()))
    yield from _named("hatch run", set(tools.at("hatch", "envs", "default", "scripts").names()))
    if root.has("noxfile.py"):
        yield Command("test", "nox")
    if root.has("tox.ini") or "tox" in tools.names():
        yield Command("test", "tox")
    if "pytest" in tools.names() or "[tool:pytest]" in root.text("setup.cfg") or _has_pytest(project):
        yield Command("test", f"{runner}pytest")
    used = tools.names()
    checks = [f"{runner}{line}" for tool, line in _CHECKERS.items() if tool in used]
    if checks:
        yield Command("lint", " && ".join(checks[:2]))
    if "black" in used or tools.at("ruff", "format"):
        yield Command("format", f"{runner}{'black .' if 'black' in used else 'ruff format'}")
    yield from (Command("run", f"{runner}{name}") for name in _own_program(project))


def _own_program(project: Table) -> list[str]:
    """Return the program with the project's name: any other name could be arbitrary text, shown as a command."""
    own = project.at("project", "name").text() or project.at("tool", "poetry", "name").text()
    programs = {*project.at("project", "scripts").names(), *project.at("tool", "poetry", "scripts").names()}
    spelled = (own, own.lower(), own.lower().replace("_", "-"), own.lower().replace("-", "_"))
    return [name for name in spelled if name in programs and _PROGRAM.fullmatch(name) and is_plain_name(name)][:1]


def _has_pytest(project: Table) -> bool:
    groups = [project.at("project", "optional-dependencies"), project.at("dependency-groups")]
    named = [text for group in groups for key in group.names() for text in group.at(key).texts()]
    return any(re.match(r"pytest\b", text) for text in named) or bool(
        project.at("tool", "poetry", "group", "dev", "dependencies", "pytest")
    )


def _cargo(root: ManifestFolder) -> Iterator[Command]:
    manifest = root.table("Cargo.toml")
    if not manifest.at("package") and not manifest.at("workspace"):
        return
    yield Command("test", "cargo test")
    yield Command("lint", "cargo clippy")
    yield Command("format", "cargo fmt")
    yield Command("build", "cargo build")
    if root.has("src/main.rs") or manifest.at("bin"):
        yield Command("run", "cargo run")


def _go(root: ManifestFolder) -> Iterator[Command]:
    if not any(map(_GO_MODULE.match, root.lines("go.mod"))):
        return
    yield Command("test", "go test ./...")
    yield Command("lint", "go vet ./...")
    yield Command("format", "gofmt -w .")
    yield Command("build", "go build ./...")
    if root.has("main.go"):
        yield Command("run", "go run .")


def _java(root: ManifestFolder) -> Iterator[Command]:
    if "<project" in root.text("pom.xml"):
        program = "./mvnw" if root.has("mvnw") else "mvn"
        yield Command("test", f"{program} test")
        yield Command("build", f"{program} package")
    elif root.has("build.gradle") or root.has("build.gradle.kts"):
        program = "./gradlew" if root.has("gradlew") else "gradle"
        yield Command("test", f"{program} test")
        yield Command("build", f"{program} build")


def _ruby(root: ManifestFolder) -> Iterator[Command]:
    if root.has("spec") and "rspec" in root.text("Gemfile"):
        yield Command("test", "bundle exec rspec")
    if root.has("Rakefile"):
        yield Command("test", "bundle exec rake" if root.has("Gemfile") else "rake")


def _composer(root: ManifestFolder) -> Iterator[Command]:
    yield from _named("composer", set(root.table("composer.json").at("scripts").names()))


def _cmake(root: ManifestFolder) -> Iterator[Command]:
    lines = root.lines("CMakeLists.txt")
    if any(map(_CMAKE_PROJECT.match, lines)):
        yield Command("build", "cmake -B build && cmake --build build")
        if any(map(_CMAKE_TESTS.match, lines)):
            yield Command("test", "ctest --test-dir build")
