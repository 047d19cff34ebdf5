"""How it stands with single anchors: whether a symbol or file is in the working tree as it was left."""

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
    """An anchor that is to be looked at."""

    anchor: CodeAnchor
    commit: str = ""
    """One at which its file was where the anchor says."""
    left_at: datetime | None = None
    """When it was left so in this very checkout: if nobody touched the file since, it need not be read."""
    told_at: datetime | None = None
    """When it was as the anchor says: what it was moved to was changed since."""
    memory: str = ""
    """The id of the memory that is tied by it."""


class AnchorFound(NamedTuple):
    """How it stands with an anchor, and what became of it; `unknown`: there was no time to look, or with a reason none
    to search for what is missing."""

    state: AnchorState
    reason: str = ""
    is_settled: bool = True
    """Whether it stays so while its own file stays as it is: not what was found in other files, nor what is missing for
    reasons that nothing shows."""
    name_now: str = ""
    """What a symbol is called now, if that is not what the anchor says."""


_SAME = AnchorFound("same")
_UNKNOWN = AnchorFound("unknown")


def check_anchors(cache: CodeCache, root: str, ties: Sequence[Tie], effort: Effort) -> list[AnchorFound]:
    """How it stands with each of these; files are looked at once, whatever number is tied to them."""
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
    """Of a file that is missing: it may stand elsewhere."""
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
    """Of a file that is missing and was not moved: its symbols may be in other files, or it is only out of sight."""
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
    """Of a symbol that is missing in a file: it may be in another, or not to be seen because of how the file is now."""
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
    """Of a symbol that is missing in a file, if it is known to have been renamed and stands there under a later name;
    None when it does not."""
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
    """Of a symbol that is missing, if it was moved to another file or may have been; None when it was not."""
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
    if len(found) == 1:  # it may be another that happens to say the same
        return AnchorFound("changed", f"{what} may be {found[0].path}::{found[0].name} now", is_settled=False)
    return None


def _tell_symbol(anchor: CodeAnchor, symbols: Sequence[Symbol]) -> AnchorFound | None:
    """Of a symbol in a file that has it, by whatever name; None when it has not."""
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
    name = _name_now(anchor, symbols)
    return _tell_renamed(anchor, name) if name else None


def _tell_renamed(anchor: CodeAnchor, name: str) -> AnchorFound:
    # What was only renamed tells of its name: under another one that is no longer so.
    state: AnchorState = "changed" if anchor.before == anchor.after else "same"
    return AnchorFound(state, f"{anchor.file}::{anchor.name} was renamed to {name}", name_now=name)


def _name_now(anchor: CodeAnchor, symbols: Sequence[Symbol]) -> str:
    """The name of the one that says what the missing one said; nothing when none does, or any of several may be it."""
    alike = list(dict.fromkeys(symbol.name for symbol in symbols if symbol.body == anchor.after))
    if len(alike) > 1:  # a class was renamed, say, and this method with it
        alike = [name for name in alike if _own_name(name) == _own_name(anchor.name)]
    return alike[0] if len(alike) == 1 else ""


def _own_name(name: str) -> str:
    return name.rpartition(".")[2]


def _and(first: str, then: str) -> str:
    return f"{first}; {then}" if then else first
