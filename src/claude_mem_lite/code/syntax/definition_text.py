"""Names, signatures and body hashes of definitions.

Names in C's declarators and JavaScript's assignments need parsing. A body hash changes only with the meaning of a
definition."""

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
