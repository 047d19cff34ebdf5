"""What a project mainly stands on: the names of what it needs to run, few of them, and the version of its language."""

import re
from collections.abc import Iterator, Sequence

from claude_mem_lite.manifests.reading import Root

MOST = 10
# Patterns here never look at more than a few hundred characters from one place: a manifest may be made to be slow.
_LONGEST_LINE = 200
_NAME = re.compile(r"@?[A-Za-z0-9][\w./-]{0,60}")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]{0,60})\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@,(]|$)")
_VERSION = re.compile(r"[\^~<>=!v ]{0,3}\d[\d.x*, <>=|^~-]{0,24}")
_GO_REQUIRE = re.compile(
    r"(?m)^(?:require)?[ \t]{1,8}([\w.-]{1,80}/[\w./-]{1,120})[ \t]{1,8}v\S{1,80}(?:[ \t]{0,8}(//[ \t]?indirect))?"
)
_GEM = re.compile(r"(?m)^[ \t]*gem\s+['\"]([\w-]+)['\"]")
_MAVEN = re.compile(r"<dependency>(.{0,2000}?)</dependency>", re.S)
_ARTIFACT = re.compile(r"<artifactId>\s*([\w.-]+)\s*</artifactId>")
_GRADLE = re.compile(r"(?m)^[ \t]*(?:implementation|api|compile)\s*\(?\s*['\"][\w.-]+:([\w.-]+)")
_CMAKE = re.compile(r"(?i)\bfind_package\s*\(\s*(\w+)")


def dependencies(root: Root) -> tuple[str, ...]:
    """The names, in the order of the manifests; what only adds to another one of them is left out."""
    names = [name for name in dict.fromkeys(_each(root)) if _NAME.fullmatch(name)]
    return tuple(name for name in names if not _is_part(name, names))


def language_version(root: Root) -> str:
    """What the project asks of its language, as `Python >=3.11`; '' when it does not say."""
    go = re.search(r"(?m)^go\s+(\S+)", root.text("go.mod"))
    told = {
        "Python": root.table("pyproject.toml").at("project", "requires-python").text(),
        "Rust": root.table("Cargo.toml").at("package", "rust-version").text(),
        "Go": go[1] if go else "",
        "Node": root.table("package.json").at("engines", "node").text(),
        "PHP": root.table("composer.json").at("require", "php").text(),
    }
    return next((f"{name} {text}" for name, text in told.items() if _VERSION.fullmatch(text)), "")


def _each(root: Root) -> Iterator[str]:
    project = root.table("pyproject.toml")
    yield from _required(project.at("project", "dependencies").texts())
    yield from (name for name in project.at("tool", "poetry", "dependencies").names() if name != "python")
    if not project:
        yield from _required(root.text("requirements.txt").splitlines())
    package = root.table("package.json")
    runtime = package.at("dependencies").names()
    yield from runtime or (name for name in package.at("devDependencies").names() if not name.startswith("@types/"))
    cargo = root.table("Cargo.toml")
    yield from cargo.at("dependencies").names()
    yield from cargo.at("workspace", "dependencies").names()
    yield from (found[1] for found in _GO_REQUIRE.finditer(root.text("go.mod")) if not found[2])
    yield from (found[1] for found in _GEM.finditer(root.text("Gemfile")))
    for block in _MAVEN.finditer(root.text("pom.xml")):
        if "<scope>test" not in block[1] and (found := _ARTIFACT.search(block[1])):
            yield found[1]
    for name in ("build.gradle", "build.gradle.kts"):
        yield from (found[1] for found in _GRADLE.finditer(root.text(name)))
    required = root.table("composer.json").at("require").names()
    yield from (name for name in required if name != "php" and not name.startswith("ext-"))
    yield from (found[1] for found in _CMAKE.finditer(root.text("CMakeLists.txt")))


def _required(lines: Sequence[str]) -> list[str]:
    """The names in lines as pip reads them."""
    return [
        found[1] for line in lines if not line.lstrip().startswith(("#", "-")) and (found := _REQUIREMENT.match(line))
    ]


def _is_part(name: str, names: Sequence[str]) -> bool:
    """Whether a name is another one with something after it: `tree-sitter-python` beside `tree-sitter`."""
    return any(name != other and name.startswith((f"{other}-", f"{other}/")) for other in names)
