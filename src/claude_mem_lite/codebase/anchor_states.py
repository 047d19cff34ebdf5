"""How it stands with single anchors: whether a symbol or file is in the working tree as it was left."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from claude_mem_lite.code.anchors import CodeAnchor
from claude_mem_lite.code.values import ABSENT, Symbol
from claude_mem_lite.codebase.cache import CodeCache
from claude_mem_lite.codebase.moves import Moves
from claude_mem_lite.codebase.tied_files import TiedFiles

AnchorState = Literal["same", "changed", "undone", "gone", "unknown"]


@dataclass(frozen=True, slots=True)
class Tie:
    """An anchor that is to be looked at."""

    anchor: CodeAnchor
    commit: str = ""
    """One at which its file was where the anchor says."""
    left_at: datetime | None = None
    """When it was left so in this very checkout: if nobody touched the file since, it need not be read."""


class AnchorFound(NamedTuple):
    """How it stands with an anchor, and what became of it; `unknown`: there was no time to look."""

    state: AnchorState
    reason: str = ""


_SAME = AnchorFound("same")
_UNKNOWN = AnchorFound("unknown")


def check_anchors(
    cache: CodeCache, root: str, ties: Sequence[Tie], deadline: float, moves: Moves | None = None
) -> list[AnchorFound]:
    """How it stands with each of these; files are looked at once, whatever number is tied to them."""
    files = TiedFiles(cache, root, moves, deadline)
    files.look({tie.anchor.file for tie in ties})
    untouched = [bool(tie.anchor.name and tie.left_at and files.is_older(tie.anchor.file, tie.left_at)) for tie in ties]
    touched = (tie.anchor for tie, is_untouched in zip(ties, untouched, strict=True) if not is_untouched)
    files.read({anchor.file for anchor in touched if anchor.name})
    files.look_for(
        {(tie.anchor.file, tie.commit) for tie in ties if tie.anchor.after != ABSENT and files.lacks(tie.anchor.file)}
    )
    return [_SAME if is_untouched else _tell(files, tie) for tie, is_untouched in zip(ties, untouched, strict=True)]


def _tell(files: TiedFiles, tie: Tie) -> AnchorFound:
    anchor = tie.anchor
    if not files.has_seen(anchor.file):
        return _UNKNOWN
    if files.is_out_of_sight(anchor.file):
        return _SAME
    if files.lacks(anchor.file):
        return _SAME if anchor.after == ABSENT else _tell_moved(files, tie)
    if not anchor.name:
        return _SAME if anchor.after != ABSENT else AnchorFound("undone", f"{anchor.file} is there again")
    if not files.has_read(anchor.file):
        return _UNKNOWN
    symbols = files.symbols(anchor.file)
    return _SAME if symbols is None else _tell_symbol(anchor, symbols)


def _tell_moved(files: TiedFiles, tie: Tie) -> AnchorFound:
    """Of a file that is missing: it may stand elsewhere."""
    anchor = tie.anchor
    places = files.places(anchor.file, tie.commit)
    if places is None:
        return _UNKNOWN
    for path in places.all():
        if not files.has_read(path):
            continue  # tracked, but deleted since
        symbols = files.symbols(path)
        told = _tell_symbol(anchor, symbols) if anchor.name and symbols is not None else _SAME
        is_found_inside = bool(anchor.name and symbols) and told.state == "same"
        if path == places.surely or is_found_inside:
            return AnchorFound(told.state, _and(f"{anchor.file} moved to {path}", told.reason))
    return AnchorFound("undone" if anchor.before == ABSENT else "gone", f"{anchor.file} is gone")


def _tell_symbol(anchor: CodeAnchor, symbols: Sequence[Symbol]) -> AnchorFound:
    what = f"{anchor.file}::{anchor.name}"
    # Several may have one name: overloads, or the two halves of a property.
    now = {symbol.body for symbol in symbols if symbol.name == anchor.name}
    if anchor.after in now or (not now and anchor.after == ABSENT):
        return _SAME
    if now and anchor.after == ABSENT:
        return AnchorFound("undone" if anchor.before in now else "changed", f"{what} is there again")
    if anchor.before in now:
        return AnchorFound("undone", f"{what} is again as it was before")
    if now:
        return AnchorFound("changed", f"{what} changed")
    if name := _name_now(anchor, symbols):
        # What was only renamed tells of its name: under another one that is no longer so.
        return AnchorFound("changed" if anchor.before == anchor.after else "same", f"{what} was renamed to {name}")
    return AnchorFound("undone" if anchor.before == ABSENT else "gone", f"{what} is gone")


def _name_now(anchor: CodeAnchor, symbols: Sequence[Symbol]) -> str:
    """The name of the one that says what the missing one said; nothing when none does, or any of several may be it."""
    alike = list(dict.fromkeys(symbol.name for symbol in symbols if symbol.body == anchor.after))
    if len(alike) > 1:  # a class was renamed, say, and this method with it
        alike = [name for name in alike if name.rpartition(".")[2] == anchor.name.rpartition(".")[2]]
    return alike[0] if len(alike) == 1 else ""


def _and(first: str, then: str) -> str:
    return f"{first}; {then}" if then else first
