"""Commands to test, lint, format, build and run a project, from the targets and scripts named in manifests.

Only names from fixed lists are recognised, and a command names the runner and the target, never the target's content.
Text invented by a foreign repository never becomes part of a command, except a program with the project's own name."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from claude_mem_lite.code.manifests.manifest_files import ManifestFolder, Table, is_plain_name

Purpose = Literal["test", "lint", "format", "build", "run"]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
# Names of targets and scripts by purpose, plainest name first.
_NAMES: dict[Purpose, tuple[str, ...]] = {
    "test": ("test", "tests", "check", "test:unit", "unit", "ci"),
    "lint": ("lint", "check", "typecheck", "type-check", "clippy", "vet"),
    "format": ("format", "fmt", "prettier"),
    "build": ("build", "compile", "dist", "package", "all"),
    "run": ("run", "dev", "start", "serve"),
}
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
# For single, truncated lines: see `ManifestFolder.lines`.
_MAKE_TARGETS = re.compile(r"([\w.-]{1,60}+(?: {1,8}+[\w.-]{1,60}+){0,20}) {0,8}+::?(?![=:])", re.A)
_JUST_RECIPE = re.compile(r"@?([\w-]{1,60}+)(?: [^:=]{0,150}+)?:(?!=)", re.A)
_GO_MODULE = re.compile(r"module[ \t]{1,8}+\S")
_CMAKE_PROJECT = re.compile(r"(?i)[ \t]{0,16}+project[ \t]{0,8}+\(")
_CMAKE_TESTS = re.compile(r"(?i)[ \t]{0,16}+(?:enable_testing[ \t]{0,8}+\(|include[ \t]{0,8}+\([ \t]{0,8}+CTest)")
_PROGRAM = re.compile(r"[a-z][a-z0-9_-]{1,30}")
_CHECKERS = {"ruff": "ruff check", "flake8": "flake8", "pylint": "pylint", "mypy": "mypy", "pyright": "pyright"}
_NO_TEST = "no test specified"  # written by npm into a new package.json


class Command(NamedTuple):
    purpose: Purpose
    line: str


def commands(root: ManifestFolder) -> list[Command]:
    """Return a command for each purpose found, in the order of the purposes.

    Commands written by people come first: a Makefile, then scripts, then the usual commands of the language."""
    found: dict[Purpose, str] = {}
    for purpose, line in _each(root):
        found.setdefault(purpose, line)
    return [Command(purpose, found[purpose]) for purpose in PURPOSES if purpose in found]


def _each(root: ManifestFolder) -> Iterator[Command]:
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
        name = next((candidate for candidate in _NAMES[purpose] if candidate in names and candidate not in used), None)
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
