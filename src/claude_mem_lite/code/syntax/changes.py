"""Two states of a file -> what became of its functions and classes; and several such changes in a row as one.

What code is made of, as values: functions and classes, and what became of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

SymbolKind = Literal["function", "method", "class"]
SymbolAction = Literal["new", "modified", "deleted"]
ABSENT = "-"
"""In the place of a hash: it is not there."""
PRESENT = "+"
"""In the place of a hash: it is there, whatever it holds."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function, method or class as a file defines it."""

    name: str
    """Qualified by what it stands in: `Session.renew`."""
    kind: SymbolKind
    signature: str
    """What comes before its body, on one line."""
    first: int
    last: int
    """Lines, from 1."""
    body: str
    """A hash of all it says, but for its own name, spaces, comments, and what other symbols inside it say."""


@dataclass(frozen=True, slots=True)
class CodeChange:
    """What became of a symbol, or of a whole file when `name` is empty."""

    file: str
    name: str
    kind: SymbolKind | Literal["file"]
    action: SymbolAction
    signature: str = ""
    was: str = ""
    """The name it had before; of a file, its path."""
    before: str = ABSENT
    after: str = ABSENT
    """The hashes of its body, or ABSENT; of a file PRESENT or ABSENT."""


# A body of one or two lines is like many others: it says nothing about which was renamed to which.
_MIN_LINES = 3


def compare(file: str, before: Sequence[Symbol], after: Sequence[Symbol]) -> tuple[CodeChange, ...]:
    """What is new, modified, deleted or renamed, in the order of the file as it is now, the deleted ones last.

    Renamed is what has the body of one that is gone, whatever else was done to the file."""
    old, new = ({symbol.name: symbol for symbol in symbols} for symbols in (before, after))
    gone = {name: symbol for name, symbol in old.items() if name not in new}
    found: list[CodeChange] = []
    for symbol in new.values():
        known = old.get(symbol.name) or _renamed(symbol, gone)
        if known is not None:
            gone.pop(known.name, None)
        if known is None or known.body != symbol.body or known.name != symbol.name:
            found.append(_change(file, known, symbol))
    return (*found, *(_change(file, symbol, None) for symbol in gone.values()))


def combined(changes: Iterable[CodeChange]) -> tuple[CodeChange, ...]:
    """Changes in a row as one change a symbol; what is in the end as it was at first is none."""
    whole: dict[tuple[str, str], CodeChange] = {}
    for change in changes:
        moved = not change.name and change.was
        first = whole.pop((change.was, "") if moved else (change.file, change.was or change.name), None)
        merged = _after(first, change) if first else change
        if merged is not None:
            whole[merged.file, merged.name] = merged
    return tuple(whole.values())


def _after(first: CodeChange, then: CodeChange) -> CodeChange | None:
    was = first.was or (then.was if first.before != ABSENT else "")
    own = then.file if not then.name else then.name
    was = "" if was == own else was
    if first.before == then.after != PRESENT and not was:
        return None
    return replace(then, action=_action(first.before, then.after), was=was, before=first.before)


def _renamed(symbol: Symbol, gone: dict[str, Symbol]) -> Symbol | None:
    """The one that is gone and had this body; first of those with the same last name, moved into another class, say."""
    same = [other for other in gone.values() if other.body == symbol.body]
    own = [other for other in same if _last(other.name) == _last(symbol.name)]
    if own:
        return own[0]
    return same[0] if same and symbol.last - symbol.first + 1 >= _MIN_LINES else None


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _change(file: str, before: Symbol | None, after: Symbol | None) -> CodeChange:
    shown = after or before
    assert shown is not None
    was = before.name if before and after and before.name != after.name else ""
    old, new = (symbol.body if symbol else ABSENT for symbol in (before, after))
    return CodeChange(file, shown.name, shown.kind, _action(old, new), shown.signature, was, old, new)


def _action(before: str, after: str) -> SymbolAction:
    return "new" if before == ABSENT else "deleted" if after == ABSENT else "modified"
