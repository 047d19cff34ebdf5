"""The rules that an event needs, found once for all of its texts: most events need none."""

import re
from dataclasses import dataclass, field

from claude_mem_lite.redaction.commands import COMMANDS
from claude_mem_lite.redaction.connections import CONNECTIONS
from claude_mem_lite.redaction.formats import FORMATS, Format
from claude_mem_lite.redaction.keys import JWT_SIGNS, KEY_SIGNS, without_jwts, without_keys
from claude_mem_lite.redaction.names import small, without_named, words_in
from claude_mem_lite.redaction.signs import Signs
from claude_mem_lite.redaction.spots import Spot

_SPOTS = (*CONNECTIONS, *COMMANDS)
ALL_RULES: tuple[Format | Spot, ...] = (*FORMATS, *_SPOTS)
_SIGNS = Signs([KEY_SIGNS, JWT_SIGNS, *(rule.signs for rule in ALL_RULES)])
_KEYS, _JWTS, _FIRST_FORMAT = 0, 1, 2
_FIRST_SPOT = _FIRST_FORMAT + len(FORMATS)
_SHORTEST = 8
# Colours hide a token that `grep` found, and are taken out later on.
_COLOURS = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Rules:
    """What may be in a text, and in `found` what was taken out of it that has no form of its own."""

    has_keys: bool
    has_jwts: bool
    formats: list[Format]
    spots: list[Spot]
    words: list[str]
    found: set[str] = field(default_factory=set)

    def known_out(self, text: str) -> str:
        """The text without colours and without secrets of a known form."""
        text = _plain(text)
        if self.has_keys:
            text = without_keys(text)
        if self.has_jwts:
            text = without_jwts(text)
        for one in self.formats:
            text = one.without(text)
        return text

    def out(self, text: str) -> str:
        """The text without secrets."""
        if len(text) < _SHORTEST:
            return text
        text = self.known_out(text)
        for spot in self.spots:
            text = spot.without(text, self.found)
        return without_named(text, self.words, self.found) if self.words else text


def rules_for(text: str) -> Rules:
    """The rules that can change a text, or any part of it."""
    text = _plain(text)
    seen = sorted(_SIGNS.seen_in(text))
    return Rules(
        has_keys=_KEYS in seen,
        has_jwts=_JWTS in seen,
        formats=[FORMATS[number - _FIRST_FORMAT] for number in seen if _FIRST_FORMAT <= number < _FIRST_SPOT],
        spots=[_SPOTS[number - _FIRST_SPOT] for number in seen if number >= _FIRST_SPOT],
        words=words_in(small(text)),
    )


def _plain(text: str) -> str:
    return _COLOURS.sub("", text) if "\x1b" in text else text
