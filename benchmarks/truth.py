"""Whether what a memory tells of still stands in a checkout, by lines of text alone: nothing the product computes.

A memory's lines are what its turn added to the files it names, and what it removed from them: lines with their
spaces collapsed, of at least 12 characters and with a letter, that the file did not have before (or after) the turn.
It is still true when a share of the added ones is still in those files, and as large a share of the removed ones has
not come back. The lines of a file that is not there any more may be in any file: it may have been moved."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.evaluation.sightings import Sighting, Tree
from claude_mem_lite.models import Memory

SHARE = 0.8
STRICT, LAX = 0.95, 0.5
_MIN_LINE_LENGTH = 12


@dataclass(slots=True)
class Lines:
    """Distinctive lines, by the file that a turn added them to or removed them from."""

    added: dict[str, set[str]] = field(default_factory=dict)
    removed: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Standing:
    """Of a memory's lines, the share that is as the memory's turn left it: the smaller of added and removed."""

    share: float

    def is_true(self, share: float = SHARE) -> bool:
        return self.share >= share


class Truth:
    """Knows the lines of every turn."""

    def __init__(self, turns: Mapping[str, Sequence[Sighting]]) -> None:
        self._changes = {name: _net_changes(seen) for name, seen in turns.items()}

    def standing(self, memory: Memory, turns: Iterable[str], tree: Tree) -> Standing | None:
        """How a memory that was told by these turns, in order, stands; None when it has no lines."""
        lines = self._lines(named_files(memory), turns)
        shares = [*_shares(lines.added, tree, wanted=True), *_shares(lines.removed, tree, wanted=False)]
        return Standing(min(shares)) if shares else None

    def _lines(self, files: set[str], turns: Iterable[str]) -> Lines:
        lines = Lines()
        for turn in turns:
            for file, (before, after) in self._changes.get(turn, {}).items():
                if file not in files:
                    continue
                was, now = distinctive(before), distinctive(after)
                lines.added[file] = (lines.added.get(file, set()) - (was - now)) | (now - was)
                lines.removed[file] = (lines.removed.get(file, set()) - (now - was)) | (was - now)
        return lines


def named_files(memory: Memory) -> set[str]:
    """The files that a memory names: as such, with a symbol, or by an anchor."""
    anchors = [anchor for written in memory.anchors if (anchor := read_anchor(written))]
    return {*memory.files, *(one.file for one in memory.symbols), *(one.file for one in anchors)}


@lru_cache(maxsize=4096)
def distinctive(held: str) -> frozenset[str]:
    """The distinctive lines of a text."""
    collapsed = (" ".join(line.split()) for line in held.split("\n"))
    return frozenset(line for line in collapsed if len(line) >= _MIN_LINE_LENGTH and re.search(r"[^\W\d_]", line))


def _net_changes(seen: Sequence[Sighting]) -> dict[str, tuple[str, str]]:
    """Each file that a turn changed, before the first change and after the last."""
    changes: dict[str, tuple[str, str]] = {}
    for sighting in seen:
        if sighting.is_change:
            before = changes[sighting.file][0] if sighting.file in changes else sighting.before or ""
            changes[sighting.file] = (before, sighting.after or "")
    return changes


def _shares(lines: Mapping[str, set[str]], tree: Tree, *, wanted: bool) -> list[float]:
    """The share of the lines that are there, or are not; nothing when there are no lines."""
    total = sum(map(len, lines.values()))
    if not total:
        return []
    named = frozenset().union(*(distinctive(tree[file]) for file in lines if file in tree))
    found = 0
    for file, ours in lines.items():
        is_missing = file not in tree
        there = {line for line in ours if line in named or (is_missing and wanted and _is_anywhere(line, tree))}
        found += len(there)
    return [(found if wanted else total - found) / total]


def _is_anywhere(line: str, tree: Tree) -> bool:
    return any(line in distinctive(held) for held in tree.values())
