"""What is asked to be remembered, tied to the files and functions that it names, so that it can be told later whether
they are as they were. Called when it is stored, in the job thread.

Files and functions that somebody names -> those of the working tree that are meant, and what ties a memory to them.

Called when something is asked to be remembered. Never guesses: of a name that several have, none is meant, unless a
file that is named as well decides.

Anchors of a memory that is said to hold still, tied to the code as it stands now. Called by the worker."""

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from claude_mem_lite.code.freshness.cache_tables import simple_of, stem_of
from claude_mem_lite.code.freshness.code_cache import CodeCache, is_past
from claude_mem_lite.code.freshness.source_files import find_tracked, is_no_project, own_entries
from claude_mem_lite.code.freshness.working_tree import WorkingTree, is_path_within
from claude_mem_lite.code.syntax.anchors import MAX_CODE_ANCHORS, CodeAnchor, read_anchor, written
from claude_mem_lite.code.syntax.changes import ABSENT, PRESENT, Symbol
from claude_mem_lite.code.syntax.languages import language_of
from claude_mem_lite.compress.prose.mentions import files_named, names_said
from claude_mem_lite.models import MAX_ANCHORS, MAX_FILES, Memory, Place

# Where there are more, nobody can say in time that a name is the only one.
_MAX_SOURCES = 5_000
_MAX_ENTRIES = 50_000
_MAX_NAME_LENGTH = 100
# There a definition shows on its line. Files that only use a name need not be read for what they define: a megabyte
# of them takes a second.
_DEFINED_BY_WORDS = ("python", "go", "rust", "ruby")
_BEFORE_NAME = (
    rb"\b(?:(?:def|class|module|func|fn|struct|enum|trait|type|union|mod|macro_rules!)\s+"
    rb"(?:\([^)\n]{0,100}\)\s*|(?:\w{1,60}(?:\.|::)){1,5})?|impl\b[^\n]{0,100}\b)"
)
_BEHIND_NAME = rb"\b\s+(?:struct|interface)\b"


@dataclass(frozen=True, slots=True)
class NamedCode:
    """What is meant by the names in a text."""

    files: Mapping[str, str] = field(default_factory=dict)
    """The paths as they were written, of those that are there, with where they are from the root of the checkout."""
    anchors: tuple[CodeAnchor, ...] = ()
    """Functions and classes as they are now, and files of which none is named."""

    def texts(self) -> list[str]:
        return [written(anchor) for anchor in self.anchors]


def find_named(
    cache: CodeCache, root: str, inside: str, paths: Sequence[str], names: Sequence[str], deadline: float
) -> NamedCode:
    """What paths and names mean in a checkout, as seen from a folder inside of it; nothing when there is no telling."""
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
    deadline: float

    def find(self, paths: Sequence[str], names: Sequence[str]) -> NamedCode:
        files = {path: file for path in paths if (file := self._file(path))}
        asked = [name for name in dict.fromkeys(names) if len(name) <= _MAX_NAME_LENGTH][:MAX_CODE_ANCHORS]
        found = self._defined(asked, dict.fromkeys(files.values()))
        if left := [name for name in asked if not found[name]]:
            found |= self._defined(left, self._with_any(left))
        tied = dict.fromkeys(anchor for some in found.values() if len(some) == 1 for anchor in some)
        whole = dict.fromkeys(file for file in files.values() if file not in {one.file for one in tied})
        anchors = (*tied, *(CodeAnchor(file, "", after=PRESENT, before=PRESENT) for file in whole))
        return NamedCode(files, anchors[:MAX_CODE_ANCHORS])

    def _file(self, path: str) -> str:
        """The file that a path means: from the root, from the folder, or the only one that ends like that."""
        bare = path.removeprefix(f"{self.root}/").removeprefix("./")
        for tried in (os.path.join(self.inside, bare), bare):
            with suppress(OSError):
                if is_path_within(tried) and self.tree.state(tried):
                    return tried
        alike = [source for source in self._sources or () if source.endswith(f"/{bare}")]
        return alike[0] if len(alike) == 1 else ""

    def _defined(self, names: Sequence[str], files: Iterable[str]) -> dict[str, list[CodeAnchor]]:
        """What these files define by each of the names, each symbol once; nothing when some could not be read."""
        found: dict[str, dict[tuple[str, str], CodeAnchor]] = {name: {} for name in names}
        wanted = list(files) if names else []
        read = self.cache.read(self.root, wanted, self.deadline)
        for file, code in read.items() if len(read) == len(wanted) else ():
            for symbol in (code.symbols or ()) if code else ():
                # It was there before: whatever was said of it, nothing was done to it.
                anchor = CodeAnchor(file, symbol.name, after=symbol.body, before=PRESENT)
                for name in names:
                    if _is_meant(name, file, symbol.name):
                        found[name].setdefault((file, symbol.name), anchor)
        return {name: list(symbols.values()) for name, symbols in found.items()}

    def _with_any(self, names: Sequence[str]) -> list[str]:
        """The source files that may define any of the names; none when there is no time to look into all of them."""
        wanted = [_Wanted(name) for name in names]
        found: list[str] = []
        for source in self._sources or ():
            if is_past(self.deadline):
                return []
            raw = self.tree.raw(source) or b""
            if any(one.may_be_in(source, raw) for one in wanted):
                found.append(source)
        return found

    @cached_property
    def _sources(self) -> Sequence[str] | None:
        """The source files of the project, tracked or not yet; None when there are too many to look into."""
        if is_no_project(self.root):
            return None
        tracked = find_tracked(self.root)
        found = dict.fromkeys(tracked.paths if tracked else ())
        for seen, path in enumerate(own_entries(self.root)):
            if seen >= _MAX_ENTRIES or len(found) > _MAX_SOURCES or is_past(self.deadline):
                return None
            if language_of(path):
                found[path] = None
        return tuple(found) if len(found) <= _MAX_SOURCES else None


class _Wanted:
    """A name, as it is looked for in the texts of files."""

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
    """Whether a name as people write it is that of a symbol: its own, qualified, or behind that of its module."""
    if name == said or name.endswith(f".{said}"):
        return True
    module = said.removesuffix(f".{name}")
    return module != said and simple_of(module) == stem_of(file)


Tie = Callable[[Memory, Place, str], Memory]
"""A memory, where it was asked for, and the folder: the same memory, tied."""
# Whoever asks for something to be remembered waits for it; of 1,000 files it takes 60 ms.
_MAX_S = 0.5


def tie(cache: CodeCache, memory: Memory, place: Place, folder: str) -> Memory:
    """A memory with the files and functions of this place that it names, as they are now; as it was when it holds
    elsewhere too."""
    if not place.root or memory.scope != f"project:{place.project}":
        return memory
    words = f"{memory.title}\n{memory.summary}"
    paths, names = list(dict.fromkeys((*memory.files, *files_named(words)))), names_said(words)
    if not paths and not names:
        return memory
    real = os.path.realpath(folder)
    inside = real[len(place.root) + 1 :] if real.startswith(f"{place.root}/") else ""
    found = find_named(cache, place.root, inside, paths, names, time.monotonic() + _MAX_S)
    files = (*(found.files.get(path, path) for path in paths), *(anchor.file for anchor in found.anchors))
    return replace(
        memory,
        files=tuple(dict.fromkeys(files))[:MAX_FILES],
        anchors=tuple(dict.fromkeys((*memory.anchors, *found.texts())))[:MAX_ANCHORS],
    )


def tied_to_now(cache: CodeCache, root: str, anchors: Sequence[str]) -> tuple[str, ...]:
    """The anchors with the code that is there now; those to code that is gone are let go, because nothing can be told
    by them any more. What cannot be read stays as it is."""
    tied = {text: anchor for text in anchors if (anchor := read_anchor(text))}
    found = cache.read(root, sorted({anchor.file for anchor in tied.values()})) if root and tied else {}
    told: list[str] = []
    for text in anchors:
        anchor = tied.get(text)
        if anchor is None or anchor.file not in found:
            told.append(text)
            continue
        code = found[anchor.file]
        now = _in_file(anchor, code.symbols) if code else _without_file(anchor)
        told += [written(now)] if now else []
    return tuple(dict.fromkeys(told))


def _without_file(anchor: CodeAnchor) -> CodeAnchor | None:
    return anchor if anchor.after == ABSENT else None


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
    # What it is again now is not what it was before: else it would count as undone.
    before = anchor.after if anchor.before in bodies else anchor.before
    return replace(anchor, after=bodies[0], before=before)
