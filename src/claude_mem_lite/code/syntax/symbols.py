"""Reader of functions, methods and classes in a source text, by its syntax tree. Broken text is accepted.

`find_parts` collects definitions, qualifying scopes, decorators and comments. `read_symbols` turns parts into
symbols. A body hash changes only with the meaning of a definition."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from claude_mem_lite.code.syntax.changes import Symbol, SymbolKind
from claude_mem_lite.code.syntax.languages import MAX_TEXT_BYTES, encoded, parse_bytes, query

if TYPE_CHECKING:
    from tree_sitter import Node

    Captures = dict[str, list[Node]]
    from tree_sitter import Node


_WORD = re.compile(r"#?[\w$]+")
_LAST_WORD = re.compile(r"\.\s*(#?[\w$]+)$")
# Targets of assignments without a name of their own: `module.exports.read`, `Session.prototype.renew`, `this.close`.
_UNNAMED_TARGETS = {"module", "exports", "prototype", "this"}
Cut = tuple[int, int, bytes]
"""Range of bytes to cut, and the replacement."""

MAX_SIGNATURE = 200
SPACES = b" \t\r\n\f\v"
_PLACEHOLDER = b"\x01"
# Only a comma before a line break is layout: in Python's `(1,)`, the comma has a meaning.
_LAST_COMMA = re.compile(rb",\s*\n\s*(?=[)\]}])")
# Spaces left over from line breaks within a signature.
_AFTER_BRACKET = re.compile(r"(?<=[(\[]) ")
_BEFORE_BRACKET = re.compile(r",? (?=[)\]])")
DEFINING = ("class", "function", "method", "namespace")
QUALIFYING = (*DEFINING, "type", "scope")
_MAX_MATCHES = 20_000  # 0.5 s of work; the maximum of a real file was 5,600
_MAX_DEPTH = 10_000  # depth of the tree, as of `1+1+1+…`; beyond 65,535 each match takes milliseconds
_END_OF_BLOCK = b"\x02"


@dataclass(slots=True)
class TextPart:
    """Byte range of a text with a role (see queries.toml). The fields from `name` on are for qualifying parts only."""

    role: str
    start: int
    end: int
    name: str = ""
    own_name: bytes = b""
    head_start: int = 0
    head_end: int = 0
    """Range of the signature."""
    is_named_last: bool = False
    """True if the name follows the body: `typedef struct {…} Name`."""
    outer: int = 0
    """Start, including decorators."""
    first_row: int = 0
    last_row: int = 0
    node_end: int = 0
    """Rows, from 0, of `start` and of `node_end`."""
    leads: list[Cut] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    """Cuts from the signature, and from the hash."""


def find_parts(data: bytes, language: str) -> list[TextPart] | None:
    """Return all parts of a text in order, outer parts first; None if the text cannot be parsed."""
    patterns = query(language, "definitions")
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
            parts += [
                TextPart(role, node.start_byte, node.end_byte) for role, nodes in captures.items() for node in nodes
            ]
            continue
        # A node may match several patterns: the captures are merged.
        known = found.setdefault(captures[role][0].id, {})
        for key, nodes in captures.items():
            known.setdefault(key, []).extend(nodes)
    for value in {node.id for captures in found.values() for node in captures.get("value", [])}:
        found.pop(value, None)
    parts += [part for captures in found.values() if (part := _qualifying(data, captures))]
    return sorted(parts, key=lambda part: (part.start, -part.end))


def _role(captures: "Captures") -> str:
    return next((role for role in QUALIFYING if role in captures), "")


def _qualifying(data: bytes, captures: "Captures") -> TextPart | None:
    """Return a definition, or a part qualifying other names; None for an anonymous definition."""
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
    part = TextPart(role, start, end, ".".join(names), names[-1].lstrip("~").encode() if names else b"")
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


def read_symbols(text: str, language: str) -> tuple[Symbol, ...] | None:
    """Return the symbols of a text in order, each name once; None for an unsupported language or a text too large.

    Several definitions of a name (overloads, a property's setter) become a single symbol, with the lines and the
    signature of the first definition and a hash of all. Lines begin with the definition itself, not with decorators."""
    definitions = read_definitions(text, language)
    if definitions is None:
        return None
    by_name: dict[str, list[Symbol]] = {}
    for definition in definitions:
        by_name.setdefault(definition.name, []).append(definition)
    return tuple(_folded(same) for same in by_name.values())


def read_definitions(text: str, language: str) -> tuple[Symbol, ...] | None:
    """Return every definition in a text, in order, repeated names included. None as for `read_symbols`."""
    if len(text) > MAX_TEXT_BYTES:
        return None
    data = encoded(text)
    parts = find_parts(data, language)
    if parts is None:
        return None
    return _Sweep(data).definitions(parts)


def read_scopes(text: str, language: str) -> list[TextPart] | None:
    """Return the qualifying parts of a text, in order, each with its qualified name; None as for `read_symbols`."""
    data = encoded(text)
    parts = find_parts(data, language) if len(text) <= MAX_TEXT_BYTES else None
    return None if parts is None else [part for part, _ in _Sweep(data).qualify(parts)]


def _folded(same: list[Symbol]) -> Symbol:
    if len(same) == 1:
        return same[0]
    bodies = "".join(symbol.body for symbol in same)
    return replace(same[0], body=blake2b(bodies.encode(), digest_size=6).hexdigest())


class _Sweep:
    """Single pass over the parts of a text, with a stack of the outer parts."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._around: list[TextPart] = []
        self._before: list[TextPart] = []
        """Comments and decorators since the last definition."""
        self._comments: dict[int, int] = {}

    def definitions(self, parts: list[TextPart]) -> tuple[Symbol, ...]:
        # In broken text, the grammar may invent a name.
        found = self.qualify(parts)
        return tuple(self._symbol(part, kind) for part, kind in found if part.role in DEFINING and part.own_name)

    def qualify(self, parts: list[TextPart]) -> list[tuple[TextPart, SymbolKind]]:
        """Qualify the names of parts by the parts around them; return the qualifying parts, with their kind."""
        self._comments = {part.end: part.start for part in parts if part.role == "comment"}
        found = []
        for part in parts:
            while self._around and self._around[-1].end <= part.start:
                self._around.pop()
            holder = next((outer for outer in reversed(self._around) if outer.role in DEFINING), None)
            if part.role in QUALIFYING:
                found.append((part, self._enter(part, holder)))
            else:
                self._pass(part, holder)
        return found

    def _pass(self, part: TextPart, holder: TextPart | None) -> None:
        """Record a comment, decorator or block: the part belongs to the definition around, or to the next
        definition."""
        if part.role in ("comment", "lead"):
            self._before.append(part)
        if holder is None:
            return
        if part.role == "comment":
            holder.cuts.append((part.start, part.end, b""))
        elif part.role == "block":
            holder.cuts.append((part.end, part.end, _END_OF_BLOCK))
        elif part.start < holder.head_end:
            holder.leads.append((part.start, part.end, b""))

    def _enter(self, part: TextPart, holder: TextPart | None) -> SymbolKind:
        """Enter a definition: qualify the name, attach comments and decorators, and cut the definition out of the outer
        definition."""
        self._take_leads(part)
        if holder is not None and part.role in DEFINING:
            holder.cuts.append((part.outer, self._after_separator(part.end), b""))
        outer = self._around[-1] if self._around else None
        if outer is not None:
            part.name = ".".join(name for name in (outer.name, part.name) if name)
        self._around.append(part)
        if part.role in ("class", "namespace"):
            return "class"
        return "method" if part.role == "method" or (outer and outer.role in ("class", "type")) else "function"

    def _take_leads(self, part: TextPart) -> None:
        at = part.outer
        taken: list[TextPart] = []
        for lead in reversed(self._before):
            if self._data[lead.end : at].strip():
                break
            at = lead.start
            taken.append(lead)
            if lead.role == "lead":
                part.outer = at
        part.cuts += [
            (each.start, each.end, b"") for each in taken if each.role == "comment" and each.start >= part.outer
        ]
        self._before.clear()

    def _after_separator(self, at: int) -> int:
        """Return the offset after the comma or semicolon following a definition."""
        rest = self._data[at : at + 80].lstrip()
        return self._data.index(rest[:1], at) + 1 if rest[:1] in (b",", b";") else at

    def _symbol(self, part: TextPart, kind: SymbolKind) -> Symbol:
        data = self._data
        start = part.head_start
        for first, last, _ in sorted(part.leads + part.cuts):
            if data[start:first].strip():
                break
            start = max(start, last)
        while start < part.head_end and data[start] in SPACES:
            start += 1
        end = self._without_last_comments(part)
        signature = signature_of(without(data, start, part.head_end, part.leads + part.cuts))
        return Symbol(
            part.name,
            kind,
            f"{signature} {part.own_name.decode()}" if part.is_named_last else signature,
            part.first_row + 1 + data.count(b"\n", part.start, start) - data.count(b"\n", start, part.start),
            part.last_row + 1 - data.count(b"\n", end, part.node_end),
            hash_of(without(data, part.outer, end, part.cuts), part.own_name),
        )

    def _without_last_comments(self, part: TextPart) -> int:
        """Return the end of a definition: Python's grammar includes comments after the last statement."""
        end = part.end
        while end in self._comments and self._comments[end] > part.start:
            end = self._comments[end]
            while self._data[end - 1] in SPACES:
                end -= 1
        return end


def names_of(data: bytes, captures: "dict[str, list[Node]]") -> list[str]:
    """Return the parts of a definition's name as written, qualifiers first; empty for an anonymous definition."""
    if "target" in captures:
        names = _assigned(_text(data, captures["target"][0]))
        return names or (["exports"] if "value" in captures else [])
    if "declarator" in captures:
        return _declared(data, captures["declarator"][0])
    return [_dotted(data, node) for node in captures.get("owner", [])[:1] + captures.get("name", [])[:1]]


def is_for_instances(data: bytes, captures: "dict[str, list[Node]]") -> bool:
    """Return True for an assignment to a prototype: `Session.prototype.renew`."""
    return "target" in captures and ".prototype." in _text(data, captures["target"][0])


def _assigned(target: str) -> list[str]:
    """Return the names in an assignment's target: Session, renew for `Session.prototype.renew`. Calls and subscripts
    have no name."""
    words = target.replace("?.", ".").split(".")
    if all(_WORD.fullmatch(word.strip()) for word in words):
        return [word.strip() for word in words if word.strip() not in _UNNAMED_TARGETS]
    return _LAST_WORD.findall(target)


def _declared(data: bytes, declarator: "Node") -> list[str]:
    """Return the names in a declarator of C or C++: Cache, find for `*Cache<T>::find(int key)`."""
    node: Node | None = declarator
    names = []
    while node is not None:
        inner = node.child_by_field_name("declarator")
        if node.type == "qualified_identifier":
            scope = node.child_by_field_name("scope")
            # Without the colons, the scope is a macro or a type before the name.
            if scope is not None and not any(child.is_missing for child in node.children):
                names.append(_dotted(data, scope))
            node = node.child_by_field_name("name")
        elif node.type == "operator_cast":
            kind = node.child_by_field_name("type")
            return [*names, f"operator {_text(data, kind)}" if kind is not None else "operator"]
        elif node.type in ("template_function", "template_method"):
            node = node.child_by_field_name("name")
        elif inner is not None:
            node = inner
        elif node.type in ("reference_declarator", "parenthesized_declarator", "attributed_declarator"):
            node = next((child for child in node.named_children if not child.is_extra), None)
        else:
            return [*names, _dotted(data, node)]
    return []


def _dotted(data: bytes, node: "Node") -> str:
    """Return a name with dots, without template arguments: `a::b` becomes a.b."""
    if node.type == "template_type":
        node = node.child_by_field_name("name") or node
    return "".join(_text(data, node).split()).replace("::", ".").strip(".")


def _text(data: bytes, node: "Node") -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def without(data: bytes, start: int, end: int, cuts: Iterable[Cut]) -> bytes:
    """Return the bytes of a range without the cuts. Cuts may overlap."""
    pieces = []
    for first, last, instead in sorted(cuts):
        if first >= end:
            break
        if first > start:
            pieces.append(data[start:first])
        pieces.append(instead)
        start = max(start, last)
    pieces.append(data[start:end])
    return b"".join(pieces)


def signature_of(head: bytes) -> str:
    """Return the text before the body as one line of at most MAX_SIGNATURE characters."""
    line = " ".join(head.decode("utf-8", "replace").split()).rstrip(" :;,\\")
    line = _BEFORE_BRACKET.sub("", _AFTER_BRACKET.sub("", line))
    if len(line) <= MAX_SIGNATURE:
        return line
    kept, _, rest = line[:MAX_SIGNATURE].rpartition(" ")
    return (kept or rest[:-1]).rstrip(" ,") + "…"


def hash_of(text: bytes, name: bytes) -> str:
    """Return a hash of a definition's text, without its own name, spaces and line breaks."""
    text = _LAST_COMMA.sub(b"", _anonymous(text, name))
    return blake2b(text.translate(None, SPACES), digest_size=6).hexdigest()


def _anonymous(text: bytes, name: bytes) -> bytes:
    """Replace the name, as a whole word, by a placeholder. A regular expression per name is 20 times slower."""
    pieces = []
    start, at = 0, text.find(name) if name else -1
    while at >= 0:
        after = at + len(name)
        if not (_in_word(text[at - 1 : at]) or _in_word(text[after : after + 1])):
            pieces += [text[start:at], _PLACEHOLDER]
            start = after
        at = text.find(name, after)
    return b"".join([*pieces, text[start:]])


def _in_word(byte: bytes) -> bool:
    return byte.isalnum() or byte in (b"_", b"$") or byte >= b"\x80"
