"""Links from a memory to the files and functions that its text names, as anchors for later freshness checks.

Called in the job thread when the user asks to remember or to confirm something. Names are never guessed: a name that
several files or functions have is left out, unless a named file decides."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from claude_mem_lite.code.freshness.cache_tables import simple_of, stem_of
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.source_files import find_tracked, is_no_project, own_entries
from claude_mem_lite.code.freshness.working_tree import WorkingTree, is_path_within
from claude_mem_lite.code.syntax.changes import (
    ABSENT,
    MAX_CODE_ANCHORS,
    PRESENT,
    CodeAnchor,
    Symbol,
    read_anchor,
    written,
)
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.compress.prose.mentions import files_named, names_in
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.models import MAX_ANCHORS, MAX_FILES, Location, Memory
from claude_mem_lite.values import frozen

# With more files, the uniqueness of a name cannot be checked in time.
_MAX_SOURCES = 5_000
_MAX_ENTRIES = 50_000
_MAX_NAME_LENGTH = 100
# In these languages a line shows a definition. Files that only use a name are not parsed: a megabyte
# of them takes a second.
_DEFINED_BY_WORDS = ("python", "go", "rust", "ruby")
_BEFORE_NAME = (
    rb"\b(?:(?:def|class|module|func|fn|struct|enum|trait|type|union|mod|macro_rules!)\s+"
    rb"(?:\([^)\n]{0,100}\)\s*|(?:\w{1,60}(?:\.|::)){1,5})?|impl\b[^\n]{0,100}\b)"
)
_BEHIND_NAME = rb"\b\s+(?:struct|interface)\b"


@frozen
class NamedCode:
    """Files and functions that a text names."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Named paths that exist, each with the path from the root of the checkout."""
    anchors: tuple[CodeAnchor, ...] = ()
    """Current functions and classes, and files without a named function."""

    def texts(self) -> list[str]:
        return [written(anchor) for anchor in self.anchors]


def find_named(
    cache: CodeCache, root: str, inside: str, paths: Sequence[str], names: Sequence[str], deadline: Deadline
) -> NamedCode:
    """Return the files and functions that paths and names mean in a checkout, seen from a folder; empty if
    undecidable."""
    try:
        with WorkingTree(root) as tree:
            return _Finding(cache, root, inside, tree, deadline).find(paths, names)
    except OSError:
        return NamedCode()


@dataclass
class _Finding:
    cache: CodeCache
    root: str
    inside: str
    tree: WorkingTree
    deadline: Deadline

    def find(self, paths: Sequence[str], names: Sequence[str]) -> NamedCode:
        files = {path: file for path in paths if (file := self._file(path))}
        asked = [name for name in dict.fromkeys(names) if len(name) <= _MAX_NAME_LENGTH][:MAX_CODE_ANCHORS]
        found = self._defined(asked, dict.fromkeys(files.values()))
        if left := [name for name in asked if not found[name]]:
            found |= self._defined(left, self._with_any(left))
        tied = dict.fromkeys(anchor for symbols in found.values() if len(symbols) == 1 for anchor in symbols)
        whole = dict.fromkeys(file for file in files.values() if file not in {anchor.file for anchor in tied})
        anchors = (*tied, *(CodeAnchor(file, "", after=PRESENT, before=PRESENT) for file in whole))
        return NamedCode(files, anchors[:MAX_CODE_ANCHORS])

    def _file(self, path: str) -> str:
        """Return the file of a path: from the root, from the folder, or the only file with this ending."""
        bare = path.removeprefix(f"{self.root}/").removeprefix("./")
        for tried in (os.path.join(self.inside, bare), bare):
            with suppress(OSError):
                if is_path_within(tried) and self.tree.state(tried):
                    return tried
        alike = [source for source in self._sources or () if source.endswith(f"/{bare}")]
        return alike[0] if len(alike) == 1 else ""

    def _defined(self, names: Sequence[str], files: Iterable[str]) -> dict[str, list[CodeAnchor]]:
        """Return the symbols with these names in files, each once; none if a file could not be read."""
        found: dict[str, dict[tuple[str, str], CodeAnchor]] = {name: {} for name in names}
        wanted = list(files) if names else []
        read = self.cache.read(self.root, wanted, self.deadline)
        for file, code in read.items() if len(read) == len(wanted) else ():
            for symbol in (code.symbols or ()) if code else ():
                # The code existed before: the user spoke about the code and did not change it.
                anchor = CodeAnchor(file, symbol.name, after=symbol.body, before=PRESENT)
                for name in names:
                    if _is_meant(name, file, symbol.name):
                        found[name].setdefault((file, symbol.name), anchor)
        return {name: list(symbols.values()) for name, symbols in found.items()}

    def _with_any(self, names: Sequence[str]) -> list[str]:
        """Return the source files that may define any of the names; none if the time is too short to read all files."""
        wanted = [_Wanted(name) for name in names]
        found: list[str] = []
        for source in self._sources or ():
            if self.deadline.is_past():
                return []
            raw = self.tree.raw(source) or b""
            if any(name.may_be_in(source, raw) for name in wanted):
                found.append(source)
        return found

    @cached_property
    def _sources(self) -> Sequence[str] | None:
        """Return the source files of the project, tracked or new; None if there are too many."""
        if is_no_project(self.root):
            return None
        tracked = find_tracked(self.root)
        found = dict.fromkeys(tracked.paths if tracked else ())
        for seen, path in enumerate(own_entries(self.root)):
            if seen >= _MAX_ENTRIES or len(found) > _MAX_SOURCES or self.deadline.is_past():
                return None
            if language_of(path):
                found[path] = None
        return tuple(found) if len(found) <= _MAX_SOURCES else None


class _Wanted:
    """Name with the pattern that finds its definition in a file."""

    def __init__(self, said: str) -> None:
        owner, _, simple = said.rpartition(".")
        self._owner = simple_of(owner)
        self._simple = simple.encode("utf-8", "replace")
        name = re.escape(self._simple)
        self._definition = re.compile(_BEFORE_NAME + name + rb"\b|\b" + name + _BEHIND_NAME)

    def may_be_in(self, file: str, raw: bytes) -> bool:
        if self._simple not in raw:
            return False
        if self._owner and self._owner.encode("utf-8", "replace") not in raw and self._owner != stem_of(file):
            return False
        return language_of(file) not in _DEFINED_BY_WORDS or self._definition.search(raw) is not None


def _is_meant(said: str, file: str, name: str) -> bool:
    """Return True if a written name is the name of a symbol: bare, qualified, or behind the name of the module."""
    if name == said or name.endswith(f".{said}"):
        return True
    module = said.removesuffix(f".{name}")
    return module != said and simple_of(module) == stem_of(file)


Link = Callable[[Memory, Location, str], Memory]
"""Function that returns a memory with anchors, for a location and a folder."""


def tie(cache: CodeCache, memory: Memory, location: Location, folder: str, deadline: Deadline) -> Memory:
    """Return a memory with anchors to the files and functions of this location that the memory names; unchanged if the
    memory also holds elsewhere."""
    if not location.root or memory.scope != f"project:{location.project}":
        return memory
    words = f"{memory.title}\n{memory.summary}"
    paths, names = list(dict.fromkeys((*memory.files, *files_named(words)))), names_in(words)
    if not paths and not names:
        return memory
    real = os.path.realpath(folder)
    inside = real[len(location.root) + 1 :] if real.startswith(f"{location.root}/") else ""
    found = find_named(cache, location.root, inside, paths, names, deadline)
    files = (*(found.files.get(path, path) for path in paths), *(anchor.file for anchor in found.anchors))
    return replace(
        memory,
        files=tuple(dict.fromkeys(files))[:MAX_FILES],
        anchors=tuple(dict.fromkeys((*memory.anchors, *found.texts())))[:MAX_ANCHORS],
    )


def tied_to_now(cache: CodeCache, root: str, anchors: Sequence[str]) -> tuple[str, ...]:
    """Return anchors with the present state of their code. Anchors to removed code are dropped, because they show
    nothing any more; anchors to unreadable code stay."""
    tied = {text: anchor for text in anchors if (anchor := read_anchor(text))}
    found = cache.read(root, sorted({anchor.file for anchor in tied.values()})) if root and tied else {}
    anchored: list[str] = []
    for text in anchors:
        anchor = tied.get(text)
        if anchor is None or anchor.file not in found:
            anchored.append(text)
            continue
        code = found[anchor.file]
        now = _in_file(anchor, code.symbols) if code else anchor if anchor.after == ABSENT else None
        anchored += [written(now)] if now else []
    return tuple(dict.fromkeys(anchored))


def _in_file(anchor: CodeAnchor, symbols: Sequence[Symbol] | None) -> CodeAnchor | None:
    if not anchor.name:
        return anchor if anchor.after != ABSENT else None
    if symbols is None:
        return anchor
    bodies = [symbol.body for symbol in symbols if symbol.name == anchor.name]
    if not bodies:
        return anchor if anchor.after == ABSENT else None
    if anchor.after in bodies:
        return anchor
    # The present state must not equal the state before the change: else the change would count as reverted.
    before = anchor.after if anchor.before in bodies else anchor.before
    return replace(anchor, after=bodies[0], before=before)
