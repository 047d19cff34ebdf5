"""What ties a memory to code, as text: `code:AFTER:BEFORE:FILE::NAME`, or without `::NAME` to a whole file."""

from dataclasses import dataclass
from functools import lru_cache

from claude_mem_lite.code.syntax.changes import CodeChange

MAX_CODE_ANCHORS = 12
"""Of one memory."""
_LEAD = "code:"


@dataclass(frozen=True, slots=True)
class CodeAnchor:
    """A symbol or file a memory tells of: the hash it had afterwards and the one before, or ABSENT or PRESENT."""

    file: str
    """As seen from the root of the checkout."""
    name: str
    after: str
    before: str


def anchor_of(change: CodeChange) -> CodeAnchor:
    """What a memory that tells of this change is tied to."""
    return CodeAnchor(change.file, change.name, after=change.after, before=change.before)


def anchor_to(change: CodeChange) -> str:
    """The same as text."""
    return written(anchor_of(change))


def written(anchor: CodeAnchor) -> str:
    """An anchor as text."""
    name = f"::{anchor.name}" if anchor.name else ""
    return f"{_LEAD}{anchor.after}:{anchor.before}:{anchor.file}{name}"


@lru_cache(maxsize=2_000)  # a context asks for the same ones several times
def read_anchor(text: str) -> CodeAnchor | None:
    """The anchor that is written here; None when it ties to something else than code."""
    parts = text.removeprefix(_LEAD).split(":", 2)
    if not text.startswith(_LEAD) or len(parts) != 3 or not parts[2]:
        return None
    file, _, name = parts[2].partition("::")
    return CodeAnchor(file, name, after=parts[0], before=parts[1])
