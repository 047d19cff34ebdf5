"""Files of a checkout meant by an import, by the rules of each language; none for foreign modules."""

import posixpath
from functools import lru_cache

from claude_mem_lite.code.callgraph.lookup import Lookup, family
from claude_mem_lite.code.freshness.working_tree import WorkingTree

_JAVASCRIPT_ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts")
_JAVASCRIPT_ROOTS = ("@/", "~/", "src/")
_RUST_LEADS = ("crate", "self", "super")


def find_module(lookup: Lookup, file: str, module: str) -> list[str]:
    """Return the files of an imported module; in Go and Java, the files of the folder."""
    language = family(file)
    if language == "python":
        return _python(lookup, file, module)
    if language == "javascript":
        return _javascript(lookup, file, module)
    if language == "go":
        return _go(lookup, module)
    if language == "java":
        return _java(lookup, module)
    return _rust(lookup, file, module) if language == "rust" else []


def submodule(lookup: Lookup, file: str, name: str) -> list[str]:
    """Return the file of a submodule, for the `__init__` file of a package."""
    folder, _, own = file.rpartition("/")
    return _existing(lookup, _python_files(_join(folder, name))) if own.startswith("__init__.") else []


def siblings(lookup: Lookup, file: str) -> list[str]:
    """Return the other files of the same folder and language."""
    folder = posixpath.dirname(file)
    return [path for path in lookup.by_folder.get(folder, ()) if path != file and family(path) == family(file)]


def _python(lookup: Lookup, file: str, module: str) -> list[str]:
    rest = module.lstrip(".")
    dots = len(module) - len(rest)
    if not dots:
        return _nearest(file, [path for path in _python_named(lookup, rest) if _starts_at_a_root(lookup, path, rest)])
    folder = posixpath.dirname(file)
    for _ in range(dots - 1):
        folder = posixpath.dirname(folder)
    return _existing(lookup, _python_files(_join(folder, rest.replace(".", "/"))))


def _python_named(lookup: Lookup, module: str) -> list[str]:
    last = module.rpartition(".")[2]
    at_root = ["__init__.py"] if last == posixpath.basename(lookup.root) else []
    return [path for path in (*lookup.with_stem(last), *_existing(lookup, at_root)) if family(path) == "python"]


def _starts_at_a_root(lookup: Lookup, path: str, module: str) -> bool:
    """Return True if a file can be imported under a module name: `json` is not the `json` inside a package."""
    # The checkout may be the package itself, so the checkout's name counts too.
    whole = f"{posixpath.basename(lookup.root)}/{path}".rpartition(".")[0].removesuffix("/__init__").split("/")
    parts = module.split(".")
    if whole[-len(parts) :] != parts:
        return False
    before = whole[: -len(parts)]
    return len(before) < 2 or f"{'/'.join(before[1:])}/__init__.py" not in lookup.files


def _python_files(path: str) -> list[str]:
    return [f"{path}.py", f"{path}/__init__.py", f"{path}.pyi", f"{path}/__init__.pyi"] if path else ["__init__.py"]


def _javascript(lookup: Lookup, file: str, module: str) -> list[str]:
    if module.startswith("."):
        path = posixpath.normpath(_join(posixpath.dirname(file), module))
        plain = path.rpartition(".")[0] if path.endswith((".js", ".jsx", ".mjs", ".cjs")) else path
        tries = [
            path,
            *(plain + end for end in _JAVASCRIPT_ENDINGS),
            *(f"{path}/index{end}" for end in _JAVASCRIPT_ENDINGS),
        ]
        return _existing(lookup, tries)[:1]
    root = next((root for root in _JAVASCRIPT_ROOTS if module.startswith(root)), "")
    path_end = module.removeprefix(root)
    stem = posixpath.basename(path_end).partition(".")[0]
    found = [path for path in lookup.with_stem(stem) if _is_at(path, path_end)] if root else []
    return _nearest(file, found)


def _is_at(path: str, path_end: str) -> bool:
    plain = path.partition(".")[0]
    return any(f"/{candidate}".endswith(f"/{path_end}") for candidate in (path, plain, plain.removesuffix("/index")))


def _go(lookup: Lookup, module: str) -> list[str]:
    own = _go_name(lookup.root)
    if own:
        folder = module.removeprefix(own).strip("/") if module == own or module.startswith(own + "/") else None
        return [] if folder is None else [path for path in lookup.by_folder.get(folder, ()) if family(path) == "go"]
    parts = module.split("/")
    for count in range(len(parts), 1, -1):  # a single name may well be a module of the standard library
        end = "/".join(parts[-count:])
        found = [
            path for folder, paths in lookup.by_folder.items() if f"/{folder}".endswith(f"/{end}") for path in paths
        ]
        if found:
            return [path for path in found if family(path) == "go"]
    return []


@lru_cache(maxsize=1)
def _go_name(root: str) -> str:
    """Return the name of the checkout's Go module, from go.mod."""
    try:
        with WorkingTree(root) as tree:
            found = tree.text("go.mod")
    except OSError:
        return ""
    lines = found.text.splitlines() if found else []
    return next(
        (line.split()[1].strip('"') for line in lines if line.startswith("module ") and len(line.split()) > 1), ""
    )


def _java(lookup: Lookup, module: str) -> list[str]:
    """Return the files of a package, or the file of a class."""
    path = module.replace(".", "/")
    folders = [paths for folder, paths in lookup.by_folder.items() if f"/{folder}".endswith(f"/{path}")]
    files = lookup.with_stem(path.rpartition("/")[2])
    of_class = [file for file in files if f"/{file}".endswith(f"/{path}.java")]
    return of_class or [file for paths in folders for file in paths if file.endswith(".java")]


def _rust(lookup: Lookup, file: str, module: str) -> list[str]:
    """Return the file for the last known name of a path; the modules between are not followed."""
    parts = [part for part in module.split("::") if part]
    for part in reversed(parts):
        if part not in _RUST_LEADS:
            found = [path for path in lookup.with_stem(part) if path.endswith(".rs")]
            if found:
                return _nearest(file, found)
    if parts and parts[-1] == "crate":
        return _nearest(file, [path for stem in ("lib", "main") for path in lookup.with_stem(stem)])
    return [file] if parts and parts[0] in _RUST_LEADS else []


def _nearest(file: str, paths: list[str]) -> list[str]:
    """Return the path with the longest common prefix with a file."""
    return sorted(paths, key=lambda path: (-len(posixpath.commonprefix([path, file])), path))[:1]


def _existing(lookup: Lookup, paths: list[str]) -> list[str]:
    return [path for path in paths if path in lookup.files]


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name
