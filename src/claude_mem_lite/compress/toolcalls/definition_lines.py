"""Lines that define a function, class or type, by patterns; and the definition around a line.

For files of languages without a grammar, and for edits without the whole file."""

from collections.abc import Sequence

from claude_mem_lite.lazy_regex import lazy

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
