"""Symbols of source code, changes to them between two states of a file, and code anchors of memories.

`compare` finds the changes, and `combined` merges successive changes of a symbol. An anchor is written as text:
`code:AFTER:BEFORE:FILE::NAME`, or without `::NAME` for a whole file."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from claude_mem_lite.models import SymbolAction
from claude_mem_lite.values import frozen

SymbolKind = Literal["function", "method", "class"]
ABSENT = "-"
"""Placeholder for the hash of an absent symbol or file."""
PRESENT = "+"
"""Placeholder for the hash of a present file of any content."""
# Short bodies are often equal by chance: one or two lines are no evidence of a rename.
_MIN_LINES = 3


@frozen
class Symbol:
    """Function, method or class defined in a file."""

    name: str
    """Qualified name: `Session.renew`."""
    kind: SymbolKind
    signature: str
    """Text before the body, on one line."""
    first: int
    last: int
    """Line numbers, from 1."""
    body: str
    """Hash of the text, without the symbol's own name, spaces, comments and nested symbols."""


@frozen
class CodeChange:
    """Change of a symbol, or of a whole file if `name` is empty."""

    file: str
    name: str
    kind: SymbolKind | Literal["file"]
    action: SymbolAction
    signature: str = ""
    was: str = ""
    """Former name; for a file, the former path."""
    before: str = ABSENT
    after: str = ABSENT
    """Body hash or ABSENT; for a file, PRESENT or ABSENT."""


def compare(file: str, before: Sequence[Symbol], after: Sequence[Symbol]) -> tuple[CodeChange, ...]:
    """Return the new, modified, renamed and deleted symbols, in file order, deleted symbols last.

    A new symbol with the body of a deleted symbol counts as renamed."""
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
    """Merge successive changes into a single change for each symbol; a symbol back in its first state has no change."""
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
    """Return the deleted symbol with the body of a new symbol, preferably of the same last name, as after a move into
    another class."""
    same = [old_symbol for old_symbol in gone.values() if old_symbol.body == symbol.body]
    own = [old_symbol for old_symbol in same if _last(old_symbol.name) == _last(symbol.name)]
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


MAX_CODE_ANCHORS = 12
"""Limit per memory."""
_LEAD = "code:"


@frozen
class CodeAnchor:
    """Symbol or file described by a memory, with the body hashes after and before the change, or ABSENT or PRESENT."""

    file: str
    """Path from the root of the checkout."""
    name: str
    after: str
    before: str


def anchor_of(change: CodeChange) -> CodeAnchor:
    """Return the anchor for a memory about a change."""
    return CodeAnchor(change.file, change.name, after=change.after, before=change.before)


def anchor_to(change: CodeChange) -> str:
    """Return the anchor for a memory about a change, as text."""
    return written(anchor_of(change))


def written(anchor: CodeAnchor) -> str:
    """Return an anchor as text."""
    name = f"::{anchor.name}" if anchor.name else ""
    return f"{_LEAD}{anchor.after}:{anchor.before}:{anchor.file}{name}"


@lru_cache(maxsize=2_000)  # a context asks for the same anchors several times
def read_anchor(text: str) -> CodeAnchor | None:
    """Parse a code anchor; None for an anchor of another kind."""
    parts = text.removeprefix(_LEAD).split(":", 2)
    if not text.startswith(_LEAD) or len(parts) != 3 or not parts[2]:
        return None
    file, _, name = parts[2].partition("::")
    return CodeAnchor(file, name, after=parts[0], before=parts[1])
