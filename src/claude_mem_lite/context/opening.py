"""A file that is read or edited -> what to mind there: gotchas, rules and decisions about it.

Called while a hook waits; reads only. Work that was done on a file is not told: nobody is interrupted for that."""

import os
import posixpath
import sqlite3
from collections.abc import Collection
from dataclasses import replace

from claude_mem_lite.code.anchors import read_anchor
from claude_mem_lite.context.at_need import Here
from claude_mem_lite.context.block import Given
from claude_mem_lite.context.occasion import Occasion
from claude_mem_lite.context.scores import is_stated
from claude_mem_lite.context.usefulness import factor
from claude_mem_lite.models import Kind, Memory, Tally
from claude_mem_lite.store import fts, memories, receipts

MOST = 3
SOURCE = "file"
_WEIGHTS: dict[Kind, float] = {
    "rule": 1.0,
    "anti_pattern": 1.0,
    "correction": 1.0,
    "gotcha": 0.95,
    "convention": 0.9,
    "decision": 0.8,
    "architecture": 0.75,
    "pattern": 0.7,
}
_DAYS_TO_HALF = 90
_MOST_LOOKED_AT = 60
_MOST_NAMES = 24
_LONGEST_PATH = 1_000
# What names more files than this is about none of them in particular.
_MOST_FILES = 5
# Files and folders that a project has several of, or all its files in: by the name alone nobody knows what is meant.
_GENERAL_NAMES = frozenset(
    """__init__.py __main__.py conftest.py index.html index.js index.jsx index.ts index.tsx lib.rs main.go main.py
    main.rs mod.rs readme.md setup.py types.ts utils.py utils.ts config.py config.ts test.py models.py views.py
    page.tsx layout.tsx route.ts package.json makefile dockerfile
    src lib app apps test tests docs packages pkg cmd internal public""".split()  # noqa: SIM905
)
_SECONDS_A_DAY = 86_400


def about_file(db: sqlite3.Connection, path: str, occasion: Occasion, told: Collection[str]) -> list[Given]:
    """What is known of a file that one must mind, the weightiest first, three at most; nothing for a file that is not
    of the project. `told` are the ids of what the session knows already."""
    file = name_in(occasion.place.root, path)
    if not file:
        return []
    rows = fts.about_files(db, _asked_for(file), occasion.place.project, _MOST_LOOKED_AT)
    if not rows:
        return []
    here = Here(occasion, told)
    found = [
        one
        for one in memories.by_seq(db, rows).values()
        if one.kind in _WEIGHTS and here.holds(one) and is_about(one, file)
    ]
    stale = here.tellable(found)
    tellable = [one for one in found if one.id in stale]
    if not tellable:
        return []
    tallies = receipts.standing_tallies(db, [one.id for one in tellable], at_need=True)
    given: list[Given] = []
    for one in tellable:
        useful = factor(tallies.get(one.id, Tally()), is_stated=is_stated(one))
        weight = _weight(one, occasion) * useful
        given.append(Given(one, f"about {file}", round(weight, 3), SOURCE, is_stale=stale[one.id]))
    given.sort(key=lambda one: (one.score or 0.0, one.memory.last_seen_at), reverse=True)
    chosen = [replace(one, note=here.since(one.memory)) for one in given[:MOST]]
    return [*chosen, *here.opposites(db, chosen, SOURCE)]


def name_in(root: str, path: str) -> str:
    """A path as seen from the root of the checkout; '' when it is not in there."""
    if not root or not path or len(path) > _LONGEST_PATH or "\0" in path:
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
    if len(memory.files) <= _MOST_FILES and file in memory.files:
        return True
    tied = (anchor for text in memory.anchors if (anchor := read_anchor(text)))
    places = {*(symbol.file for symbol in memory.symbols), *(anchor.file for anchor in tied)}
    if len(places) <= _MOST_FILES and file in places:
        return True
    return is_stated(memory) and any(_is_meant(one, file) for one in memory.files)


def _weight(memory: Memory, occasion: Occasion) -> float:
    days = max((occasion.now - memory.last_seen_at).total_seconds() / _SECONDS_A_DAY, 0.0)
    recency = 1.0 if is_stated(memory) else 1 / (1 + days / _DAYS_TO_HALF)
    return _WEIGHTS[memory.kind] * memory.confidence * memory.trust * recency


def _below(root: str, path: str) -> str:
    start = root.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else ""


def _asked_for(file: str) -> list[str]:
    """What a file may be called: its path, its name unless many have that one, and the folders it is in."""
    *folders, name = file.split("/")
    telling = [one for one in (*folders, name) if one.lower() not in _GENERAL_NAMES]
    paths = ["/".join(folders[: at + 1]) for at in range(len(folders))]
    return list(dict.fromkeys((file, *telling, *paths)))[:_MOST_NAMES]


def _is_meant(said: str, file: str) -> bool:
    """Whether a path as people write it means a file: by its end, or by a folder it is in."""
    bare = said.removeprefix("./").rstrip("/")
    if not bare or (_is_general(bare) and bare != file):
        return False
    is_folder = said.endswith("/") and f"/{bare}/" in f"/{file}"
    return is_folder or file == bare or file.endswith(f"/{bare}")


def _is_general(said: str) -> bool:
    return said.removeprefix("./").rstrip("/").lower() in _GENERAL_NAMES
