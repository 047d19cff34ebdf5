"""The architecture in one test: rooms in the order of their imports, as docs/architecture.md draws them."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from tools.house import cycles, measure

import claude_mem_lite

PACKAGE = Path(claude_mem_lite.__file__).parent
# A room imports rooms of earlier rows only. Modules at the top level of the package are the room `values`.
ROWS = (
    ("hook",),
    ("values", "responses", "agents", "safety", "code/syntax", "code/git"),
    ("db", "embed"),
    ("inbox", "compress", "store"),
    ("code/freshness", "code/manifests"),
    ("code/callgraph",),
    ("search",),
    ("knowledge",),
    ("context", "team", "guards", "experiment"),
    ("worker",),
    ("client", "importers", "evaluation", "install", "mcp", "ui", "cli"),
)
VALUES, EDGES = 1, len(ROWS) - 1
# Edges talk to the worker through `client`; these pairs import each other's code directly.
BETWEEN_EDGES = {
    ("install", "client"),
    ("cli", "client"),
    ("cli", "install"),
    ("cli", "importers"),
    ("cli", "evaluation"),
    ("evaluation", "client"),
    ("evaluation", "importers"),
    ("cli", "mcp"),
    ("cli", "ui"),
    ("mcp", "client"),
    ("ui", "client"),
}
# Edge that runs a worker in its own process to replay sessions, so every room below is open to it.
REPLAYING = "evaluation"
# Single modules with a reason to reach further.
EXCEPTIONS = {
    ("__main__", "cli"),  # `python -m claude_mem_lite` is the command line
    ("cli/worker", "worker"),  # runs a worker instead of calling one
    ("ui/pages/guards", "install"),  # a decision on the page puts the hook of guards into settings, or takes it out
    ("importers/transcript_turns", "inbox"),  # removes secrets in the command, beside the worker
    ("importers/session_digests", "inbox"),  # applies the rules to turns there, as the worker would
    ("importers/session_digests", "compress"),
    # They open databases themselves, because they must work when no worker can start.
    ("cli/transfer/backup", "db"),
    ("install/doctor/database_checks", "db"),
    ("client/worker_process", "db"),
}
# A folder of a room imports these other folders of the room, and modules at the room's top.
ALCOVES: dict[str, dict[str, tuple[str, ...]]] = {
    "compress": {
        "prose": (),
        "lessons": ("prose",),
        "toolcalls": ("prose",),
        "compose": ("prose", "toolcalls"),
        "rules": ("prose", "lessons", "toolcalls", "compose"),
        "model": ("prose", "toolcalls", "compose"),
    },
    "store": {"index": (), "projects": ("index",), "experiment": ()},
    "knowledge": {"claims": (), "lessons": ("claims",)},
    "context": {"layers": (), "prompt": ("layers",)},
    "worker": {
        "http": (),
        "answers": ("http",),
        "models": (),
        "guards": (),
        "recovery": ("answers",),
        "team": (),
        "api": ("http", "answers", "models", "team"),
    },
}
MAX_MODULES_IN_A_FOLDER = 25


def test_every_module_is_in_a_room() -> None:
    assert {_room(_name(path)) for path in _modules()} == {room for row in ROWS for room in row}


def test_a_room_imports_only_rooms_of_earlier_rows() -> None:
    forbidden = [
        f"{module} imports {imported}"
        for module, imported in _imports()
        if not _is_allowed(_room(module), _room(imported)) and (module, _room(imported)) not in EXCEPTIONS
    ]
    assert forbidden == []


def test_every_exception_is_in_use() -> None:
    assert {(module, _room(imported)) for module, imported in _imports()} >= EXCEPTIONS


@pytest.mark.parametrize("room", ALCOVES)
def test_folders_of_a_room_are_in_order(room: str) -> None:
    below = ALCOVES[room]
    forbidden = [
        f"{module} imports {imported}"
        for module, imported in _imports()
        if (own := _alcove(room, module)) and (other := _alcove(room, imported))
        if other not in (own, *below[own])
    ]
    assert forbidden == []


def test_every_folder_of_these_rooms_has_its_place_in_the_order() -> None:
    folders = {room: {_alcove(room, _name(path)) for path in _modules()} - {""} for room in ALCOVES}
    assert folders == {room: set(below) for room, below in ALCOVES.items()}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycles(measure(PACKAGE).imports) == []


def test_modules_are_imported_by_their_full_names() -> None:
    relative = [
        f"{module}:{node.lineno}"
        for module, node in _import_statements()
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_no_folder_is_a_warehouse() -> None:
    folders = {path.parent for path in _modules()}
    crowded = {
        str(folder.relative_to(PACKAGE)): len(files)
        for folder in folders
        if len(files := [path for path in folder.glob("*.py") if path.name != "__init__.py"]) > MAX_MODULES_IN_A_FOLDER
    }
    assert crowded == {}


def test_the_hook_imports_nothing_of_the_package() -> None:
    assert [module for module, _ in _imports() if module.startswith("hook/")] == []


def test_package_files_named_init_are_empty() -> None:
    full = [path for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE and path.read_text().strip()]
    assert full == []


def _is_allowed(room: str, imported: str) -> bool:
    if room == imported or (room, imported) in BETWEEN_EDGES:
        return True
    own, other = _row(room), _row(imported)
    if own == EDGES and room != REPLAYING:
        return other == VALUES
    return other < own or own == other == VALUES


def _row(room: str) -> int:
    return next(number for number, rooms in enumerate(ROWS) if room in rooms)


def _room(module: str) -> str:
    folders = module.split("/")[:-1]
    if not folders:
        return "values"
    return "/".join(folders[:2]) if folders[0] == "code" else folders[0]


def _alcove(room: str, module: str) -> str:
    """Return the folder of a room that a module is in; empty at the room's top and in other rooms."""
    folders = module.split("/")[:-1]
    return folders[1] if folders[:1] == [room] and len(folders) > 1 else ""


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE)).removesuffix(".py")


def _modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


@cache
def _import_statements() -> list[tuple[str, ast.Import | ast.ImportFrom]]:
    """Return the statements that import, also inside functions, with their modules."""
    return [
        (_name(path), node)
        for path in _modules()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]


@cache
def _imports() -> list[tuple[str, str]]:
    """Return each import within the package as module and imported module. A package ends with a slash."""
    modules = {_name(path) for path in _modules()}
    packages = {f"{folder}/" for module in modules if (folder := module.rpartition("/")[0])}
    found = []
    for module, node in _import_statements():
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        for name in names:
            path_of = re.sub(r"^claude_mem_lite\.?", "", name).replace(".", "/")
            names_of = (path_of, path_of.rpartition("/")[0], f"{path_of}/")
            imported = next((each for each in names_of if each in modules or each in packages), None)
            if name.startswith("claude_mem_lite") and imported and imported != module:
                found.append((module, imported))
    return found
