"""Secrets that are known by their own form: the tokens of well-known services, listed in `token_formats.toml`.

Called by `redact` on every text an event holds. Every pattern takes time in proportion to the text, whatever it is:
`re` lets no other thread run meanwhile, so a slow one would stop the whole worker."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from claude_mem_lite.safety.prefilter import compiled

# Where a token may begin: not inside a word, but behind an escape ("\nghp_…" in a string that holds JSON, %3D, \u003d).
_EDGES = (r"(?<![A-Za-z0-9_]{})", r"(?<=\\[nrt]{})", r"(?<=%[0-9A-F][0-9A-F]{})", r"(?<=\\u00[0-9a-f][0-9a-f]{})")
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_EDGE = re.compile(r"<edge(?: ([^>]+))?>")
_TABLE = Path(__file__).with_name("token_formats.toml")
Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Format:
    """One form of secret, and the signs (see `signs`) of which one is in every text that holds it."""

    kind: str
    signs: tuple[str, ...]
    pattern: str
    is_secret: Test | None = None
    may_be_glued: bool = False
    """It is looked for inside of words too, where it has to be random."""

    def without(self, text: str) -> str:
        """The text with the mark of this kind in place of each secret of this form."""
        mark = f"[redacted:{self.kind}]"
        is_secret = self.is_secret
        if self.may_be_glued:
            return compiled(self.pattern).sub(lambda found: mark if self._is_token(found) else found[0], text)
        if is_secret is None:
            return compiled(self.pattern).sub(mark, text)
        return compiled(self.pattern).sub(lambda found: mark if is_secret(found[0]) else found[0], text)

    def _is_token(self, found: re.Match[str]) -> bool:
        is_whole = compiled(edge()).match(found.string, found.start()) is not None
        stands_for_one = found[0].lower().endswith("x" * 12)
        return (
            not stands_for_one
            and (self.is_secret is None or self.is_secret(found[0]))
            and (is_whole or _is_unlike_a_name(found[0]))
        )


def _is_unlike_a_name(value: str) -> bool:
    """Whether a token that is glued to a word is none of the names that begin alike."""
    digits = sum(map(str.isdigit, value))
    return len(value) >= 20 and digits >= 2 and (_is_mixed(value) or value.isupper() or digits >= 8)


def _is_random(value: str) -> bool:
    """Whether a part of it is a machine's: `sk-folding-cube-container-2` is the name of a style."""
    parts = re.split(r"[_-]", value)
    return any(len(part) >= 16 and any(map(str.isdigit, part)) and any(map(str.isalpha, part)) for part in parts)


def _is_mixed(value: str) -> bool:
    """Whether capitals, small letters and digits all occur."""
    return any(map(str.isdigit, value)) and value.lower() != value and value.upper() != value


def _is_no_data(value: str) -> bool:
    """Whether it is none of the zeros that base64 of a file is full of."""
    return _is_mixed(value) and value.count("AA", 4) <= 1


def _is_bot_token(value: str) -> bool:
    """Whether its first and last part are a machine's: a long name may be called on a long name, too."""
    first, _, last = value.split(".")
    return _is_mixed(first) and _is_mixed(last)


def edge(before: str = "") -> str:
    """The pattern of where a token may begin, looked at from behind `before`."""
    return f"(?:{'|'.join(edge.format(before) for edge in _EDGES)})"


def _at_edge(literal: str, rest: str) -> str:
    """A pattern whose literal begins a word. Looked for first, back from its end: 1 ms a 500 KB instead of 15."""
    start = re.escape(literal)
    return start + edge(start) + rest


def is_glueable(literal: str) -> bool:
    """Whether what begins a token is found inside of a word too: it ends with a sign, or is never there by chance."""
    is_word = literal in ("live_", "secret_", "key-", "api-", "sdk-", "sess-", "API-")
    return (len(literal) >= 4 and not literal[-1].isalnum() and not is_word) or literal in ("AKIA", "ASIA", "AIza")


def _begun(kind: str, literals: str, rest: str, is_secret: Test | None = None) -> list[Format]:
    """Formats that begin a word with one of the literals and go on alike."""
    return [
        Format(kind, (one,), re.escape(one) + rest, is_secret, may_be_glued=True)
        if is_glueable(one)
        else Format(kind, (one,), _at_edge(one, rest), is_secret)
        for one in literals.split()
    ]


@cache
def formats() -> tuple[Format, ...]:
    """Return the formats of `token_formats.toml`, in its order."""
    with _TABLE.open("rb") as file:
        rows: list[dict[str, str]] = tomllib.load(file)["formats"]
    return tuple(one for row in rows for one in _read(row))


def _read(row: dict[str, str]) -> list[Format]:
    is_secret = _TESTS[row["test"]] if "test" in row else None
    if "begins" in row:
        return _begun(row["kind"], row["begins"], _expanded(row["rest"]), is_secret)
    return [Format(row["kind"], tuple(row["signs"].split()), _expanded(row["pattern"]), is_secret)]


def _expanded(pattern: str) -> str:
    return _EDGE.sub(lambda found: edge(found[1] or ""), pattern.replace("<uuid>", _UUID))


_TESTS: Mapping[str, Test] = {
    "random": _is_random,
    "mixed": _is_mixed,
    "no_data": _is_no_data,
    "bot_token": _is_bot_token,
}
