"""The parts of a text that matter for its symbols: definitions, what holds them, decorators, comments."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from claude_mem_lite.code.syntax.definition_text import is_for_instances, names_of
from claude_mem_lite.code.syntax.languages import parse_bytes, query
from claude_mem_lite.code.syntax.queries import PATTERNS
from claude_mem_lite.code.syntax.wording import SPACES, Cut

if TYPE_CHECKING:
    from tree_sitter import Node

    Captures = dict[str, list[Node]]

DEFINING = ("class", "function", "method", "namespace")
QUALIFYING = (*DEFINING, "type", "scope")
_MAX_MATCHES = 20_000  # 0.5 s of work; the most that a real file had was 5,600
_MAX_DEPTH = 10_000  # of the tree, as `1+1+1+…` makes it; beyond 65,535 each match takes milliseconds


@dataclass(slots=True)
class Part:
    """A range of a text, by bytes, and the role it has (see patterns.py). From `name` on for qualifying ones only."""

    role: str
    start: int
    end: int
    name: str = ""
    own_name: bytes = b""
    head_start: int = 0
    head_end: int = 0
    """Its signature."""
    is_named_last: bool = False
    """Its name comes after its body: `typedef struct {…} Name`."""
    outer: int = 0
    """Where it starts with all that leads to it."""
    first_row: int = 0
    last_row: int = 0
    node_end: int = 0
    """Rows, from 0, of `start` and of this."""
    leads: list[Cut] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    """What is to be left out of its signature, and out of its hash."""


def find_parts(data: bytes, language: str) -> list[Part] | None:
    """All parts of a text in order, what holds others before them; None when it cannot be parsed."""
    patterns = query(language, PATTERNS[language]) if language in PATTERNS else None
    tree = parse_bytes(data, language)
    if tree is None or patterns is None:
        return None
    from tree_sitter import QueryCursor

    cursor = QueryCursor(patterns)
    cursor.set_max_start_depth(_MAX_DEPTH)
    matches = cursor.matches(tree.root_node)
    if len(matches) > _MAX_MATCHES:
        return None
    parts = []
    found: dict[int, Captures] = {}
    for _, captures in matches:
        role = _role(captures)
        if not role:
            parts += [Part(role, node.start_byte, node.end_byte) for role, nodes in captures.items() for node in nodes]
            continue
        # a node may match several patterns: each adds what it knows
        known = found.setdefault(captures[role][0].id, {})
        for key, nodes in captures.items():
            known.setdefault(key, []).extend(nodes)
    for value in {node.id for captures in found.values() for node in captures.get("value", [])}:
        found.pop(value, None)
    parts += [part for captures in found.values() if (part := _qualifying(data, captures))]
    return sorted(parts, key=lambda part: (part.start, -part.end))


def _role(captures: "Captures") -> str:
    return next((role for role in QUALIFYING if role in captures), "")


def _qualifying(data: bytes, captures: "Captures") -> Part | None:
    """A definition, or what qualifies others; None for what has no name and needs one."""
    role = _role(captures)
    node = captures[role][0]
    names = names_of(data, captures)
    if not names and (role in DEFINING or "target" in captures):
        return None
    if role == "function" and len(names) > 1 and ("declarator" in captures or is_for_instances(data, captures)):
        role = "method"
    start, end = node.start_byte, node.end_byte
    while end > start and data[end - 1] in SPACES:
        end -= 1
    part = Part(role, start, end, ".".join(names), names[-1].lstrip("~").encode() if names else b"")
    part.head_start = part.outer = _start_of_head(data, captures, start)
    part.head_end = _end_of_head(captures, end)
    part.is_named_last = captures.get("name", [node])[0].start_byte > part.head_end
    part.first_row, part.last_row = node.start_point[0], node.end_point[0]
    part.node_end = node.end_byte
    return part


def _start_of_head(data: bytes, captures: "Captures", start: int) -> int:
    keyword = captures["start"][0] if "start" in captures else None
    if keyword is not None and not data[keyword.end_byte : start].strip():
        return keyword.start_byte
    return start


def _end_of_head(captures: "Captures", end: int) -> int:
    if "body" in captures:
        return min(body.start_byte for body in captures["body"])
    return max((last.end_byte for last in captures.get("head", [])), default=end)
