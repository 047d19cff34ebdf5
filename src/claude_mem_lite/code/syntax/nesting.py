"""Whether a text is nested as no one writes it: with such, tree-sitter needs memory by the square of the depth."""

import re
from itertools import accumulate

MAX_DEPTH = 500
_BRACKETS = b"([{)]}"
_STEPS = {byte: 1 if byte in b"([{" else -1 for byte in _BRACKETS}
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_FILLING = bytes(byte for byte in range(256) if bytes([byte]).isalnum() or byte in b"_$. \t\r\f\v" or byte > 127)
# `a = b = c` and `-(-a` without brackets open something too, but on one line only: many lines of `a = 1` do not
_OPEN_IN_LINE = re.compile(rb"[<>=?:!%&*|^~-]{1000}")
# `a<b<c` and `a => b => c`, over lines too
_OPEN = re.compile(rb"<{500}|(?:[=()]{0,3}=>){300}")


def is_too_deep(data: bytes) -> bool:
    """Whether more is open at once than MAX_DEPTH, about; what stands in strings and comments counts too."""
    brackets = data.translate(None, _NO_BRACKETS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH:
        return True
    signs = data.translate(None, _FILLING)
    return bool(_OPEN_IN_LINE.search(signs) or _OPEN.search(signs.translate(None, b"\n")))
