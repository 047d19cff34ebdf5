"""Long texts: the page shows the beginning of them, and all of it only when that is asked for."""

from typing import NamedTuple

MOST_SHOWN = 20_000
_AT_ONCE = 20_000


class Shortened(NamedTuple):
    """A text in pieces that a browser lays out one by one, and how many characters are left out."""

    pieces: list[str]
    left_out: int


def shortened(whole: str, *, is_all: bool = False, most: int = MOST_SHOWN) -> Shortened:
    """The beginning of a text, or all of it."""
    shown = whole if is_all else whole[:most]
    return Shortened(_pieces(shown), len(whole) - len(shown))


def _pieces(text: str) -> list[str]:
    """A text in parts of a screen or some more, each up to the end of a line if one is near."""
    found: list[str] = []
    start = 0
    while start < len(text):
        end = start + _AT_ONCE
        line_end = text.rfind("\n", start + _AT_ONCE // 2, end) if end < len(text) else -1
        end = line_end + 1 if line_end >= 0 else end
        found.append(text[start:end].removesuffix("\n") if line_end >= 0 else text[start:end])
        start = end
    return found
