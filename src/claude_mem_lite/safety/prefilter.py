"""Selection of the rules that a text can need, by its words. Called by `redact` once for an event.

A search for 250 literals one by one took two thirds of redaction; the words of a text are collected in one pass."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

# Words are ASCII letters and digits in lower case; everything else separates words.
_TO_WORDS = bytes(byte if byte < 128 and chr(byte).isalnum() else ord(" ") for byte in range(256)).lower()
# Escapes that would be glued to the next word.
_ESCAPES = re.compile(rb"\\[nrt]|\\u00[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}")
_HEADS = (3, 4)
# Ends of words and parts of long words with a glued token: `xghp_`, `keyAKIA…`.
_TAILS = tuple(b"ghp gho ghu ghs ghr npm pypi glpat xoxb xoxp shpat dckr hvs sk rk".split())
_INSIDE = (b"akia", b"asia", b"aiza")
_BEGUN = b"*"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern, compiled on first use: all 300 would take 40 ms of every start."""
    return re.compile(pattern)


class Signs:
    """Signs of many rules. A sign is a literal whose words must occur in the text, in any order; the first letters are
    enough for a word that goes on. A sign after `*` is searched literally."""

    def __init__(self, of_rules: Iterable[Sequence[str]]) -> None:
        self._rules: defaultdict[bytes, list[tuple[frozenset[bytes], int]]] = defaultdict(list)
        """By the first part of a sign: all parts, and the number of the rule."""
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
        """Return the numbers of the rules that a text, or any part of it, can need."""
        words = _words_of(text)
        parts_seen = self._words & words
        joined = b" ".join(words) + b" "
        parts_seen.update(tail for tail in _TAILS if tail + b" " in joined)
        parts_seen.update(_BEGUN + part for part in _INSIDE if part in joined)
        for length in _HEADS:
            parts_seen |= {_BEGUN + head for head in self._heads & {word[:length] for word in words}}
        rules = {number for part in parts_seen for parts, number in self._rules.get(part, ()) if parts <= parts_seen}
        return rules.union(number for literal, number in self._literals if literal in text)


def _words_of(text: str) -> set[bytes]:
    raw = text.encode("utf-8", "surrogatepass")
    if b"\\" in raw or b"%" in raw:
        raw = _ESCAPES.sub(b" ", raw)
    return set(raw.translate(_TO_WORDS).split())


def _parts(sign: str) -> list[bytes]:
    """Return the words of a sign; the last word as its first letters if the sign ends within a word."""
    parts = sign.encode().translate(_TO_WORDS).split()
    if sign[-1].isalnum():
        parts[-1] = _BEGUN + parts[-1][: max(_HEADS)]
    return parts
