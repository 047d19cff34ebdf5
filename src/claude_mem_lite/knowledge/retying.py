"""Anchors of a memory that is said to hold still, tied to the code as it stands now. Called by the worker."""

from collections.abc import Sequence
from dataclasses import replace

from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.syntax.anchors import CodeAnchor, read_anchor, written
from claude_mem_lite.code.syntax.values import ABSENT, Symbol


def tied_to_now(cache: CodeCache, root: str, anchors: Sequence[str]) -> tuple[str, ...]:
    """The anchors with the code that is there now; those to code that is gone are let go, because nothing can be told
    by them any more. What cannot be read stays as it is."""
    tied = {text: anchor for text in anchors if (anchor := read_anchor(text))}
    found = cache.read(root, sorted({anchor.file for anchor in tied.values()})) if root and tied else {}
    told: list[str] = []
    for text in anchors:
        anchor = tied.get(text)
        if anchor is None or anchor.file not in found:
            told.append(text)
            continue
        code = found[anchor.file]
        now = _in_file(anchor, code.symbols) if code else _without_file(anchor)
        told += [written(now)] if now else []
    return tuple(dict.fromkeys(told))


def _without_file(anchor: CodeAnchor) -> CodeAnchor | None:
    return anchor if anchor.after == ABSENT else None


def _in_file(anchor: CodeAnchor, symbols: Sequence[Symbol] | None) -> CodeAnchor | None:
    if not anchor.name:
        return anchor if anchor.after != ABSENT else None
    if symbols is None:
        return anchor
    bodies = [symbol.body for symbol in symbols if symbol.name == anchor.name]
    if not bodies:
        return anchor if anchor.after == ABSENT else None
    if anchor.after in bodies:
        return anchor
    # What it is again now is not what it was before: else it would count as undone.
    before = anchor.after if anchor.before in bodies else anchor.before
    return replace(anchor, after=bodies[0], before=before)
