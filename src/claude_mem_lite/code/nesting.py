"""Whether a text is nested as no one writes it: with such, tree-sitter needs memory by the square of the depth."""

import re
from itertools import accumulate

MAX_DEPTH = 500
_BRACKETS = b"([{)]}"
_STEPS = {byte: 1 if byte in b"([{" else -1 for byte in _BRACKETS}
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_WORDS_AND_SPACES = bytes(byte for byte in range(256) if bytes([byte]).isalnum() or byte in b"_$ \t.\x80" or byte > 127)
# `a=>a=>a=>` and `a<a<a<` open something too, but only in a row without an end is that more than a comparison
_OPEN_ROW = re.compile(rb"[<>=?:!%&*|^~-]{1000}")


def is_too_deep(data: bytes) -> bool:
    """Whether more is open at once than MAX_DEPTH; brackets in strings and comments count too."""
    brackets = data.translate(None, _NO_BRACKETS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH:
        return True
    return _OPEN_ROW.search(data.translate(None, _WORDS_AND_SPACES)) is not None
