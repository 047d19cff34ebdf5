"""Edit, MultiEdit, Write and NotebookEdit calls -> what changed in which file and function.

Works on what the client sends: the patch, the file before it, and the call's own input; all may be missing."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.clean import storable
from claude_mem_lite.compress.definitions import defined, enclosing, language
from claude_mem_lite.models import JsonValue, SymbolAction, SymbolChange, ToolCall, text

EDIT_TOOLS = ("Edit", "MultiEdit", "Write", "NotebookEdit", "Update")
_FILE_NAME = re.compile(r"(?!/|~|tmp/|\.\./|node_modules/|dist/|build/|target/)[\w./@+-]*[\w@+-]\.[A-Za-z]\w{0,9}")
_MOST_LINES = 4_000
_MOST_SYMBOLS = 12
_MOST_SAMPLES = 4
_LONGEST_SAMPLE = 100


@dataclass(frozen=True, slots=True)
class FileChange:
    """All that one or more edits did to one file. `samples` are single lines that were replaced: (before, after)."""

    path: str
    action: SymbolAction
    symbols: tuple[SymbolChange, ...] = ()
    added: int = 0
    removed: int = 0
    samples: tuple[tuple[str, str], ...] = ()
    moved_from: str = ""

    def names(self, action: SymbolAction) -> list[str]:
        return [symbol.name for symbol in self.symbols if symbol.action == action]


@dataclass(frozen=True, slots=True)
class _Hunk:
    start: int
    """Line of the old file, from 0."""
    lines: tuple[str, ...]


def read_change(call: ToolCall, cwd: str) -> FileChange | None:
    """What a successful editing call changed, or None when it names no file or changed nothing."""
    response = call.response if isinstance(call.response, Mapping) else {}
    given = call.input
    path = text(given.get("file_path")) or text(given.get("notebook_path")) or text(response.get("filePath"))
    if not path.strip() or len(path) > 1_000:
        return None
    path = relative(path, cwd)
    original = text(response.get("originalFile")) or text(response.get("originalFileContents"))
    content = text(given.get("content")) or text(given.get("new_source")) or text(response.get("content"))
    hunks = _hunks(response.get("structuredPatch"))
    if call.tool == "Write" and not hunks:
        if original and original == content:
            return None
        if not original or text(response.get("type")) == "create":
            return _new_file(path, content)
    if not hunks:
        hunks = _hunks_from_input(call, original, content)
    return _patched(path, original.split("\n") if original else [], hunks) if hunks else None


def read_moves(parts: Sequence[str], cwd: str) -> list[FileChange]:
    """Files of the project that a command renamed or deleted by name; folders and patterns are left out."""
    found: list[FileChange] = []
    for part in parts:
        words = part.split()
        words = words[1:] if words[:1] == ["git"] else words
        paths = [relative(word.strip("\"'"), cwd) for word in words[1:] if not word.startswith("-")]
        if not paths or not all(_FILE_NAME.fullmatch(path) for path in paths):
            continue
        if words[0] == "mv" and len(paths) == 2:
            found.append(FileChange(paths[1], "new", moved_from=paths[0]))
        elif words[0] == "rm":
            found += (FileChange(path, "deleted") for path in paths[:20])
    return found


def merge(changes: Iterable[FileChange]) -> list[FileChange]:
    """One change per file, in the order the files were first touched."""
    by_path: dict[str, FileChange] = {}
    for change in changes:
        before = by_path.get(change.path)
        by_path[change.path] = _merged(before, change) if before else change
    return list(by_path.values())


def relative(path: str, cwd: str) -> str:
    """The path as seen from the working folder, when it is inside."""
    path = storable(path)
    folder = cwd.rstrip("/")
    return path[len(folder) + 1 :] if folder and path.startswith(folder + "/") else path


def describe(change: FileChange) -> str:
    """One line: "src/auth.py: changed renew, added expired (+12 -3)"."""
    if change.moved_from:
        return f"{change.moved_from}: renamed to {change.path}"
    if change.action == "deleted":
        return f"{change.path}: deleted"
    if change.action == "new":
        names = f" with {_few(change.names('new'))}" if change.names("new") else ""
        return f"{change.path}: new file{names} ({change.added} lines)"
    parts = [
        f"{word} {_few(names)}"
        for word, names in (
            ("changed", change.names("modified")),
            ("added", change.names("new")),
            ("removed", change.names("deleted")),
        )
        if names
    ]
    if change.samples and change.added == change.removed == len(change.samples):
        before, after = change.samples[0]
        parts.append(f"{before} -> {after}")
    return f"{change.path}: {', '.join(parts) or 'changed'} (+{change.added} -{change.removed})"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _hunks(patch: JsonValue) -> list[_Hunk]:
    hunks: list[_Hunk] = []
    for hunk in patch if isinstance(patch, Sequence) and not isinstance(patch, str) else ():
        if not isinstance(hunk, Mapping):
            continue
        given = hunk.get("lines")
        lines = [line for line in given if isinstance(line, str)] if isinstance(given, list | tuple) else []
        start = hunk.get("oldStart")
        if lines:
            hunks.append(_Hunk(max(start - 1, 0) if isinstance(start, int) else 0, tuple(lines[:_MOST_LINES])))
    return hunks


def _hunks_from_input(call: ToolCall, original: str, content: str) -> list[_Hunk]:
    """The patch rebuilt from what the call was given, for clients that send none."""
    given = call.input.get("edits")
    edits = [edit for edit in given if isinstance(edit, Mapping)] if isinstance(given, list | tuple) else [call.input]
    hunks: list[_Hunk] = []
    for edit in edits[:50]:
        old, new = text(edit.get("old_string")), text(edit.get("new_string")) or text(edit.get("new_source"))
        if call.tool == "Write":
            old, new = original, content
        if old == new:
            continue
        at = original.find(old) if original and old else -1
        start = original.count("\n", 0, at) if at >= 0 else 0
        hunks.append(_Hunk(start, tuple(_diff(old, new))))
    return hunks


def _diff(old: str, new: str) -> list[str]:
    before, after = (part.split("\n")[:400] if part else [] for part in (old, new))
    if max(len(before), len(after)) > 200:
        return [*(f"-{line}" for line in before), *(f"+{line}" for line in after)]
    return list(difflib.unified_diff(before, after, lineterm=""))[3:]


def _new_file(path: str, content: str) -> FileChange:
    family = language(path)
    lines = content.removesuffix("\n").split("\n")[:_MOST_LINES] if content else []
    names = [name for line in lines if line[:1].strip() and (name := defined(line, family))]
    symbols = tuple(SymbolChange(path, name, "new") for name in dict.fromkeys(names))
    return FileChange(path, "new", symbols[:_MOST_SYMBOLS], added=len(lines))


def _patched(path: str, original: list[str], hunks: list[_Hunk]) -> FileChange | None:
    family = language(path)
    actions: dict[str, SymbolAction] = {}
    samples: list[tuple[str, str]] = []
    added = removed = 0
    for hunk in hunks:
        minus = [line[1:] for line in hunk.lines if line.startswith("-")]
        plus = [line[1:] for line in hunk.lines if line.startswith("+")]
        added += len(plus)
        removed += len(minus)
        if len(minus) == len(plus) == 1:
            before, after = _sample(minus[0]), _sample(plus[0])
            samples += [(before, after)] if before and after else []
        if family:
            _note_symbols(hunk, original, family, actions)
    if not added and not removed:
        return None
    symbols = tuple(SymbolChange(path, name, action) for name, action in actions.items())
    return FileChange(path, "modified", symbols[:_MOST_SYMBOLS], added, removed, tuple(samples[:_MOST_SAMPLES]))


def _note_symbols(hunk: _Hunk, original: list[str], family: str, actions: dict[str, SymbolAction]) -> None:
    """Which definitions a hunk adds, removes or changes the inside of."""
    above = original[: hunk.start]
    seen = [*above]
    gone = {defined(line[1:], family) for line in hunk.lines if line.startswith("-")} - {""}
    made = {defined(line[1:], family) for line in hunk.lines if line.startswith("+")} - {""}
    for line in hunk.lines:
        body = line[1:]
        if line[:1] in "+-" and body.strip():
            name = defined(body, family)
            outer = enclosing([*seen[-3_000:], body], min(len(seen), 3_000), family)
            qualified = f"{outer}.{name}" if outer and name else name or outer
            if qualified:
                fresh: SymbolAction = "new" if name in made - gone else "deleted" if name in gone - made else "modified"
                actions.setdefault(qualified, fresh if name else "modified")
        seen.append(body)


def _merged(first: FileChange, second: FileChange) -> FileChange:
    action: SymbolAction = first.action if first.action == "new" and second.action != "deleted" else second.action
    symbols: dict[str, SymbolChange] = {symbol.name: symbol for symbol in first.symbols}
    for symbol in second.symbols:
        before = symbols.get(symbol.name)
        if before is None:
            symbols[symbol.name] = symbol
        elif before.action == "new" and symbol.action == "deleted":
            del symbols[symbol.name]
        elif before.action != "new":
            symbols[symbol.name] = symbol
    return FileChange(
        first.path,
        action,
        tuple(symbols.values())[:_MOST_SYMBOLS],
        first.added + second.added,
        first.removed + second.removed,
        tuple(dict.fromkeys((*first.samples, *second.samples)))[:_MOST_SAMPLES],
        first.moved_from or second.moved_from,
    )


def _sample(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= _LONGEST_SAMPLE else ""
