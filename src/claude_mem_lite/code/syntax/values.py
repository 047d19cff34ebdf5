"""What code is made of, as values: functions and classes, and what became of them."""

from dataclasses import dataclass
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
