"""Code anchors of memories, as text: `code:AFTER:BEFORE:FILE::NAME`, or without `::NAME` for a whole file."""

from dataclasses import dataclass
from functools import lru_cache

from claude_mem_lite.code.syntax.changes import CodeChange

MAX_CODE_ANCHORS = 12
"""Limit per memory."""
_LEAD = "code:"


@dataclass(frozen=True, slots=True)
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
