"""A text as it reads without its escapes, and the way back: rules are written for plain text, and output of tools holds
JSON in JSON and HTML. Called by `names`."""

import re
from bisect import bisect_right

_ESCAPE = re.compile(
    r"\\{1,15}(?:u00(?P<hex>[0-9a-fA-F]{2})|(?P<end>r\\{1,15}n|[nr])|(?P<tab>t))"
    # Fewer before a quote may be of the value itself, and are known to the rules.
    r"|\\{4,15}(?P<quote>[\"'`])"
    r"|&(?P<name>quot|apos|lt|gt|amp|#39|#x27|#34);"
    r"|(?P<seam>\n\x1e)"
)
_NAMED = {"quot": '"', "apos": "'", "lt": "<", "gt": ">", "amp": "&", "#39": "'", "#x27": "'", "#34": '"'}


class View:
    """The text with each escape as the character that it stands for. `text` may be searched; spans found there are
    turned into spans of the original by `original`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] = []
        """Where in the view each escape is decoded, and at the same index how much the original is ahead behind it."""
        self._ahead: list[int] = []
        if "\\" in text or "&" in text or "\x1e" in text:
            self._decode(text)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original that a span of the view was read from."""
        return start + self._ahead_of(start), end + self._ahead_of(end)

    def _ahead_of(self, position: int) -> int:
        # An escape that is decoded at a position is still to come there.
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
    if kind == "tab":
        return "\t"
    if kind == "name":
        return _NAMED[escape["name"]]
    if kind == "hex":
        return chr(int(escape["hex"], 16))
    return "\n"
