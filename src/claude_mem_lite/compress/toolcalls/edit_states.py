"""Hunks of an editing call, and the file before and after, from the payload of the client -> changes of its code."""

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from claude_mem_lite.code.syntax.changes import ABSENT, PRESENT, CodeChange, Symbol, compare
from claude_mem_lite.code.syntax.languages import language_of, parse
from claude_mem_lite.code.syntax.symbols import read_symbols
from claude_mem_lite.models import JsonObject, JsonValue, ToolCall, text
from claude_mem_lite.values import frozen

_MAX_HUNK_LENGTH = 4_000
"""Maximum of lines of a hunk, which is cut there."""
_MAX_CHANGES = 200
_MAX_EDITS = 50
_SIGNS = ("+", "-", " ", "", "\\")
# Mark of the inbox for a cut in a long text: the rest is not the file.
_CUT = " characters cut …]"


@frozen
class Hunk:
    """Hunk of a patch: the first line in the old file, from 0, and the lines with signs."""

    start: int
    lines: tuple[str, ...]


def read_hunks(patch: JsonValue) -> list[Hunk]:
    """Return the hunks of a patch in the form of the client."""
    hunks: list[Hunk] = []
    for hunk in patch if isinstance(patch, Sequence) and not isinstance(patch, str) else ():
        if not isinstance(hunk, Mapping):
            continue
        value = hunk.get("lines")
        lines = [line for line in value if isinstance(line, str)] if isinstance(value, list | tuple) else []
        start = hunk.get("oldStart")
        if lines:
            hunks.append(Hunk(max(start - 1, 0) if isinstance(start, int) else 0, tuple(lines[:_MAX_HUNK_LENGTH])))
    return hunks


def hunks_from_input(call: ToolCall, original: str, content: str) -> list[Hunk]:
    """Return the patch rebuilt from the input of the call, for clients that send no patch."""
    hunks: list[Hunk] = []
    for edit in _edits_of(call):
        old, new = text(edit.get("old_string")), text(edit.get("new_string"))
        if call.tool == "Write":
            old, new = original, content
        if old == new:
            continue
        at = original.find(old) if original and old else -1
        start = original.count("\n", 0, at) if at >= 0 else 0
        hunks.append(Hunk(start, tuple(diff_lines(old, new))))
    return hunks


def diff_lines(old: str, new: str) -> list[str]:
    """Return the lines of a patch between two texts, with signs."""
    before, after = (part.split("\n")[:400] if part else [] for part in (old, new))
    if max(len(before), len(after)) > 200:
        return [*(f"-{line}" for line in before), *(f"+{line}" for line in after)]
    return list(difflib.unified_diff(before, after, lineterm=""))[3:]


def states_of(call: ToolCall, original: str, content: str, hunks: Sequence[Hunk]) -> tuple[str | None, str] | None:
    """Return the file before (None for a new file) and after; None when the payload does not contain both."""
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
    """Return the change of a file as a whole."""
    if before is None:
        return CodeChange(path, "", "file", "new", before=ABSENT, after=PRESENT)
    return CodeChange(path, "", "file", "modified", before=PRESENT, after=PRESENT)


def symbol_changes(path: str, before: str | None, after: str) -> tuple[CodeChange, ...] | None:
    """Return the changes of functions and classes; None for an unknown language or a file that is too large."""
    language = language_of(path)
    if not language:
        return None
    old = _symbols(before, language) if before is not None else ()
    new = _symbols(after, language)
    if old is None or new is None:
        return None
    changes = compare(path, old, new)
    # A missing brace hides the definitions behind it.
    if any(change.action == "deleted" for change in changes) and _is_broken(after, language):
        changes = tuple(change for change in changes if change.action != "deleted" or not _names(after, change))
    if before and any(change.action == "new" for change in changes) and _is_broken(before, language):
        changes = tuple(change for change in changes if change.action != "new" or not _names(before, change))
    return changes[:_MAX_CHANGES]


@lru_cache(maxsize=32)
def _is_broken(source: str, language: str) -> bool:
    tree = parse(source, language)
    return tree is None or tree.root_node.has_error


def _names(source: str, change: CodeChange) -> bool:
    """Return whether a source that cannot be parsed mentions a function."""
    name = re.escape(change.name.rsplit(".", 1)[-1])
    return re.search(rf"(?<!\w){name}(?!\w)", source) is not None


def _edits_of(call: ToolCall) -> list[JsonObject]:
    """Return the replacements that a call asks for: several of MultiEdit, else the call itself."""
    edits = call.input.get("edits")
    if not isinstance(edits, list | tuple):
        return [call.input]
    return [edit for edit in edits if isinstance(edit, Mapping)][:_MAX_EDITS]


@lru_cache(maxsize=32)
def _symbols(source: str, language: str) -> tuple[Symbol, ...] | None:
    """Return the symbols of a source, cached: the next edit of a file begins with the result of the last edit, and
    after a failing command the edits of the turns before are read again."""
    return read_symbols(source, language)


def _patched(original: str, hunks: Sequence[Hunk]) -> str | None:
    """Return the patched file; None for a patch that does not fit.

    Redaction may have removed lines from the file that the patch counts."""
    lines = original.split("\n")
    done: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda hunk: hunk.start):
        old = [line[1:] for line in hunk.lines if line[:1] in ("-", " ")]
        new = [line[1:] for line in hunk.lines if line[:1] in ("+", " ")]
        is_whole = len(hunk.lines) < _MAX_HUNK_LENGTH and all(line[:1] in _SIGNS for line in hunk.lines)
        if not is_whole or hunk.start < at or lines[hunk.start : hunk.start + len(old)] != old:
            return None
        done += [*lines[at : hunk.start], *new]
        at = hunk.start + len(old)
    return "\n".join((*done, *lines[at:]))


def _replaced(call: ToolCall, original: str) -> str | None:
    """Return the file after the replacements of the call, for clients that send no patch."""
    after = original
    for edit in _edits_of(call):
        old, new = text(edit.get("old_string")), text(edit.get("new_string"))
        if not old or old not in after:
            return None
        after = after.replace(old, new) if edit.get("replace_all") is True else after.replace(old, new, 1)
    return after
