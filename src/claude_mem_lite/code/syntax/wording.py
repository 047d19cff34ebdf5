"""What a definition says: its signature on one line, and a hash that only a change of meaning changes."""

import re
from collections.abc import Iterable
from hashlib import blake2b

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
