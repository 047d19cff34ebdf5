"""The architecture in one test: rooms in the order of their imports, as docs/architecture.md draws them."""

import ast
import re
from pathlib import Path

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
    ("context", "team"),
    ("worker",),
    ("client", "importers", "install", "mcp", "ui", "cli"),
)
VALUES, EDGES = 1, len(ROWS) - 1
# Edges talk to the worker through `client`; these pairs import each other's code directly.
BETWEEN_EDGES = {
    ("install", "client"),
    ("cli", "client"),
    ("cli", "install"),
    ("cli", "importers"),
    ("cli", "mcp"),
    ("cli", "ui"),
    ("mcp", "client"),
    ("ui", "client"),
}
# Single modules with a reason to reach further.
EXCEPTIONS = {
    ("__main__", "cli"),  # `python -m claude_mem_lite` is the command line
    ("cli/worker", "worker"),  # runs a worker instead of calling one
    # They open databases themselves, because they must work when no worker can start.
    ("cli/transfer/backup", "db"),
    ("install/doctor/database_checks", "db"),
    ("client/worker_process", "db"),
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


def test_alcoves_of_compression_are_in_order() -> None:
    below: dict[str, tuple[str, ...]] = {
        "prose": (),
        "lessons": ("prose",),
        "toolcalls": ("prose",),
        "compose": ("prose", "toolcalls"),
        "rules": ("prose", "lessons", "toolcalls", "compose"),
        "model": ("prose", "toolcalls", "compose"),
    }
    forbidden = [
        f"{module} imports {imported}"
        for module, imported in _imports()
        if module.startswith("compress/") and imported.startswith("compress/")
        if _alcove(imported) not in (_alcove(module), *below[_alcove(module)])
    ]
    assert forbidden == []


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
    if own == EDGES:
        return other == VALUES
    return other < own or own == other == VALUES


def _row(room: str) -> int:
    return next(number for number, rooms in enumerate(ROWS) if room in rooms)


def _room(module: str) -> str:
    folders = module.split("/")[:-1]
    if not folders:
        return "values"
    return "/".join(folders[:2]) if folders[0] == "code" else folders[0]


def _alcove(module: str) -> str:
    return module.split("/")[1]


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE)).removesuffix(".py")


def _modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def _imports() -> list[tuple[str, str]]:
    """Return each import within the package, also inside functions, as module and imported module."""
    modules = {_name(path): path for path in _modules()}
    found = []
    for module, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                path_of = re.sub(r"^claude_mem_lite\.?", "", name).replace(".", "/")
                imported = next((one for one in (path_of, path_of.rpartition("/")[0]) if one in modules), None)
                if name.startswith("claude_mem_lite") and imported and imported != module:
                    found.append((module, imported))
    return found
