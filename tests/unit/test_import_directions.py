"""The architecture in one test: who may import whom, as docs/architecture.md draws it."""

import ast
import re
from pathlib import Path

import claude_mem_lite

PACKAGE = Path(claude_mem_lite.__file__).parent
GROUPS = (
    ("hook",),
    (
        "errors",
        "paths",
        "models",
        "scopes",
        "told",
        "memory_lines",
        "config",
        "config_file",
        "project_file",
        "toml_care",
        "agents",
        "redaction",
        "safety",
        "words",
        "sentence_words",
        "code",
        "git",
        "places",
        "spool_names",
        "hook_copy",
        "safe_text",
        "client_marks",
        "patterns",
        "timestamps",
        "pauses",
    ),
    ("db", "embed"),
    ("inbox", "compress", "store"),
    ("codebase", "manifests"),
    ("search",),
    ("knowledge",),
    ("context",),
    ("worker",),
    ("wire", "client_values", "client", "worker_start", "install", "importers", "mcp", "ui", "cli", "__main__"),
)
# Group 7 talks to the worker; this is the one place where it runs one instead.
RUNS_THE_WORKER = {("cli", "worker")}
# And these look into databases by themselves, because they must when no worker can start.
LOOKS_INTO_DATABASES = {("cli/backup.py", "db"), ("install/doctor/databases.py", "db"), ("worker_start.py", "db")}
# They move with the rooms.
MOVING = {("context/prompt/lesson_question.py", "worker"), ("store/forgetting.py", "knowledge")}
OF_ITS_OWN_GROUP = {
    ("client", "wire"),
    ("client", "client_values"),
    ("worker_start", "client"),
    ("install", "client"),
    ("install", "client_values"),
    ("install", "worker_start"),
    ("cli", "client"),
    ("cli", "client_values"),
    ("cli", "worker_start"),
    ("cli", "install"),
    ("cli", "importers"),
    ("mcp", "client"),
    ("mcp", "client_values"),
    ("mcp", "worker_start"),
    ("cli", "mcp"),
    ("ui", "client"),
    ("ui", "client_values"),
    ("ui", "worker_start"),
    ("cli", "ui"),
    ("__main__", "cli"),
}


def test_every_part_of_the_package_has_its_place() -> None:
    parts = {_part(path) for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"}
    assert parts == {part for group in GROUPS for part in group}


def test_imports_go_from_later_groups_to_earlier_ones_only() -> None:
    forbidden = [
        f"{path.relative_to(PACKAGE)} imports {wanted}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for wanted in _imported_parts(path)
        if not _is_allowed(_part(path), wanted)
        if (str(path.relative_to(PACKAGE)), wanted) not in LOOKS_INTO_DATABASES | MOVING
        and (str(path.relative_to(PACKAGE)), wanted) not in LOOKS_INTO_DATABASES | MOVING
    ]
    assert forbidden == []


def test_compression_reads_tools_then_makes_rules_or_asks_a_model() -> None:
    """`rules/turns.py` stands on `compose`, which uses the fixes and repairs of `rules`; `model` makes memories of the
    form that `compose` has, and knows no rules."""
    below = {
        "language": (),
        "lessons": ("language",),
        "tools": ("language",),
        "rules": ("language", "lessons", "tools", "compose"),
        "compose": ("language", "tools", "rules"),
        "model": ("language", "tools", "compose"),
    }
    forbidden = []
    for path in sorted((PACKAGE / "compress").glob("*/**/*.py")):
        part = path.relative_to(PACKAGE / "compress").parts[0]
        wanted = set(re.findall(r"claude_mem_lite\.compress\.(\w+)", path.read_text("utf-8"))) - {part, *below[part]}
        forbidden += [f"{path.relative_to(PACKAGE)} imports {one}" for one in sorted(wanted)]
    assert forbidden == []


def test_the_hook_imports_nothing_of_the_package() -> None:
    assert [path.name for path in (PACKAGE / "hook").glob("*.py") if _imported_parts(path)] == []


def test_package_files_named_init_hold_nothing() -> None:
    full = [path for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE and path.read_text().strip()]
    assert full == []


def _is_allowed(part: str, wanted: str) -> bool:
    if part == wanted or (part, wanted) in RUNS_THE_WORKER | OF_ITS_OWN_GROUP:
        return True
    own, other = _group(part), _group(wanted)
    if own == 9:
        return other == 1
    return other < own or (own == 1 and other == 1)


def _group(part: str) -> int:
    return next(number for number, group in enumerate(GROUPS) if part in group)


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported_parts(path: Path) -> set[str]:
    """The parts of the package that a file imports, anywhere in it."""
    if path == PACKAGE / "__init__.py":
        return set()
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = {name.split(".")[1] for name in names if name.startswith("claude_mem_lite.")}
    return parts - {"__version__"}
