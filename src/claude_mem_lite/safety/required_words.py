"""Words without which a pattern cannot match, and words with which each match begins, read from its parse tree.

The search for a word takes a hundredth of the search for a pattern that begins with a choice. Read from the pattern,
the words need no care."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import takewhile
from typing import Any

_MIN_LENGTH = 3
_MIN_FIRST_LENGTH = 2
_MAX_FIRST_WORDS = 16
_MAX_GROUPS = 4
Words = frozenset[str]


def required_words(pattern: str) -> tuple[Words, ...]:
    """Return groups of words in lower case: a text in lower case without a word of each group cannot match."""
    groups = sorted(set(_groups(_parsed(pattern))), key=_cost)
    return tuple(groups[:_MAX_GROUPS])


def first_words(pattern: str) -> Words:
    """Return the words that begin matches: every match begins with one of the words. Empty if unknown."""
    words = _first(list(_parsed(pattern))) or frozenset()
    shortest = frozenset(word for word in words if not any(word.startswith(other) for other in words - {word}))
    is_use = 0 < len(shortest) <= _MAX_FIRST_WORDS and min(map(len, shortest)) >= _MIN_FIRST_LENGTH
    return shortest if is_use else frozenset()


@lru_cache(maxsize=1)  # both functions are called for a pattern, and a parse takes half as long as compiling it
def _parsed(pattern: str) -> Any:
    parser: Any = import_module("re._parser")  # of the standard library, but without a public name
    return parser.parse(pattern)


def _first(items: list[tuple[Any, Any]]) -> Words | None:
    """Return the words at the beginning of a sequence; None if a match may be empty or begin with anything."""
    for at, (kind, value) in enumerate(items):
        name = str(kind)
        if name in ("AT", "ASSERT", "ASSERT_NOT"):  # no characters of the match
            continue
        if name == "LITERAL":
            literals = list(takewhile(lambda item: str(item[0]) == "LITERAL", items[at:]))
            word = "".join(chr(code) for _, code in literals)
            # The parser puts the letters that the words of a choice share before the choice.
            rest = _first(items[at + len(literals) :]) if len(word) < _MIN_FIRST_LENGTH else None
            return frozenset(f"{word}{more}" for more in rest or ("",))
        if name == "SUBPATTERN":
            return _first([*value[-1], *items[at + 1 :]])
        if name == "BRANCH":
            return _union(_first([*alternative, *items[at + 1 :]]) for alternative in value[1])
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            # After a part that occurs again, more of it may follow, not the items after it.
            once = _first([*value[2], *(items[at + 1 :] if value[1] == 1 else ())])
            return once if value[0] else _union((once, _first(items[at + 1 :])))
        return None
    return None


def _union(parts: Iterable[Words | None]) -> Words | None:
    words: set[str] = set()
    for part in parts:
        if part is None:
            return None
        words |= part
    return frozenset(words)


def _groups(items: Iterable[tuple[Any, Any]]) -> Iterator[Words]:
    """Yield the groups of a sequence: of its literal text, and of its parts that occur at least once."""
    run = ""
    for kind, value in items:
        name = str(kind)
        if name == "LITERAL":
            run += chr(value).lower()
            continue
        if name == "AT":  # a place, not a character
            continue
        yield from _group_of([run])
        run = ""
        if name == "SUBPATTERN":
            yield from _groups(value[-1])
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and value[0] > 0:
            yield from _groups(value[2])
        elif name == "ASSERT" and value[0] > 0:  # what has to follow is in the text, too
            yield from _groups(value[1])
        elif name == "BRANCH":
            yield from _group_of_any(value[1])
    yield from _group_of([run])


def _group_of_any(alternatives: Iterable[Iterable[tuple[Any, Any]]]) -> Iterator[Words]:
    """Yield the group of a choice: the best words of each alternative; none if an alternative has no words."""
    words: set[str] = set()
    for alternative in alternatives:
        best = min(_groups(alternative), key=_cost, default=None)
        if best is None:
            return
        words |= best
    yield from _group_of(words)


def _group_of(words: Iterable[str]) -> Iterator[Words]:
    found = frozenset(words)
    if found and min(map(len, found)) >= _MIN_LENGTH:
        yield found


def _cost(group: Words) -> tuple[int, int, list[str]]:
    """Return an order of groups: few and long words first, because a text lacks them most often."""
    return len(group), -min(map(len, group)), sorted(group)
