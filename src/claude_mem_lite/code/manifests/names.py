"""Names that a foreign repository gives to things: which of them may be repeated to an agent."""

import re

from claude_mem_lite.compress.prose.sentence_types import reads_like_an_order

_LONGEST = 80
# Of a name with slashes, each part by itself: `github.com/gin-gonic/gin`.
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
_BETWEEN_WORDS = re.compile(r"[._/@-]")
_MOST_WORDS = 5
_SPEAKS = frozenset("you your must should shall always never instructions prompt please".split())  # noqa: SIM905


def is_plain_name(name: str) -> bool:
    """Whether a name is short, of plain letters, and no sentence with hyphens for its blanks."""
    parts = name.removeprefix("@").split("/") if len(name) <= _LONGEST else []
    if not parts or not all(map(_PART.fullmatch, parts)):
        return False
    words = [_BETWEEN_WORDS.split(part.lower()) for part in parts]
    if any(len(one) > _MOST_WORDS for one in words):
        return False
    told = [word for one in words for word in one]
    return not (_SPEAKS & set(told) or reads_like_an_order(" ".join(told)))
