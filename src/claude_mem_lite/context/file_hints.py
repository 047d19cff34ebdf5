"""A file that is read or edited -> what would change what is done there: lessons, decisions, causes, discoveries.

Called while a hook waits; reads only. That a file was edited is not told: nobody is interrupted for that."""

import math
import os
import posixpath
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.compress.prose.mentions import GENERAL_NAMES, NAME, TELLING_NAME, files_named
from claude_mem_lite.context.eligibility import Here
from claude_mem_lite.context.item_block import Given
from claude_mem_lite.context.reason import FOUND_OUT, reason_in
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.scoring import factor, is_stated
from claude_mem_lite.context.similarity import Said
from claude_mem_lite.models import Kind, Memory, Tally
from claude_mem_lite.store import memories, receipts, symbol_changes
from claude_mem_lite.store.index import fts
from claude_mem_lite.text import query_words, tokens_of

MOST = 3
SOURCE = "file"
_WEIGHTS: dict[Kind, float] = {
    "rule": 1.0,
    "anti_pattern": 1.0,
    "correction": 1.0,
    "gotcha": 0.95,
    "convention": 0.9,
    "pattern": 0.85,
    "architecture": 0.8,
    "decision": 0.75,
    "bugfix": 0.6,
    "discovery": 0.5,
}
_MAX_SYMBOLS = 24
_MIN_NAME_LENGTH = 6
_MAX_CHECKED = 2
_MAX_FILES_OF_ITS_OWN = 2
_SAYS_THE_SAME = 0.9
_DAYS_TO_HALF = 90
_MAX_LOOKED_AT = 60
_MAX_NAMES = 24
_MAX_PATH_LENGTH = 1_000
# What names more files than this is about none of them in particular.
_MAX_FILES = 5
_SECONDS_A_DAY = 86_400


def about_file(db: sqlite3.Connection, path: str, occasion: Occasion, told: Collection[str]) -> list[Given]:
    """Return what is known of a file that would change what is done there, the weightiest first, three at most; nothing
    for a file that is not of the project. `told` are the ids of what the session knows already."""
    file = name_in(occasion.place.root, path)
    if not file:
        return []
    here = Here(occasion, told)
    found = {memory.id: (memory, line) for memory, line in _found(db, file, occasion) if here.holds(memory)}
    stale = here.tellable([memory for memory, _ in found.values()])
    if not stale:
        return []
    tallies = receipts.tallies_since_last_seen(db, list(stale), at_need=True)
    given: list[Given] = []
    for memory, line in (found[id_] for id_ in stale):
        useful = factor(tallies.get(memory.id, Tally()), is_stated=is_stated(memory))
        weight = round(_weight(memory, occasion) * useful, 3)
        given.append(Given(memory, f"about {file}", weight, SOURCE, is_stale=stale[memory.id], told=line))
    given.sort(key=lambda one: (one.score or 0.0, one.memory.last_seen_at), reverse=True)
    chosen = [replace(one, note=here.since(one.memory)) for one in _each_once(given)[:MOST]]
    return [*chosen, *here.opposites(db, chosen, SOURCE)]


def _each_once(given: Sequence[Given]) -> list[Given]:
    """Return those that say something of their own: a fault that came back is told by the lesson of it alone."""
    kept: list[tuple[Given, Said]] = []
    for one in given:
        said = Said(one.told or one.memory.title)
        if not any(said.share_in(other) >= _SAYS_THE_SAME for _, other in kept):
            kept.append((one, said))
    return [one for one, _ in kept]


def _found(db: sqlite3.Connection, file: str, occasion: Occasion) -> Iterator[tuple[Memory, str]]:
    """Yield the memories that are about a file, each with its line; '' for those that are told by their title."""
    project = occasion.place.project
    names = _Names(db, project, file)
    for memory in memories.by_seq(db, fts.about_files(db, _asked_for(file), project, _MAX_LOOKED_AT)).values():
        if memory.kind in _WEIGHTS and memory.kind not in FOUND_OUT and is_about(memory, file):
            line = "" if is_stated(memory) else reason_in(memory, names.may_be_in)
            if line or memory.kind != "decision" or is_stated(memory):
                yield memory, line
    rows = fts.of_kinds_naming(db, [*_telling_names(file), *names.symbols], FOUND_OUT, project, _MAX_LOOKED_AT)
    for memory in memories.by_seq(db, rows).values():
        if not (is_about(memory, file) or names.may_be_in(f"{memory.title}\n{memory.summary}")):
            continue
        line = reason_in(memory, names.may_be_in)
        if line and ((is_about(memory, file) and _is_rare(memory, line, file)) or names.are_in(line)):
            yield memory, line


def _is_rare(memory: Memory, line: str, file: str) -> bool:
    """Return whether a memory tells much about a file: it has few others, or its line has a word of the path."""
    if len(memory.files) > _MAX_FILES:
        return False
    path = posixpath.splitext(file)[0].split("/")
    words = {word for part in path if part.lower() not in GENERAL_NAMES for word in query_words(part)}
    return len(memory.files) <= _MAX_FILES_OF_ITS_OWN or not words.isdisjoint(tokens_of(line))


class _Names:
    """What a text may call a file by: its path, and the functions and classes that sessions changed in it."""

    def __init__(self, db: sqlite3.Connection, project: str, file: str) -> None:
        self._db, self._project, self._file = db, project, file
        bare = (name.rpartition(".")[2] for name in symbol_changes.newest_names(db, project, file, _MAX_SYMBOLS))
        telling = (name for name in bare if len(name) >= _MIN_NAME_LENGTH and TELLING_NAME.search(name))
        self.symbols = tuple(dict.fromkeys(telling))

    def may_be_in(self, line: str) -> bool:
        """Return whether a line names the file, or a function or class that others may have too."""
        return self._is_file_in(line) or not set(self.symbols).isdisjoint(NAME.findall(line))

    def are_in(self, line: str) -> bool:
        """Return whether a line names the file, or a function or class that is in no other."""
        if self._is_file_in(line):
            return True
        said = [name for name in dict.fromkeys(NAME.findall(line)) if name in self.symbols]
        return any(
            not symbol_changes.is_elsewhere(self._db, self._project, self._file, name) for name in said[:_MAX_CHECKED]
        )

    def _is_file_in(self, line: str) -> bool:
        return any(_is_meant(name, self._file) and not _is_general(name) for name in files_named(line))


def _telling_names(file: str) -> list[str]:
    name = posixpath.basename(file)
    return [file if name.lower() in GENERAL_NAMES else name]


def name_in(root: str, path: str) -> str:
    """A path as seen from the root of the checkout; '' when it is not in there."""
    if not root or not path or len(path) > _MAX_PATH_LENGTH or "\0" in path:
        return ""
    whole = posixpath.normpath(path if path.startswith("/") else posixpath.join(root, path))
    if inside := _below(root, whole):
        return inside
    # The client may spell its folders through a link; the root is spelt without any.
    folder, name = posixpath.split(whole)
    return _below(root, posixpath.join(os.path.realpath(folder), name))


def is_about(memory: Memory, file: str) -> bool:
    """Whether a memory is about this file: it names it among few, or is tied to code in it. In the user's own words the
    end of its path is enough, or a folder that it is in. What holds everywhere is about a file only by those words."""
    if memory.scope == "universal":
        return is_stated(memory) and any(_is_meant(one, file) and not _is_general(one) for one in memory.files)
    if len(memory.files) <= _MAX_FILES and file in memory.files:
        return True
    tied = (anchor for text in memory.anchors if (anchor := read_anchor(text)))
    places = {*(symbol.file for symbol in memory.symbols), *(anchor.file for anchor in tied)}
    if len(places) <= _MAX_FILES and file in places:
        return True
    return is_stated(memory) and any(_is_meant(one, file) for one in memory.files)


def _weight(memory: Memory, occasion: Occasion) -> float:
    days = max((occasion.now - memory.last_seen_at).total_seconds() / _SECONDS_A_DAY, 0.0)
    recency = 1.0 if is_stated(memory) else 1 / (1 + days / _DAYS_TO_HALF)
    rarity = 1 / math.sqrt(max(len(memory.files), 1))
    return _WEIGHTS[memory.kind] * memory.confidence * memory.trust * recency * rarity


def _below(root: str, path: str) -> str:
    start = root.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else ""


def _asked_for(file: str) -> list[str]:
    """What a file may be called: its path, its name unless many have that one, and the folders it is in."""
    *folders, name = file.split("/")
    telling = [one for one in (*folders, name) if one.lower() not in GENERAL_NAMES]
    paths = ["/".join(folders[: at + 1]) for at in range(len(folders))]
    return list(dict.fromkeys((file, *telling, *paths)))[:_MAX_NAMES]


def _is_meant(said: str, file: str) -> bool:
    """Whether a path as people write it means a file: by its end, or by a folder it is in."""
    bare = said.removeprefix("./").rstrip("/")
    if not bare or (_is_general(bare) and bare != file):
        return False
    is_folder = said.endswith("/") and f"/{bare}/" in f"/{file}"
    return is_folder or file == bare or file.endswith(f"/{bare}")


def _is_general(said: str) -> bool:
    return said.removeprefix("./").rstrip("/").lower() in GENERAL_NAMES
