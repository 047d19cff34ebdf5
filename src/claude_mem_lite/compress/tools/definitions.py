"""Lines that define a function, class or type, told by their look; and what a line stands inside of."""

from collections.abc import Sequence

from claude_mem_lite.patterns import lazy

_JS = (
    r"^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|interface"
    r"|enum|namespace)\s+(?P<a>[\w$]+)",
    r"^\s*(?:export\s+)?(?:const|let|var)\s+(?P<b>[\w$]+)\s*(?::[^=]{1,120})?=\s*(?:async\s*)?(?:function\b"
    r"|\([^)]{0,200}\)\s*(?::[^=]{1,80})?=>|[\w$]+\s*=>|(?:React\.)?(?:memo|forwardRef)\()",
    r"^\s*(?:export\s+)?type\s+(?P<c>[\w$]+)(?:<[^>]{0,80}>)?\s*=",
    r"^\s+(?:(?:public|private|protected|static|async|readonly|override|get"
    r"|set)\s+)*(?P<d>[\w$]+)\s*(?:<[^>]{0,80}>)?\([^;]{0,300}\)\s*(?::[^{;]{1,120})?\{\s*$",
)  # fmt: skip
_JVM = (
    r"^\s*(?:@\w+\s+)*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|data|override"
    r"|suspend|inline|partial)\s+)*"
    r"(?:class|interface|enum|record|object|trait|struct)\s+(?P<a>\w+)",
    r"^\s*(?:(?:public|private|protected|internal|override|suspend|inline|open|operator|static)\s+)*(?:fun"
    r"|func)\s+(?:<[^>]{0,80}>\s*)?(?:[\w.]+\.)?(?P<b>\w+)\s*[(<]",
    r"^\s*(?:(?:public|private|protected|internal|static|final|abstract|virtual|override|async"
    r"|synchronized)\s+){1,6}[\w<>\[\],.? ]{1,80}?\s(?P<c>\w+)\s*\([^;]*$",
)  # fmt: skip
_C = (
    r"^(?:typedef\s+)?(?:struct|class|enum(?:\s+class)?|union|namespace)\s+(?P<a>\w+)[^;]*$",
    r"^(?![#/*\s])(?!(?:return|else|if|for|while|switch|typedef"
    r"|using)\b)[\w:<>,*&~\s]{2,100}?[\s*&](?P<b>[\w:~]+)\s*\([^;]*$",
    r"^#define\s+(?P<c>\w+)\(",
)
_PATTERNS: dict[str, tuple[str, ...]] = {
    "py": (r"^\s*(?:async\s+)?def\s+(?P<a>\w+)", r"^\s*class\s+(?P<b>\w+)"),
    "js": _JS,
    "go": (
        r"^func\s+\([^)]*?\*?(?P<owner>\w+)(?:\[[^\]]*\])?\)\s+(?P<a>\w+)",
        r"^func\s+(?P<b>\w+)",
        r"^type\s+(?P<c>\w+)\s",
    ),
    "rs": (
        r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+\"[^\"]*\"\s+)?fn\s+(?P<a>\w+)",
        r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union|mod|type)\s+(?P<b>\w+)",
        r"^\s*impl(?:<[^>]{0,120}>)?\s+(?:[\w:<>, ]{1,120}\s+for\s+)?(?P<c>\w+)",
        r"^\s*macro_rules!\s+(?P<d>\w+)",
    ),
    "rb": (r"^\s*def\s+(?P<a>(?:self\.)?[\w?!=]+)", r"^\s*(?:class|module)\s+(?P<b>[\w:]+)"),
    "jvm": _JVM,
    "c": _C,
    "php": (
        r"^\s*(?:(?:public|private|protected|static|final|abstract)\s+)*function\s+&?(?P<a>\w+)",
        r"^\s*(?:(?:final|abstract)\s+)?(?:class|interface|trait|enum)\s+(?P<b>\w+)",
    ),
    "sh": (r"^\s*(?:function\s+)?(?P<a>[\w:-]+)\s*\(\)\s*\{?", r"^\s*function\s+(?P<b>[\w:-]+)"),
    "ex": (r"^\s*defp?\s+(?P<a>[\w?!]+)", r"^\s*defmodule\s+(?P<b>[\w.]+)"),
    "lua": (r"^\s*(?:local\s+)?function\s+(?P<a>[\w.:]+)",),
    "sql": (
        r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|trigger|index)\s+"
        r"(?:if\s+not\s+exists\s+)?(?P<a>[\w.\"]+)",
    ),
    "tf": (r"^(?:resource|data|module|variable|output|provider)\s+(?P<a>\"[^\"\n]+\"(?:\s+\"[^\"\n]+\")?)",),
}  # fmt: skip
_ENDINGS = {
    "py": "py pyi", "js": "js jsx mjs cjs ts tsx mts vue svelte", "go": "go", "rs": "rs", "rb": "rb",
    "jvm": "java kt kts scala cs swift", "c": "c h cc cpp cxx hpp", "php": "php", "sh": "sh bash zsh", "ex": "ex exs",
    "lua": "lua", "sql": "sql", "tf": "tf",
}  # fmt: skip
_LANGUAGE = {ending: family for family, endings in _ENDINGS.items() for ending in endings.split()}
_COMPILED = {name: tuple(map(lazy, patterns)) for name, patterns in _PATTERNS.items()}
_NOT_NAMES = frozenset(
    ("if", "for", "while", "switch", "catch", "return", "else", "do", "try", "with", "function", "new")
)
_LONGEST_LINE = 400
_FARTHEST_LINE = 3_000


def language(path: str) -> str:
    """The family of languages a file's ending tells, '' when it defines nothing known here."""
    return _LANGUAGE.get(path.rsplit(".", 1)[-1].lower(), "") if "." in path else ""


def defined(line: str, family: str) -> str:
    """The name a line defines, or ''."""
    if len(line) > _LONGEST_LINE or not line.strip():
        return ""
    for pattern in _COMPILED.get(family, ()):
        if found := pattern.match(line):
            groups = found.groupdict()
            name = next((text for key, text in groups.items() if text and key != "owner"), "")
            if name and name not in _NOT_NAMES:
                owner = groups.get("owner")
                return f"{owner}.{name}" if owner else name
    return ""


def enclosing(lines: Sequence[str], at: int, family: str) -> str:
    """The qualified name of what encloses line `at` of a file, by indentation; '' at the top level."""
    names: list[str] = []
    current = _indent(lines[at]) if at < len(lines) else 0
    for index in range(min(at, len(lines)) - 1, max(-1, at - _FARTHEST_LINE), -1):
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
        if name := defined(line, family):
            names.append(name)
    return ".".join(reversed(names[:3]))


def _indent(line: str) -> int:
    # A tab counts as much as it must: only comparisons within one file matter.
    return len(line) - len(line.lstrip())
