"""Check of single anchors: compare a symbol or file in the working tree with the state recorded by the anchor."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from claude_mem_lite.code.freshness.anchored_files import Effort, TiedFiles
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.relocation import Wanted
from claude_mem_lite.code.syntax.anchors import CodeAnchor
from claude_mem_lite.code.syntax.changes import ABSENT, Symbol

AnchorState = Literal["same", "changed", "undone", "gone", "unknown"]


@dataclass(frozen=True, slots=True)
class Tie:
    """Anchor to check."""

    anchor: CodeAnchor
    commit: str = ""
    """Commit at which the file was at the anchor's path."""
    left_at: datetime | None = None
    """Time at which this checkout had the recorded state. A file untouched since needs no reading."""
    told_at: datetime | None = None
    """Time at which the recorded state was true. A possible new location of the code was changed later."""
    memory: str = ""
    """Id of the anchored memory."""


class AnchorFound(NamedTuple):
    """State of an anchor, with a reason. `unknown`: time ran out, either for the check or, with a reason, for the
    search of a missing part."""

    state: AnchorState
    reason: str = ""
    is_settled: bool = True
    """True if the state holds until the anchor's file changes. False for findings in other files, and for an
    unexplained absence."""
    name_now: str = ""
    """Present name of a renamed symbol."""


_SAME = AnchorFound("same")
_UNKNOWN = AnchorFound("unknown")


def check_anchors(cache: CodeCache, root: str, ties: Sequence[Tie], effort: Effort) -> list[AnchorFound]:
    """Return the state of each anchor. Each file is read once, independent of the number of anchors."""
    files = TiedFiles(cache, root, effort)
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
    if symbols is None:
        return _SAME
    return _tell_symbol(anchor, symbols) or _tell_missing(files, tie, anchor.file)


def _tell_moved(files: TiedFiles, tie: Tie) -> AnchorFound:
    """Return the state of an anchor in a missing file: the file may have moved."""
    anchor = tie.anchor
    places = files.places(anchor.file, tie.commit)
    if places is None:
        return AnchorFound("unknown", f"{anchor.file} is not where it was")
    for path in places.all():
        if not files.has_read(path):
            continue  # tracked, but deleted since
        symbols = files.symbols(path)
        told = _tell_symbol(anchor, symbols) if anchor.name and symbols is not None else _SAME
        is_found_inside = bool(anchor.name and symbols) and told is not None and told.state == "same"
        if path == places.surely or is_found_inside:
            told = told or _tell_missing(files, tie, path)
            reason = _and(f"{anchor.file} moved to {path}", told.reason)
            return AnchorFound(told.state, reason, is_settled=False, name_now=told.name_now)
    return _tell_lost(files, tie)


def _tell_lost(files: TiedFiles, tie: Tie) -> AnchorFound:
    """Return the state of an anchor in a file neither present nor moved: the symbol may be in another file, or the file
    is only hidden."""
    anchor = tie.anchor
    absence = files.absence(anchor.file, tie.commit)
    if absence is None:
        return _UNKNOWN
    if absence == "out of sight":
        return AnchorFound("changed", f"{anchor.file} is not in the working tree", is_settled=False)
    if found := _tell_elsewhere(files, tie) if anchor.name else None:
        return found
    state: AnchorState = "undone" if anchor.before == ABSENT else "gone"
    return AnchorFound(state, f"{anchor.file} is gone", is_settled=absence == "deleted")


def _tell_missing(files: TiedFiles, tie: Tie, path: str) -> AnchorFound:
    """Return the state of a symbol missing from a file: the symbol may be in another file, or the file is unreadable
    now."""
    anchor = tie.anchor
    what = f"{anchor.file}::{anchor.name}"
    is_whole = files.is_whole(path)
    if is_whole is None:
        return _UNKNOWN
    if not is_whole:
        return AnchorFound("changed", f"{what} is not to be found while not all of the file can be read")
    if name := files.name_now(path, anchor):
        return _tell_renamed(anchor, name)
    if found := _tell_later(files, tie, path) or _tell_elsewhere(files, tie):
        return found
    return AnchorFound("undone" if anchor.before == ABSENT else "gone", f"{what} is gone")


def _tell_later(files: TiedFiles, tie: Tie, path: str) -> AnchorFound | None:
    """Return the state of a missing symbol found under a later known name, or None if no later name is in the file."""
    anchor, symbols = tie.anchor, files.symbols(path) or ()
    for later in files.later(anchor, path, memory=tie.memory, told_at=tie.told_at):
        bodies = {symbol.name: symbol.body for symbol in symbols}
        name = later.name if later.name in bodies else _name_now(later, symbols) if later.after else ""
        if name:
            told = _tell_renamed(anchor, name)
            if bodies[name] == anchor.after:
                return told
            return AnchorFound("changed", f"{told.reason} and changed", name_now=name)
    return None


def _tell_elsewhere(files: TiedFiles, tie: Tie) -> AnchorFound | None:
    """Return the state of a missing symbol after a move to another file, or None if the symbol was not moved."""
    anchor = tie.anchor
    what = f"{anchor.file}::{anchor.name}"
    found = files.elsewhere(Wanted(anchor.file, anchor.after, tie.told_at, tie.commit))
    if found is None:
        return _UNKNOWN
    if found == "too many":
        return AnchorFound("changed", f"{what} is gone, or moved", is_settled=False)
    named = [one for one in found if _own_name(one.name) == _own_name(anchor.name)]
    if named:
        return AnchorFound("same", f"{what} moved to {named[0].path}", is_settled=False)
    if len(found) == 1:  # possibly another symbol with an equal body
        return AnchorFound("changed", f"{what} may be {found[0].path}::{found[0].name} now", is_settled=False)
    return None


def _tell_symbol(anchor: CodeAnchor, symbols: Sequence[Symbol]) -> AnchorFound | None:
    """Return the state of a symbol in a file, renamed or not, or None if the file lacks the symbol."""
    what = f"{anchor.file}::{anchor.name}"
    # Several symbols may share a name: overloads, or the two halves of a property.
    now = {symbol.body for symbol in symbols if symbol.name == anchor.name}
    if anchor.after in now or (not now and anchor.after == ABSENT):
        return _SAME
    if now and anchor.after == ABSENT:
        return AnchorFound("undone" if anchor.before in now else "changed", f"{what} is there again")
    if anchor.before in now:
        return AnchorFound("undone", f"{what} is again as it was before")
    if now:
        return AnchorFound("changed", f"{what} changed")
    name = _name_now(anchor, symbols)
    return _tell_renamed(anchor, name) if name else None


def _tell_renamed(anchor: CodeAnchor, name: str) -> AnchorFound:
    # A pure rename is recorded by the symbol's name: with another name, the record is outdated.
    state: AnchorState = "changed" if anchor.before == anchor.after else "same"
    return AnchorFound(state, f"{anchor.file}::{anchor.name} was renamed to {name}", name_now=name)


def _name_now(anchor: CodeAnchor, symbols: Sequence[Symbol]) -> str:
    """Return the name of the symbol with the recorded body; '' if no symbol or several symbols match."""
    alike = list(dict.fromkeys(symbol.name for symbol in symbols if symbol.body == anchor.after))
    if len(alike) > 1:  # a class was renamed, for example, and the method with the class
        alike = [name for name in alike if _own_name(name) == _own_name(anchor.name)]
    return alike[0] if len(alike) == 1 else ""


def _own_name(name: str) -> str:
    return name.rpartition(".")[2]


def _and(first: str, then: str) -> str:
    return f"{first}; {then}" if then else first
