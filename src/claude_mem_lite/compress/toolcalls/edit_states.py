"""A file before and after an editing call, from what the client sends of it -> what became of its code."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from claude_mem_lite.code.syntax.changes import ABSENT, PRESENT, CodeChange, Symbol, compare
from claude_mem_lite.code.syntax.languages import language_of, parse
from claude_mem_lite.code.syntax.symbols import read_symbols
from claude_mem_lite.models import ToolCall, text

MAX_HUNK_LENGTH = 4_000
"""Lines; a longer one is cut there."""
_MAX_CHANGES = 200
_SIGNS = ("+", "-", " ", "", "\\")
# How the inbox marks that something was cut out of a long text: what is left is no file.
_CUT = " characters cut …]"


@dataclass(frozen=True, slots=True)
class Hunk:
    """A piece of a patch: the line of the old file it begins at, from 0, and its lines with their signs."""

    start: int
    lines: tuple[str, ...]


def states_of(call: ToolCall, original: str, content: str, hunks: Sequence[Hunk]) -> tuple[str | None, str] | None:
    """The file before (None when there was none) and after; None when that cannot be told."""
    if _CUT in original or _CUT in content:
        return None
    if call.tool == "Write":
        return original or None, content
    if not original:
        return None
    after = _patched(original, hunks) if hunks else None
    after = _replaced(call, original) if after is None else after
    return (original, after) if after is not None else None


def file_change(path: str, before: str | None) -> CodeChange:
    """What became of a file as a whole."""
    if before is None:
        return CodeChange(path, "", "file", "new", before=ABSENT, after=PRESENT)
    return CodeChange(path, "", "file", "modified", before=PRESENT, after=PRESENT)


def symbol_changes(path: str, before: str | None, after: str) -> tuple[CodeChange, ...] | None:
    """What became of the functions and classes of a file; None when its language is not read, or it is too large."""
    language = language_of(path)
    old = _symbols(before, language) if before is not None else ()
    new = _symbols(after, language)
    if old is None or new is None:
        return None
    found = compare(path, old, new)
    # A brace that is missing for a moment hides what stands behind it.
    if any(one.action == "deleted" for one in found) and _is_broken(after, language):
        found = tuple(one for one in found if one.action != "deleted" or not _names(after, one))
    if before and any(one.action == "new" for one in found) and _is_broken(before, language):
        found = tuple(one for one in found if one.action != "new" or not _names(before, one))
    return found[:_MAX_CHANGES]


def _is_broken(source: str, language: str) -> bool:
    tree = parse(source, language)
    return tree is None or tree.root_node.has_error


def _names(source: str, change: CodeChange) -> bool:
    """Whether a text speaks of a function, although it could not be read there."""
    name = re.escape(change.name.rsplit(".", 1)[-1])
    return re.search(rf"(?<!\w){name}(?!\w)", source) is not None


@lru_cache(maxsize=4)
def _symbols(source: str, language: str) -> tuple[Symbol, ...] | None:
    """Kept for the next edit of the same file, which begins where this one ended."""
    return read_symbols(source, language) if language else None


def _patched(original: str, hunks: Sequence[Hunk]) -> str | None:
    """The file with a patch applied; None when it does not fit.

    Private passages and keys may have been taken out of the file with all their lines, and the patch counts them."""
    lines = original.split("\n")
    done: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda one: one.start):
        old = [line[1:] for line in hunk.lines if line[:1] in ("-", " ")]
        new = [line[1:] for line in hunk.lines if line[:1] in ("+", " ")]
        is_whole = len(hunk.lines) < MAX_HUNK_LENGTH and all(line[:1] in _SIGNS for line in hunk.lines)
        if not is_whole or hunk.start < at or lines[hunk.start : hunk.start + len(old)] != old:
            return None
        done += [*lines[at : hunk.start], *new]
        at = hunk.start + len(old)
    return "\n".join((*done, *lines[at:]))


def _replaced(call: ToolCall, original: str) -> str | None:
    """The file with what the call says put in, for clients that send no patch."""
    given = call.input.get("edits")
    edits = [edit for edit in given if isinstance(edit, Mapping)] if isinstance(given, list | tuple) else [call.input]
    after = original
    for edit in edits[:50]:
        old, new = text(edit.get("old_string")), text(edit.get("new_string"))
        if not old or old not in after:
            return None
        after = after.replace(old, new) if edit.get("replace_all") is True else after.replace(old, new, 1)
    return after
