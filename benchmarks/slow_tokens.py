"""Tokens that rules react to, read from the rules' own patterns, and texts that repeat them.

Used by the benchmark `slow_texts` and by the test that counts steps."""

import importlib
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

from claude_mem_lite.safety import (
    named_secrets,
    nearby_secrets,
    positional_secrets,
    secret_values,
    table_secrets,
    token_formats,
    unescaped_view,
)
from claude_mem_lite.safety.redact import all_rules

_parser = importlib.import_module("re._parser")
SEPARATORS = (
    "",
    " ",
    "\n",
    "=",
    ":",
    ";",
    "=;",
    '"',
    "'",
    "`",
    "\\",
    "\\n",
    '\\"',
    "(",
    ")",
    ")a",
    "a",
    "A1",
    "-",
    "@",
    "/",
    "|",
    ",",
)
_MODULES = (
    positional_secrets,
    nearby_secrets,
    token_formats,
    named_secrets,
    table_secrets,
    secret_values,
    unescaped_view,
)
_MIN_LITERAL = 2


def tokens() -> list[str]:
    """Every literal of every pattern of redaction, and the signs of the rules."""
    found: set[str] = set()
    for pattern in _patterns():
        found.update(_literals(_parser.parse(pattern)))
    found.update(sign.lstrip("*").rstrip(".") for rule in all_rules() for sign in rule.signs)
    return sorted(token for token in found if len(token) >= _MIN_LITERAL)


def texts(seed: int, pairs: int, triples: int) -> Iterator[str]:
    """Units to repeat: each token with each separator, then pairs and triples of them, drawn at random."""
    known = tokens()
    for token in known:
        yield from (token + separator for separator in SEPARATORS)
    chance = random.Random(seed)
    for length, count in ((2, pairs), (3, triples)):
        for _ in range(count):
            yield "".join(chance.choice(known) + chance.choice(SEPARATORS) for _ in range(length))


def repeated(unit: str, size: int) -> str:
    """The unit as often as fits into a text of that size, its end cut."""
    return (unit * (size // len(unit) + 1))[:size]


def _patterns() -> Iterator[str]:
    yield from (rule.pattern for rule in all_rules())
    for module in _MODULES:
        yield from (value.pattern for value in vars(module).values() if isinstance(value, re.Pattern))


def _literals(nodes: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    """Runs of literal characters in what `re` has parsed, at any depth."""
    run = ""
    for kind, value in nodes:
        if str(kind) == "LITERAL":
            run += chr(value)
            continue
        yield run
        run = ""
        yield from _inside(str(kind), value)
    yield run


def _inside(kind: str, value: Any) -> Iterator[str]:
    if kind == "BRANCH":
        for branch in value[1]:
            yield from _literals(branch)
    elif kind == "SUBPATTERN":
        yield from _literals(value[-1])
    elif kind.endswith("REPEAT"):
        yield from _literals(value[2])
    elif kind.startswith("ASSERT"):
        yield from _literals(value[1])
    elif kind == "IN":
        yield from (chr(item) for item_kind, item in value if str(item_kind) == "LITERAL")
