"""View of a text without escapes, and the way back: rules are written for plain text, and tool output holds JSON in
JSON and HTML. Called by `named_secrets`."""

import re
from bisect import bisect_right

from claude_mem_lite.lazy_regex import lazy

_ESCAPE = lazy(
    # Each alternative begins with a literal: `re` finds literals five times as fast.
    r"\\\\{0,7}(?:u(?P<hex>[0-9a-fA-F]{4})|(?P<end>r\\{1,8}n|[nr])|(?P<tab>t))"
    # Fewer backslashes before a quote may belong to the value, and are known to the rules.
    r"|\\\\{3,7}(?P<quote>[\"'`])"
    r"|&(?P<name>quot|apos|lt|gt|amp|#39|#x27|#34);"
    r"|\n(?P<seam>\x1e)|'(?P<shell>(?:\"'\"|\\{1,3}')')"
)
_NAMED = {"quot": '"', "apos": "'", "lt": "<", "gt": ">", "amp": "&", "#39": "'", "#x27": "'", "#34": '"'}
# Line prefix of a numbered listing, a diff, a quote, a search, a container's log or a log.
LINE_PREFIX = (
    r"(?:\s{0,6}\d{1,6}[→\t]|[+>] ?|- (?=\S)|\d{4}-\d\d-\d\d\S{0,20}[^\n|,;\t]{0,40}?: "
    r"|[\w./-]{1,80}:\d{1,6}[:-]|[\w.-]{1,30}[-_]\d{1,3} {1,4}\|(?= ))"
)
_LINE_PREFIX = lazy(LINE_PREFIX)


def body_of_line(text: str, start: int, end: int) -> int:
    """Return the start of a line behind its prefix."""
    prefix = _LINE_PREFIX.match(text, start, end)
    return prefix.end() if prefix else start


class UnescapedView:
    """Text with each escape decoded. `text` may be searched; `original` converts spans found there to spans of the
    original."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] = []
        """Positions of decoded escapes in the view, and at the same index the offset of the original behind each."""
        self._ahead: list[int] = []
        if "\\" in text or "&" in text or "\x1e" in text or "'\"'" in text:
            self._decode(text)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original for a span of the view."""
        return start + self._ahead_of(start), end + self._ahead_of(end)

    def _ahead_of(self, position: int) -> int:
        # An escape decoded at a position is not yet counted there.
        at = bisect_right(self._starts, position - 1)
        return self._ahead[at - 1] if at else 0

    def _decode(self, text: str) -> None:
        parts: list[str] = []
        done = ahead = 0
        for escape in _ESCAPE.finditer(text):
            plain = _plain(escape)
            parts += (text[done : escape.start()], plain)
            self._starts.append(escape.start() - ahead)
            done = escape.end()
            ahead += len(escape[0]) - len(plain)
            self._ahead.append(ahead)
        self.text = "".join(parts) + text[done:] if parts else text


def _plain(escape: re.Match[str]) -> str:
    kind = escape.lastgroup
    if kind == "quote":
        return escape["quote"]
    if kind == "shell":
        return "'"
    if kind == "tab":
        return "\t"
    if kind == "name":
        return _NAMED[escape["name"]]
    if kind == "hex":
        return chr(int(escape["hex"], 16))
    return "\n"
