"""Edit, MultiEdit, Write and NotebookEdit calls -> changes of files and functions.

The client sends the patch, the file before the patch, and the input of the call; each may be missing. Patterns find
the definitions in languages without a grammar, and in edits without the whole file."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from claude_mem_lite.code.syntax.changes import CodeChange, combined
from claude_mem_lite.compress.toolcalls.edit_states import (
    Hunk,
    diff_lines,
    file_change,
    hunks_from_input,
    read_hunks,
    states_of,
    symbol_changes,
)
from claude_mem_lite.compress.toolcalls.payload_fields import Folder
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject, SymbolAction, SymbolChange, ToolCall, text
from claude_mem_lite.values import frozen

_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|sealed|open|data|override"
    r"|suspend|inline|partial|async|unsafe|const|local|virtual|readonly|pub(?:\([^)]*\))?)\s+)*"
)
_PATTERNS = (
    lazy(r"^func\s+\([^)]*?\*?(?P<owner>\w+)(?:\[[^\]]*\])?\)\s+(?P<name>\w+)"),
    lazy(r"^\s*impl(?:<[^>]{0,120}>)?\s+(?:[\w:<>, ]{1,120}\s+for\s+)?(?P<name>\w+)"),
    lazy(
        rf"^\s*(?:@\w+\s+)*{_MODIFIERS}(?:defp?|defmodule|class|interface|enum(?:\s+class)?|record|object|trait|struct"
        r"|union|module|mod|namespace|type|fn|fun|func|function\s*\*?|macro_rules!)\s+&?(?P<name>[\w$.:?!=]+)"
        r"(?=\s*(?:[(<{=;\[,|]|$)|\s+(?:struct|interface|extends|implements|for|where|do|with)\b)"
    ),
    lazy(
        rf"^\s*{_MODIFIERS}(?:let|var|const)?\s*(?P<name>[\w$]+)\s*=\s*"
        r"(?:async\s*)?(?:function\b|\([^)]{0,200}\)\s*=>)"
    ),
    lazy(
        r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|trigger|index)\s+"
        r"(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"]+)"
    ),
    lazy(
        r"^(?![#/*])(?!\s*(?:if|else|for|while|switch|return|catch|case|match|unless|func|go|defer)\b)"
        r"[\w:<>,*&~$\[\]? \t]{0,120}?(?P<name>[\w$~]+)\s*\([^;]{0,300}\)[^;{=]{0,120}\{\s*$"
    ),
)
_CODE_ENDINGS = frozenset(
    """py pyi js jsx mjs cjs ts tsx mts vue svelte go rs rb java kt kts scala cs swift c h cc cpp cxx hpp php sh bash
    zsh ex exs lua sql""".split()  # noqa: SIM905
)
_NOT_NAMES = frozenset(
    ("if", "for", "while", "switch", "catch", "return", "else", "do", "try", "with", "function", "new")
)
_MAX_LINE = 400
_MAX_DISTANCE = 3_000
EDIT_TOOLS = ("Edit", "MultiEdit", "Write", "NotebookEdit", "Update")
# Files with versions of dependencies; lock files are left out.
_MANIFEST = lazy(
    r"(?i)(?:^|/)(?:go\.mod|package\.json|pyproject\.toml|setup\.(?:py|cfg)|Pipfile|[\w-]*(?:requirements|constraints)[\w-]*\.txt"
    r"|cargo\.toml|gemfile|\w+\.gemspec|pom\.xml|build\.gradle(?:\.kts)?|libs\.versions\.toml|composer\.json|[\w.]+\.csproj"
    r"|dockerfile[\w.]*|[\w-]*compose\.ya?ml|\.tool-versions|\.(?:nvmrc|python-version|ruby-version)|mise\.toml|mix\.exs"
    r"|podfile|pubspec\.yaml|deno\.jsonc?|chart\.yaml|\.pre-commit-config\.yaml|\.github/workflows/[\w.-]+)$"
)
_PINNED = lazy(r"\d+\.\d+|@v\d")
_VERSION_LINE = lazy(r"(?i)^[\s\"'\w.<>-]*version[\w\"'> ]*\s*[:=]?\s*[\"']?v?\d+\.\d+")
_MAX_VERSIONS = 6
# Notes of an agent to itself: plans and experiments.
_SCRATCH = lazy(r"(?:/.*|~)?/\.claude/(?:plans|projects|todos)/|(?:/private)?/(?:var/)?tmp/|.*/scratchpad/")
_MAX_LINES = 4_000
_MAX_SYMBOLS = 12
_MAX_SAMPLES = 4
_MAX_REPLACED = 3
_MAX_SAMPLE_LENGTH = 100


@frozen
class FileChange:
    """Changes of one file by one or more edits. `samples` are single replaced lines: (before, after)."""

    path: str
    action: SymbolAction
    symbols: tuple[SymbolChange, ...] = ()
    added: int = 0
    removed: int = 0
    samples: tuple[tuple[str, str], ...] = ()
    moved_from: str = ""
    versions: tuple[str, ...] = ()
    """Added lines that pin a version."""
    code: tuple[CodeChange, ...] = ()
    """Changes of the file, its functions and classes; empty when the payload lacks the file."""

    def names(self, action: SymbolAction) -> list[str]:
        return [symbol.name for symbol in self.symbols if symbol.action == action]


def read_change(call: ToolCall, folder: Folder) -> FileChange | None:
    """Return the changes of a successful editing call, or None for a call without file or changes."""
    response = call.response if isinstance(call.response, Mapping) else {}
    arguments = call.input
    path = text(arguments.get("file_path")) or text(arguments.get("notebook_path")) or text(response.get("filePath"))
    if not path.strip() or len(path) > 1_000:
        return None
    path = folder.name(path)
    if call.tool == "NotebookEdit":
        return _cell(path, arguments, response)
    original = text(response.get("originalFile")) or text(response.get("originalFileContents"))
    content = text(arguments.get("content")) or text(response.get("content"))
    hunks = read_hunks(response.get("structuredPatch"))
    if call.tool == "Write" and not hunks and original and original == content:
        return None
    states = states_of(call, original, content, hunks)
    symbols = symbol_changes(path, *states) if states else None
    # Definitions by patterns only where no parsed code has them: in a large file both take equally long.
    by_pattern = symbols is None and is_code(path)
    if call.tool == "Write" and not hunks and (not original or text(response.get("type")) == "create"):
        return _by_code(new_file(path, content, names=by_pattern), states, symbols)
    if not hunks:
        hunks = hunks_from_input(call, original, content)
    change = _patched(path, original.split("\n") if original else [], hunks, names=by_pattern) if hunks else None
    return _by_code(change, states, symbols) if change else None


def merge(changes: Iterable[FileChange]) -> list[FileChange]:
    """Return one change per file, in the order of the first edits."""
    by_path: dict[str, FileChange] = {}
    for change in changes:
        before = by_path.get(change.path)
        by_path[change.path] = _merged(before, change) if before else change
    return list(by_path.values())


def is_manifest(path: str) -> bool:
    """Return whether a file has versions of dependencies."""
    return _MANIFEST.search(path) is not None


def is_scratch(path: str) -> bool:
    """Return whether a file is a note of the agent to itself, or temporary."""
    return _SCRATCH.match(path) is not None


def describe(change: FileChange) -> str:
    """Return one line: "src/auth.py: changed renew, added expired (+12 -3)"."""
    if change.moved_from:
        return f"{change.moved_from}: renamed to {change.path}"
    if change.action == "deleted":
        return f"{change.path}: deleted"
    if change.action == "new":
        names = f" with {_few(change.names('new'))}" if change.names("new") else ""
        return f"{change.path}: new file{names}{_pins(change)} ({change.added} lines)"
    parts = [
        f"{word} {_few(names)}"
        for word, names in (
            ("changed", change.names("modified")),
            ("added", change.names("new")),
            ("removed", change.names("deleted")),
        )
        if names
    ]
    if shown := _values(change, named=bool(parts)):
        parts.append("; ".join(f"{before} -> {after}" for before, after in shown))
    size = f" (+{change.added} -{change.removed})" if change.added or change.removed else ""
    return f"{change.path}: {', '.join(parts) or 'changed'}{_pins(change)}{size}"


def _values(change: FileChange, *, named: bool) -> Sequence[tuple[str, str]]:
    """Return the replaced lines to show, when no other line changed.

    The name of a function describes a change in the function; a setting has only values."""
    if max(change.added, change.removed) > len(change.samples):
        return ()
    if named:
        return change.samples[:1] if len(change.samples) < _MAX_REPLACED else ()
    return change.samples[:_MAX_REPLACED]


def _pins(change: FileChange) -> str:
    return f", with {'; '.join(change.versions)}" if change.versions else ""


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _cell(path: str, arguments: JsonObject, response: JsonObject) -> FileChange | None:
    """Return the change of a replaced, inserted or deleted cell of a notebook."""
    mode = text(response.get("edit_mode")) or text(arguments.get("edit_mode"))
    old = text(response.get("old_source"))
    new = "" if mode == "delete" else text(arguments.get("new_source")) or text(response.get("new_source"))
    lines = diff_lines(old, new) if old != new else []
    return _patched(path, [], [Hunk(0, tuple(lines))], names=True) if lines else None


def new_file(path: str, content: str, *, names: bool = True) -> FileChange:
    """Return the change of a new file, with the definitions of a file of code."""
    lines = content.removesuffix("\n").split("\n")[:_MAX_LINES] if content else []
    is_read = names and is_code(path)
    defined_names = [name for line in lines if is_read and line[:1].strip() and (name := defined(line))]
    symbols = tuple(SymbolChange(path, name, "new") for name in dict.fromkeys(defined_names))
    versions = _versions(path, lines)
    return FileChange(path, "new", symbols[:_MAX_SYMBOLS], added=len(lines), versions=versions)


def _patched(path: str, original: list[str], hunks: list[Hunk], *, names: bool) -> FileChange | None:
    """Return the change of a patch, with names of definitions for a file of code."""
    actions: dict[str, SymbolAction] = {}
    samples: list[tuple[str, str]] = []
    plus: list[str] = []
    removed = 0
    for hunk in hunks:
        plus += [line[1:] for line in hunk.lines if line.startswith("+")]
        removed += sum(line.startswith("-") for line in hunk.lines)
        samples += _replaced(hunk)
        if names:
            _note_symbols(hunk, original, actions)
    if not plus and not removed:
        return None
    symbols = tuple(SymbolChange(path, name, action) for name, action in actions.items())
    replacing = [after for _, after in samples]
    versions = tuple(line for line in _versions(path, plus) if line not in replacing)
    kept = tuple(samples[:_MAX_SAMPLES])
    return FileChange(path, "modified", symbols[:_MAX_SYMBOLS], len(plus), removed, kept, versions=versions)


def _replaced(hunk: Hunk) -> list[tuple[str, str]]:
    """Return pairs of replaced lines, where a few lines replace as many."""
    replaced: list[tuple[str, str]] = []
    minus: list[str] = []
    plus: list[str] = []
    for line in (*hunk.lines, " "):
        if line.startswith("-") and not plus:
            minus.append(_sample(line[1:]))
        elif line.startswith("+"):
            plus.append(_sample(line[1:]))
        else:
            if 0 < len(minus) == len(plus) <= _MAX_REPLACED:
                replaced += [(old, new) for old, new in zip(minus, plus, strict=True) if old and new and old != new]
            minus, plus = ([_sample(line[1:])] if line.startswith("-") else []), []
    return replaced


def _versions(path: str, lines: Sequence[str]) -> tuple[str, ...]:
    is_pinned = _PINNED.search if is_manifest(path) else _VERSION_LINE.match
    pinned = (" ".join(line.split()).rstrip(",") for line in lines if len(line) < 160 and is_pinned(line))
    return tuple(dict.fromkeys(pinned))[:_MAX_VERSIONS]


def _note_symbols(hunk: Hunk, original: list[str], actions: dict[str, SymbolAction]) -> None:
    """Add the definitions that a hunk adds, removes or changes to `actions`."""
    above = original[: hunk.start]
    seen = [*above]
    removed = {defined(line[1:]) for line in hunk.lines if line.startswith("-")} - {""}
    added = {defined(line[1:]) for line in hunk.lines if line.startswith("+")} - {""}
    for line in hunk.lines:
        body = line[1:]
        if line[:1] in "+-" and re.search(r"\w", body):
            name = defined(body)
            outer = enclosing([*seen[-3_000:], body], min(len(seen), 3_000))
            qualified = f"{outer}.{name}" if outer and name else name or outer
            if qualified:
                action: SymbolAction = "modified"
                if name and (name in added) != (name in removed):
                    action = "new" if name in added else "deleted"
                actions.setdefault(qualified, action)
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
    code = combined((*first.code, *second.code))
    # Only the net effect counts: a restored function is not changed.
    left = {change.name for change in code}
    undone = {name for change in (*first.code, *second.code) for name in (change.name, change.was)} - left
    return FileChange(
        first.path,
        action,
        tuple(symbol for name, symbol in symbols.items() if name not in undone)[:_MAX_SYMBOLS],
        first.added + second.added,
        first.removed + second.removed,
        tuple(dict.fromkeys((*first.samples, *second.samples)))[:_MAX_SAMPLES],
        first.moved_from or second.moved_from,
        tuple(dict.fromkeys((*first.versions, *second.versions)))[:_MAX_VERSIONS],
        code,
    )


def _by_code(
    change: FileChange, states: tuple[str | None, str] | None, symbols: tuple[CodeChange, ...] | None
) -> FileChange:
    """Return the change with symbols from the parsed code instead of from patterns, where the code can be parsed.

    Symbols inside of a new or deleted symbol are left out."""
    if states is None:
        return change
    file = file_change(change.path, states[0])
    if symbols is None:
        return replace(change, code=(file,))
    whole = {symbol.name for symbol in symbols if symbol.action != "modified"}
    outermost = [symbol for symbol in symbols if symbol.action == "modified" or not _stands_in(symbol.name, whole)]
    shown = tuple(SymbolChange(change.path, symbol.name, symbol.action) for symbol in outermost[:_MAX_SYMBOLS])
    return replace(change, code=(file, *symbols), symbols=shown)


def _stands_in(name: str, parents: set[str]) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:end]) in parents for end in range(1, len(parts)))


def _sample(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= _MAX_SAMPLE_LENGTH and re.search(r"\w", line) else ""


def is_code(path: str) -> bool:
    """Return whether a file defines functions or types, by the ending of the name."""
    return "." in path and path.rsplit(".", 1)[-1].lower() in _CODE_ENDINGS


def defined(line: str) -> str:
    """Return the name that a line defines, or ''."""
    if len(line) > _MAX_LINE or not line.strip():
        return ""
    for pattern in _PATTERNS:
        if (match := pattern.match(line)) and (name := match["name"].rstrip(":=")) and name not in _NOT_NAMES:
            owner = match.groupdict().get("owner")
            return f"{owner}.{name}" if owner else name
    return ""


def enclosing(lines: Sequence[str], at: int) -> str:
    """Return the qualified name of the definition around line `at`, by indentation; '' at the top level."""
    names: list[str] = []
    current = _indent(lines[at]) if at < len(lines) else 0
    for index in range(min(at, len(lines)) - 1, max(-1, at - _MAX_DISTANCE), -1):
        line = lines[index]
        if current <= 0:
            break
        if not line.strip() or _indent(line) >= current:
            continue
        stripped = line.strip()
        if stripped[0] in ")}]" and stripped[-1] in "{:(":
            current = _indent(line) + 1
            continue
        current = _indent(line)
        if name := defined(line):
            names.append(name)
    return ".".join(reversed(names[:3]))


def _indent(line: str) -> int:
    # A tab counts as a character: only comparisons within one file matter.
    return len(line) - len(line.lstrip())
