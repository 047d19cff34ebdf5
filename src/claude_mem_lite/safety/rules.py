"""The rules that an event needs, found once for all of its texts: most events need none."""

import re
from dataclasses import dataclass, field
from functools import cache

from claude_mem_lite.safety.commands import COMMANDS
from claude_mem_lite.safety.connection_secrets import CONNECTIONS
from claude_mem_lite.safety.named_secrets import small, without_named, words_in
from claude_mem_lite.safety.positional_secrets import Spot
from claude_mem_lite.safety.prefilter import Signs
from claude_mem_lite.safety.private_keys import JWT_SIGNS, KEY_SIGNS, without_jwts, without_keys
from claude_mem_lite.safety.secret_commands import SIGNS as REVEALING_SIGNS
from claude_mem_lite.safety.secret_commands import without_revealed
from claude_mem_lite.safety.token_formats import Format, formats

_SPOTS = (*CONNECTIONS, *COMMANDS)
_KEYS, _JWTS, _REVEALING, _FIRST_RULE = 0, 1, 2, 3
_SHORTEST = 8
# Colours hide a token that `grep` found, and are taken out later on.
_UNSEEN = re.compile(r"[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+(?=[!-~！-～])")
# Letters, digits and signs of tokens as wide as Chinese characters, which are the same 0xFEE0 further on.
_WIDE = re.compile("[０-９Ａ-Ｚａ-ｚ]")
_RUN = re.compile(r"[!-~０-９Ａ-Ｚａ-ｚ＿－．]+")
_TO_NARROW = {ord(wide): ord(wide) - 0xFEE0 for wide in map(chr, range(0xFF01, 0xFF5F))}
_COLOURS = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Rules:
    """What may be in a text, and in `found` what was taken out of it that has no form of its own."""

    has_keys: bool
    has_jwts: bool
    formats: list[Format]
    spots: list[Spot]
    words: list[str]
    reveals: bool = False
    """A command is among the texts that prints nothing but a secret."""
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
        if self.reveals:
            text = without_revealed(text, self.found)
        return without_named(text, self.words, self.found) if self.words else text


@cache
def all_rules() -> tuple[Format | Spot, ...]:
    """Return the formats and spots, in the order in which they are applied."""
    return (*formats(), *_SPOTS)


@cache
def _signs() -> Signs:
    return Signs([KEY_SIGNS, JWT_SIGNS, REVEALING_SIGNS, *(rule.signs for rule in all_rules())])


def rules_for(text: str) -> Rules:
    """The rules that can change a text, or any part of it."""
    text = _plain(text)
    seen = sorted(_signs().seen_in(text))
    rules = [all_rules()[number - _FIRST_RULE] for number in seen if number >= _FIRST_RULE]
    return Rules(
        has_keys=_KEYS in seen,
        has_jwts=_JWTS in seen,
        formats=[rule for rule in rules if isinstance(rule, Format)],
        spots=[rule for rule in rules if isinstance(rule, Spot)],
        words=words_in(small(text)),
        reveals=_REVEALING in seen,
    )


def _plain(text: str) -> str:
    """The text without colours, and without what hides a token in it: characters that are not seen, and wide ones."""
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    if text.isascii():
        return text
    text = _UNSEEN.sub("", text)
    return _RUN.sub(_narrow, text) if _WIDE.search(text) else text


def _narrow(run: re.Match[str]) -> str:
    return run[0] if run[0].isascii() or len(run[0]) < _SHORTEST else run[0].translate(_TO_NARROW)
