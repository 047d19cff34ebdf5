"""The name of a definition, where it is more than a word of the text: C's declarators, JavaScript's assignments.

What a definition says: its signature on one line, and a hash that only a change of meaning changes."""

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD = re.compile(r"#?[\w$]+")
_LAST_WORD = re.compile(r"\.\s*(#?[\w$]+)$")
# where something is put, not what it is: `module.exports.read`, `Session.prototype.renew`, `this.close`
_PLACES = {"module", "exports", "prototype", "this"}


def names_of(data: bytes, captures: "dict[str, list[Node]]") -> list[str]:
    """A definition's name as it is written, after what it is qualified with there; empty when it has none."""
    if "target" in captures:
        names = _assigned(_text(data, captures["target"][0]))
        return names or (["exports"] if "value" in captures else [])
    if "declarator" in captures:
        return _declared(data, captures["declarator"][0])
    return [_dotted(data, node) for node in captures.get("owner", [])[:1] + captures.get("name", [])[:1]]


def is_for_instances(data: bytes, captures: "dict[str, list[Node]]") -> bool:
    """Whether something is assigned to what all instances share: `Session.prototype.renew`."""
    return "target" in captures and ".prototype." in _text(data, captures["target"][0])


def _assigned(target: str) -> list[str]:
    """`Session.prototype.renew` is Session, renew; what is called or indexed on the way does not name anything."""
    words = target.replace("?.", ".").split(".")
    if all(_WORD.fullmatch(word.strip()) for word in words):
        return [word.strip() for word in words if word.strip() not in _PLACES]
    return _LAST_WORD.findall(target)


def _declared(data: bytes, declarator: "Node") -> list[str]:
    """The name within a declarator of C or C++: `*Cache<T>::find(int key)` is Cache, find."""
    node: Node | None = declarator
    names = []
    while node is not None:
        inner = node.child_by_field_name("declarator")
        if node.type == "qualified_identifier":
            scope = node.child_by_field_name("scope")
            # without the colons it is a macro or type before the name, taken for a scope
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
    """A name as one writes it in Python: `a::b` is a.b, and without what a template is made with."""
    if node.type == "template_type":
        node = node.child_by_field_name("name") or node
    return "".join(_text(data, node).split()).replace("::", ".").strip(".")


def _text(data: bytes, node: "Node") -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


Cut = tuple[int, int, bytes]
"""A range of bytes to leave out, and what to put there instead."""

MAX_SIGNATURE = 200
SPACES = b" \t\r\n\f\v"
_PLACEHOLDER = b"\x01"
# a line break after the comma: it is layout there, but in Python's `(1,)` it is not
_LAST_COMMA = re.compile(rb",\s*\n\s*(?=[)\]}])")
# what is left of line breaks within a signature
_AFTER_BRACKET = re.compile(r"(?<=[(\[]) ")
_BEFORE_BRACKET = re.compile(r",? (?=[)\]])")


def without(data: bytes, start: int, end: int, cuts: Iterable[Cut]) -> bytes:
    """The bytes of a range but for the cuts, which may overlap."""
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
    """What stands before the body, as one line of at most MAX_SIGNATURE characters."""
    line = " ".join(head.decode("utf-8", "replace").split()).rstrip(" :;,\\")
    line = _BEFORE_BRACKET.sub("", _AFTER_BRACKET.sub("", line))
    if len(line) <= MAX_SIGNATURE:
        return line
    kept, _, rest = line[:MAX_SIGNATURE].rpartition(" ")
    return (kept or rest[:-1]).rstrip(" ,") + "…"


def hash_of(text: bytes, name: bytes) -> str:
    """A hash of a definition's text that its own name, spaces and line breaks are not part of."""
    text = _LAST_COMMA.sub(b"", _anonymous(text, name))
    return blake2b(text.translate(None, SPACES), digest_size=6).hexdigest()


def _anonymous(text: bytes, name: bytes) -> bytes:
    """The text with a placeholder for the name as a whole word; a regular expression per name is 20 times slower."""
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
