"""Symbols of a checkout by name, with callers and callees, and the source files that the graph covers. The graph only
reads the cache."""

import difflib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from claude_mem_lite.code.callgraph.lookup import MAX_POSSIBLE, Definition, Lookup, family
from claude_mem_lite.code.callgraph.resolve import CONSTRUCTORS, Resolver
from claude_mem_lite.code.freshness.source_files import Sources, find_tracked, is_no_project, walk
from claude_mem_lite.code.freshness.working_tree import LARGEST_BYTES, WorkingTree
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.code.syntax.references import CallSite
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.values import frozen

LANGUAGES = "Python, JavaScript, TypeScript, Go, Rust, Java, C, C++ and Ruby"
_DEFINES_NOTHING = "defines no function, method or class that could be read"
# A client in the middle of a read asks again at once; after this time, a new read begins.
_KEPT_S = 30.0


class Walks:
    """Cache of the last walk during a read: a large folder takes seconds to walk."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: tuple[str, float, Sources] | None = None

    def find_sources(self, root: str) -> Sources:
        """Return the source files of a checkout. Raises MemoryLiteError for a folder too large to walk."""
        tracked = find_tracked(root)
        if tracked is not None:
            return tracked
        if is_no_project(root):
            raise MemoryLiteError(
                f"{root} is no project, and too large to read as a whole",
                "go to the folder of a project, or name it with --cwd",
            )
        with self._lock:
            kept = self._kept
        return kept[2] if kept and kept[0] == root and self._now() < kept[1] + _KEPT_S else walk(root)

    def keep(self, root: str, sources: Sources) -> None:
        """Store the files of a walk, for the rest of the read."""
        if not sources.by_git:
            with self._lock:
                self._kept = (root, self._now(), sources)

    def forget(self) -> None:
        """Drop the files of the last walk, at the end of the read."""
        with self._lock:
            self._kept = None


MAX_SUGGESTED = 5


@frozen
class Edge:
    """Caller or callee, with the lines of the calls."""

    file: str
    """File of the caller or the callee."""
    name: str
    """Name of the symbol; '' for the top level of a file."""
    definition: Definition | None
    lines: tuple[int, ...]
    """Lines of the calls."""
    sure: bool


@frozen
class Callers:
    edges: tuple[Edge, ...]
    unclear: int
    """Number of calls of the name with too many possible methods."""
    heirs: int = 0
    """For a class: number of direct subclasses."""


@frozen
class Callees:
    edges: tuple[Edge, ...]
    foreign: tuple[tuple[str, int], ...]
    """Callees not defined in the project, with the number of calls."""
    unclear: int


def find_symbols(lookup: Lookup, text: str) -> list[Definition]:
    """Return the symbols of `renew`, `Session.renew`, `src/auth.py::Session.renew`, or all of `src/auth.py`."""
    file, name = _parts(text)
    found = lookup.defined(name.rpartition(".")[2]) if name else []
    in_file = (definition for definition in found if _ends_with(definition.file, file, "/"))
    meant = [definition for definition in in_file if _ends_with(definition.name, name, ".")]
    if meant or not _is_file(text):
        return meant
    path_end = text.removeprefix("./")
    paths = [path_end] if path_end in lookup.files else [path for path in lookup.files if path.endswith(f"/{path_end}")]
    return [definition for path in sorted(paths) for definition in lookup.of_file(path)]


def suggest(lookup: Lookup, text: str) -> list[str]:
    """Return the existing names nearest to an unknown name, best first."""
    if _is_file(text) and "/" in text:
        return difflib.get_close_matches(text, list(lookup.files), MAX_SUGGESTED)
    simple = _parts(text)[1].rpartition(".")[2]
    known = lookup.simple_names()
    lower = simple.lower()
    same = [candidate for candidate in known if candidate.lower() == lower]
    # All pairs would take a second in a large project; people get the beginning right, or ask for a part.
    likely = [name for name in known if name[:1].lower() == lower[:1] or lower in name.lower()]
    near = difflib.get_close_matches(simple, likely, MAX_SUGGESTED)
    names = list(dict.fromkeys((*same, *near)))[:MAX_SUGGESTED]
    return list(dict.fromkeys(definition.name for near in names for definition in lookup.defined(near)))[:MAX_SUGGESTED]


def callers(lookup: Lookup, resolver: Resolver, symbol: Definition) -> Callers:
    """Return the callers of a symbol, in file order, including the symbol itself for a recursion.

    A call of an overridden method may reach the symbol, and creating an instance is a call of the constructor."""
    simple = symbol.name.rpartition(".")[2]
    names = lookup.other_names(simple)
    meant = {symbol.key, *_created_by(lookup, resolver, symbol)}
    for _, created in meant - {symbol.key}:
        names |= lookup.other_names(created.rpartition(".")[2])
    overridden = resolver.overridden(symbol)
    found: dict[tuple[str, str], list[tuple[int, bool]]] = {}
    unclear: list[tuple[str, CallSite]] = []
    for file, call in lookup.calls_of(names):
        if family(file) != family(symbol.file):
            continue
        reached = resolver.reach(file, call)
        keys = {definition.key for definition in reached.definitions}
        if reached.is_open and call.name == simple and symbol.kind == "method":
            unclear.append((file, call))
        if meant & keys or (overridden & keys and not reached.is_exact):
            found.setdefault((file, call.within), []).append((call.line, reached.sure and bool(meant & keys)))
    if len(unclear) <= MAX_POSSIBLE and _namesakes(lookup, symbol) <= MAX_POSSIBLE:  # few enough to list as possible
        for file, call in unclear:
            found.setdefault((file, call.within), []).append((call.line, False))
        unclear = []
    edges = tuple(_edge(lookup, *location, calls) for location, calls in sorted(found.items()))
    return Callers(edges, len(unclear), _heirs(lookup, resolver, symbol, names))


def callees(lookup: Lookup, resolver: Resolver, symbol: Definition) -> Callees:
    """Return the callees of a symbol, in file order."""
    found: dict[tuple[str, str], list[tuple[int, bool]]] = {}
    foreign: Counter[str] = Counter()
    unclear = 0
    for call in lookup.calls_in(symbol.file, symbol.name):
        reached = resolver.reach(symbol.file, call)
        for definition in reached.definitions:
            found.setdefault(definition.key, []).append((call.line, reached.sure))
        unclear += reached.is_open
        if reached.is_foreign:
            foreign[call.name] += 1
    edges = tuple(_edge(lookup, *location, calls) for location, calls in sorted(found.items()))
    return Callees(edges, tuple(foreign.most_common()), unclear)


def _created_by(lookup: Lookup, resolver: Resolver, symbol: Definition) -> set[tuple[str, str]]:
    """Return the classes instantiated by a constructor, as (file, name): the own class, and subclasses inheriting the
    constructor."""
    owner, _, name = symbol.name.rpartition(".")
    is_named_so = name in CONSTRUCTORS
    if symbol.kind != "method" or not (is_named_so or name == owner.rpartition(".")[2]):
        return set()
    created = [resolver.class_at(symbol.file, owner)]
    for _, class_name in created if is_named_so else ():  # grows meanwhile
        for heir in lookup.subclasses(class_name.rpartition(".")[2]):
            if heir not in created and resolver.inherits(*heir, symbol):
                created.append(heir)
    return set(created)


def _heirs(lookup: Lookup, resolver: Resolver, symbol: Definition, names: Iterable[str]) -> int:
    """Return the number of direct subclasses of a class, under any of its names."""
    if symbol.kind != "class":
        return 0
    heirs = {heir for name in names for heir in lookup.subclasses(name)}
    return sum(symbol.key in resolver.bases(*heir) for heir in heirs)


def _namesakes(lookup: Lookup, symbol: Definition) -> int:
    """Return the number of methods with the name of a method."""
    found = lookup.defined(symbol.name.rpartition(".")[2])
    return sum(definition.kind == "method" and family(definition.file) == family(symbol.file) for definition in found)


def _edge(lookup: Lookup, file: str, name: str, calls: Iterable[tuple[int, bool]]) -> Edge:
    lines = tuple(sorted({line for line, _ in calls}))
    return Edge(file, name, lookup.definition(file, name) if name else None, lines, any(sure for _, sure in calls))


def _parts(text: str) -> tuple[str, str]:
    """Return the file, or '', and the name in a name as typed."""
    text = text.strip().removesuffix("()")
    file, mark, name = text.partition("::")
    if mark and (language_of(file) or "/" in file):
        return file.removeprefix("./"), _dotted(name)
    return "", _dotted(text)


def _is_file(text: str) -> bool:
    """Return True if a text may be the path of a file; `Game.go` may be a name too."""
    return "::" not in text and language_of(text) != ""


def _dotted(name: str) -> str:
    """Return a qualified name with dots, for any language."""
    return name.replace("::", ".").replace("#", ".").strip(".")


def _ends_with(whole: str, end: str, mark: str) -> bool:
    return not end or whole == end or whole.endswith(mark + end)


def within(root: str, cwd: str, name: str) -> str:
    """Return a name with its file as a path from the root; the file may be absolute or relative to `cwd`."""
    file, mark, rest = name.strip().partition("::")
    if not file.startswith(("/", "./", "../")) or "\0" in file + cwd:
        return name
    folder, own = os.path.split(os.path.join(cwd, file))
    path = os.path.join(os.path.realpath(folder), own)
    inside = os.path.relpath(path, root)
    if inside.split("/")[0] != "..":
        # A path with ./ may be relative to the root too, typed in a subfolder.
        return f"{inside}{mark}{rest}" if file[0] == "/" or os.path.lexists(path) else name
    raise MemoryLiteError(f"{path} is outside of the project {root}", "--cwd names another one")


def why_not_read(root: str, cwd: str, name: str, sources: Sources, permitted: Sequence[str]) -> str:
    """Return the reason for not reading an existing file, as the rest of a sentence; '' for any other name."""
    file, names_symbol, _ = name.strip().partition("::")
    if not {"/", "."} & set(file):  # a program without an ending may have the name of a symbol
        return ""
    from_cwd = os.path.relpath(os.path.join(os.path.realpath(cwd), file), root)
    for path in dict.fromkeys((from_cwd, file)):
        size = _size(root, path)
        if size is not None:
            reason = _reason(path, size, sources, permitted) or ("" if names_symbol else _DEFINES_NOTHING)
            return f"{path} {reason}" if reason else ""
    return ""


def _reason(path: str, size: int, sources: Sources, permitted: Sequence[str]) -> str:
    """Return the reason for not reading a file; '' for a file that is read."""
    if not language_of(path):
        return f"is in a language that is not read; the languages are {LANGUAGES}"
    if path in sources.paths and path not in permitted:
        return "is excluded by the configuration; it is not read"
    if path not in sources.paths and sources.by_git and not sources.is_cut:
        return "is not tracked by git; it is seen after `git add`"
    if path not in sources.paths:
        return "is not among the files that are read: there are too many files, or its folder holds third-party code"
    if size > LARGEST_BYTES:
        return "is over 1 MiB; so large a file is not read"
    return ""


def _size(root: str, path: str) -> int | None:
    """Return the size of a file of the checkout, or None if the file is missing."""
    try:
        with WorkingTree(root) as tree:
            state = tree.state(path)
    except OSError:
        return None
    return state.size if state else None
