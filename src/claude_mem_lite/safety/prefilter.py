"""Which rules a text can need, told by its words. Called by `rules` once for an event.

To look for 250 literals one by one took two thirds of redaction; the words of a text are gathered in one pass."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

# Words are letters and digits of ASCII, in small letters; all else is between them.
_TO_WORDS = bytes(byte if byte < 128 and chr(byte).isalnum() else ord(" ") for byte in range(256)).lower()
# What would be glued to the word behind it.
_ESCAPES = re.compile(rb"\\[nrt]|\\u00[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}")
_HEADS = (3, 4)
# How words end and what long words hold that a token is glued to: `xghp_`, `keyAKIA…`.
_TAILS = tuple(b"ghp gho ghu ghs ghr npm pypi glpat xoxb xoxp shpat dckr hvs sk rk".split())
_INSIDE = (b"akia", b"asia", b"aiza")
_BEGUN = b"*"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled on first use: all 300 would take 40 ms of every start."""
    return re.compile(pattern)


class Signs:
    """The signs of many rules. A sign is a literal of which the words must occur in the text, in any order; of one
    that ends within a word the first letters of that must. A sign after `*` is looked for as it is."""

    def __init__(self, of_rules: Iterable[Sequence[str]]) -> None:
        self._rules: defaultdict[bytes, list[tuple[frozenset[bytes], int]]] = defaultdict(list)
        """By the first part of a sign: all its parts, and the number of the rule."""
        self._literals: list[tuple[str, int]] = []
        for number, signs in enumerate(of_rules):
            for sign in signs:
                if sign.startswith("*"):
                    self._literals.append((sign[1:], number))
                else:
                    parts = _parts(sign)
                    self._rules[parts[0]].append((frozenset(parts), number))
        every = {part for signs in self._rules.values() for parts, _ in signs for part in parts}
        self._words = {part for part in every if not part.startswith(_BEGUN)}
        self._heads = {part[1:] for part in every if part.startswith(_BEGUN)}

    def seen_in(self, text: str) -> set[int]:
        """The numbers of the rules that a text, or any part of it, can need."""
        words = _words_of(text)
        seen = self._words & words
        in_one = b" ".join(words) + b" "
        seen.update(tail for tail in _TAILS if tail + b" " in in_one)
        seen.update(_BEGUN + part for part in _INSIDE if part in in_one)
        for length in _HEADS:
            seen |= {_BEGUN + head for head in self._heads & {word[:length] for word in words}}
        found = {number for part in seen for parts, number in self._rules.get(part, ()) if parts <= seen}
        return found.union(number for literal, number in self._literals if literal in text)


def _words_of(text: str) -> set[bytes]:
    raw = text.encode("utf-8", "surrogatepass")
    if b"\\" in raw or b"%" in raw:
        raw = _ESCAPES.sub(b" ", raw)
    return set(raw.translate(_TO_WORDS).split())


def _parts(sign: str) -> list[bytes]:
    """The words of a sign; the last as its first letters if the sign ends within it."""
    parts = sign.encode().translate(_TO_WORDS).split()
    if sign[-1].isalnum():
        parts[-1] = _BEGUN + parts[-1][: max(_HEADS)]
    return parts
