"""Check of single anchors: compare a symbol or file in the working tree with the state recorded by the anchor."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from claude_mem_lite.code.freshness.anchored_files import AnchoredFiles, CheckLimits
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.relocation import MissingSymbol
from claude_mem_lite.code.syntax.changes import ABSENT, CodeAnchor, Symbol
from claude_mem_lite.values import frozen

AnchorState = Literal["same", "changed", "undone", "gone", "unknown"]


@frozen
class AnchorCheck:
    """Anchor to check."""

    anchor: CodeAnchor
    commit: str = ""
    """Commit at which the file was at the anchor's path."""
    left_at: datetime | None = None
    """Time at which this checkout had the recorded state. A file untouched since needs no reading."""
    valid_at: datetime | None = None
    """Time at which the recorded state was true. A possible new location of the code was changed later."""
    memory: str = ""
    """Id of the anchored memory."""


class AnchorResult(NamedTuple):
    """State of an anchor, with a reason. `unknown`: time ran out, either for the check or, with a reason, for the
    search of a missing part."""

    state: AnchorState
    reason: str = ""
    is_settled: bool = True
    """True if the state holds until the anchor's file changes. False for findings in other files, and for an
    unexplained absence."""
    name_now: str = ""
    """Present name of a renamed symbol."""


_SAME = AnchorResult("same")
_UNKNOWN = AnchorResult("unknown")


def check_anchors(
    cache: CodeCache, root: str, checks: Sequence[AnchorCheck], limits: CheckLimits
) -> list[AnchorResult]:
    """Return the state of each anchor. Each file is read once, independent of the number of anchors."""
    files = AnchoredFiles(cache, root, limits)
    files.read_states({check.anchor.file for check in checks})
    untouched = [_is_untouched(files, check) for check in checks]
    touched = (check.anchor for check, is_same in zip(checks, untouched, strict=True) if not is_same)
    files.read({anchor.file for anchor in touched if anchor.name})
    expected = (check for check in checks if check.anchor.after != ABSENT)
    files.find_moved({(check.anchor.file, check.commit) for check in expected if files.lacks(check.anchor.file)})
    return [_SAME if is_same else _check(files, check) for check, is_same in zip(checks, untouched, strict=True)]


def _is_untouched(files: AnchoredFiles, check: AnchorCheck) -> bool:
    anchor, left_at = check.anchor, check.left_at
    return bool(anchor.name and left_at and files.is_older(anchor.file, left_at))


def _check(files: AnchoredFiles, check: AnchorCheck) -> AnchorResult:
    anchor = check.anchor
    if not files.has_seen(anchor.file):
        return _UNKNOWN
    if files.is_out_of_sight(anchor.file):
        return _SAME
    if files.lacks(anchor.file):
        return _SAME if anchor.after == ABSENT else _check_moved(files, check)
    if not anchor.name:
        return _SAME if anchor.after != ABSENT else AnchorResult("undone", f"{anchor.file} is there again")
    if not files.has_read(anchor.file):
        return _UNKNOWN
    symbols = files.symbols(anchor.file)
    if symbols is None:
        return _SAME
    return _check_symbol(anchor, symbols) or _check_missing(files, check, anchor.file)


def _check_moved(files: AnchoredFiles, check: AnchorCheck) -> AnchorResult:
    """Return the state of an anchor in a missing file: the file may have moved."""
    anchor = check.anchor
    moved_to = files.moved_to(anchor.file, check.commit)
    if moved_to is None:
        return AnchorResult("unknown", f"{anchor.file} is not where it was")
    for path in moved_to.all():
        if not files.has_read(path):
            continue  # tracked, but deleted since
        symbols = files.symbols(path)
        result = _check_symbol(anchor, symbols) if anchor.name and symbols is not None else _SAME
        is_found_inside = bool(anchor.name and symbols) and result is not None and result.state == "same"
        if path == moved_to.surely or is_found_inside:
            result = result or _check_missing(files, check, path)
            reason = _joined(f"{anchor.file} moved to {path}", result.reason)
            return AnchorResult(result.state, reason, is_settled=False, name_now=result.name_now)
    return _check_lost(files, check)


def _check_lost(files: AnchoredFiles, check: AnchorCheck) -> AnchorResult:
    """Return the state of an anchor in a file neither present nor moved: the symbol may be in another file, or the file
    is only hidden."""
    anchor = check.anchor
    absence = files.absence(anchor.file, check.commit)
    if absence is None:
        return _UNKNOWN
    if absence == "out of sight":
        return AnchorResult("changed", f"{anchor.file} is not in the working tree", is_settled=False)
    if found := _check_relocated(files, check) if anchor.name else None:
        return found
    state: AnchorState = "undone" if anchor.before == ABSENT else "gone"
    return AnchorResult(state, f"{anchor.file} is gone", is_settled=absence == "deleted")


def _check_missing(files: AnchoredFiles, check: AnchorCheck, path: str) -> AnchorResult:
    """Return the state of a symbol missing from a file: the symbol may be in another file, or the file is unreadable
    now."""
    anchor = check.anchor
    label = f"{anchor.file}::{anchor.name}"
    is_whole = files.is_whole(path)
    if is_whole is None:
        return _UNKNOWN
    if not is_whole:
        return AnchorResult("changed", f"{label} is not to be found while not all of the file can be read")
    if name := files.name_now(path, anchor):
        return _renamed(anchor, name)
    if found := _check_later_name(files, check, path) or _check_relocated(files, check):
        return found
    return AnchorResult("undone" if anchor.before == ABSENT else "gone", f"{label} is gone")


def _check_later_name(files: AnchoredFiles, check: AnchorCheck, path: str) -> AnchorResult | None:
    """Return the state of a missing symbol found under a later known name, or None if no later name is in the file."""
    anchor, symbols = check.anchor, files.symbols(path) or ()
    for later in files.later(anchor, path, memory=check.memory, valid_at=check.valid_at):
        bodies = {symbol.name: symbol.body for symbol in symbols}
        name = later.name if later.name in bodies else _name_now(later, symbols) if later.after else ""
        if name:
            result = _renamed(anchor, name)
            if bodies[name] == anchor.after:
                return result
            return AnchorResult("changed", f"{result.reason} and changed", name_now=name)
    return None


def _check_relocated(files: AnchoredFiles, check: AnchorCheck) -> AnchorResult | None:
    """Return the state of a missing symbol after a move to another file, or None if the symbol was not moved."""
    anchor = check.anchor
    label = f"{anchor.file}::{anchor.name}"
    found = files.relocated(MissingSymbol(anchor.file, anchor.after, check.valid_at, check.commit))
    if found is None:
        return _UNKNOWN
    if found == "too many":
        return AnchorResult("changed", f"{label} is gone, or moved", is_settled=False)
    named = [location for location in found if _own_name(location.name) == _own_name(anchor.name)]
    if named:
        return AnchorResult("same", f"{label} moved to {named[0].path}", is_settled=False)
    if len(found) == 1:  # possibly another symbol with an equal body
        return AnchorResult("changed", f"{label} may be {found[0].path}::{found[0].name} now", is_settled=False)
    return None


def _check_symbol(anchor: CodeAnchor, symbols: Sequence[Symbol]) -> AnchorResult | None:
    """Return the state of a symbol in a file, renamed or not, or None if the file lacks the symbol."""
    label = f"{anchor.file}::{anchor.name}"
    # Several symbols may share a name: overloads, or the two halves of a property.
    now = {symbol.body for symbol in symbols if symbol.name == anchor.name}
    if anchor.after in now or (not now and anchor.after == ABSENT):
        return _SAME
    if now and anchor.after == ABSENT:
        return AnchorResult("undone" if anchor.before in now else "changed", f"{label} is there again")
    if anchor.before in now:
        return AnchorResult("undone", f"{label} is again as it was before")
    if now:
        return AnchorResult("changed", f"{label} changed")
    name = _name_now(anchor, symbols)
    return _renamed(anchor, name) if name else None


def _renamed(anchor: CodeAnchor, name: str) -> AnchorResult:
    # A pure rename is recorded by the symbol's name: with another name, the record is outdated.
    state: AnchorState = "changed" if anchor.before == anchor.after else "same"
    return AnchorResult(state, f"{anchor.file}::{anchor.name} was renamed to {name}", name_now=name)


def _name_now(anchor: CodeAnchor, symbols: Sequence[Symbol]) -> str:
    """Return the name of the symbol with the recorded body; '' if no symbol or several symbols match."""
    alike = list(dict.fromkeys(symbol.name for symbol in symbols if symbol.body == anchor.after))
    if len(alike) > 1:  # a class was renamed, for example, and the method with the class
        alike = [name for name in alike if _own_name(name) == _own_name(anchor.name)]
    return alike[0] if len(alike) == 1 else ""


def _own_name(name: str) -> str:
    return name.rpartition(".")[2]


def _joined(first: str, then: str) -> str:
    return f"{first}; {then}" if then else first
