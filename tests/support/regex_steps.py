"""How many steps a pattern takes over a text, counted by a small matcher that goes back like `re` does.

Bounds of repeats are lowered to a few: what is bounded costs the same for each character of a text however long it is,
and what is not shows in short texts already."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any, cast

import pytest

from claude_mem_lite.lazy_regex import Lazy

_parser = importlib.import_module("re._parser")
_constants = importlib.import_module("re._constants")
_HIGHEST = 5
Node = tuple[str, Any]


class Steps:
    """One pattern and the count of what it tried. `highest` is what bounds of repeats are lowered to."""

    def __init__(self, pattern: str, highest: int = _HIGHEST) -> None:
        self._nodes = _prepared(_parser.parse(pattern), highest)
        self._text = ""
        self.taken = 0

    def over(self, text: str) -> int:
        """The steps of a search for all matches that do not overlap."""
        self._text, self.taken = text, 0
        at = 0
        while at <= len(text):
            end = next(self._sequence(self._nodes, 0, at), None)
            at = max(end, at + 1) if end is not None else at + 1
        return self.taken

    def once(self, text: str, at: int, *, anywhere: bool) -> int:
        """The steps of a match at a position, or of a search from there on for the first."""
        self._text, self.taken = text, 0
        while next(self._sequence(self._nodes, 0, at), None) is None and anywhere and at < len(text):
            at += 1
        return self.taken

    def _sequence(self, nodes: tuple[Node, ...], index: int, at: int) -> Iterator[int]:
        while index < len(nodes) and nodes[index][0] == "ONE":  # as below, without a call for each character
            self.taken += 1
            if at >= len(self._text) or not nodes[index][1](self._text[at]):
                return
            index, at = index + 1, at + 1
        if index == len(nodes):
            yield at
            return
        for end in self._one(nodes[index], at):
            yield from self._sequence(nodes, index + 1, end)

    def _one(self, node: Node, at: int) -> Iterator[int]:
        self.taken += 1
        kind, value = node
        if kind == "BRANCH":
            for branch in value:
                yield from self._sequence(branch, 0, at)
        elif kind == "SUBPATTERN":
            yield from self._sequence(value, 0, at)
        elif kind == "MAX_REPEAT":
            yield from self._most(value, at)
        elif kind == "MIN_REPEAT":
            yield from self._repeat(value, at, 0, is_greedy=False)
        elif kind == "POSSESSIVE_REPEAT":
            end = next(self._most(value, at), None)
            if end is not None:
                yield end
        elif kind in ("ASSERT", "ASSERT_NOT"):
            if self._holds(value, at) == (kind == "ASSERT"):
                yield at
        elif kind == "AT" and str(value).startswith("AT_BEGINNING"):
            if at == 0 or self._text[at - 1] == "\n":
                yield at
        else:
            yield at  # taken as given: at worst it is followed more often than it would be

    def _most(self, value: Any, at: int) -> Iterator[int]:
        least, most, nodes = value
        if len(nodes) > 1 or nodes[0][0] != "ONE":
            yield from self._repeat(value, at, 0, is_greedy=True)
            return
        fits, text, end = nodes[0][1], self._text, at
        while end - at < most:
            self.taken += 1
            if end >= len(text) or not fits(text[end]):
                break
            end += 1
        yield from range(end, at + least - 1, -1)

    def _repeat(self, value: Any, at: int, count: int, *, is_greedy: bool) -> Iterator[int]:
        least, most, nodes = value
        enough = count >= least
        if enough and not is_greedy:
            yield at
        if count < most:
            for end in self._sequence(nodes, 0, at):
                if end > at:
                    yield from self._repeat(value, end, count + 1, is_greedy=is_greedy)
        if enough and is_greedy:
            yield at

    def _holds(self, value: Any, at: int) -> bool:
        back, nodes = value
        return at >= back and next(self._sequence(nodes, 0, at - back), None) is not None


def _prepared(nodes: Any, highest: int) -> tuple[Node, ...]:
    """What was parsed, as far as it is asked about again and again."""
    return tuple(_prepared_one(str(kind), value, highest) for kind, value in nodes)


def _prepared_one(kind: str, value: Any, highest: int) -> Node:
    if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
        return "ONE", _fitting(kind, value)
    if kind == "BRANCH":
        return kind, [_prepared(branch, highest) for branch in value[1]]
    if kind == "SUBPATTERN":
        return kind, _prepared(value[-1], highest)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, repeated = value
        most = float("inf") if most == _constants.MAXREPEAT else min(most, highest)
        return kind, (min(least, highest), most, _prepared(repeated, highest))
    if kind in ("ASSERT", "ASSERT_NOT"):
        direction, looked_at = value
        return kind, (looked_at.getwidth()[0] if direction < 0 else 0, _prepared(looked_at, highest))
    if kind in ("AT", "GROUPREF"):
        return kind, value
    raise NotImplementedError(kind)


def _fitting(kind: str, value: Any) -> Callable[[str], bool]:
    @cache
    def fits(letter: str) -> bool:
        character = ord(letter)
        if kind == "ANY":
            return letter != "\n"
        if kind != "IN":
            return _same(value, character) == (kind == "LITERAL")
        is_negated = str(value[0][0]) == "NEGATE"
        return is_negated != any(_in(item, character) for item in value)

    return fits


def is_endless(pattern: str) -> bool:
    """Whether a pattern can go on for as long as the text does."""
    return bool(_parser.parse(pattern).getwidth()[1] >= _constants.MAXREPEAT)


def _same(one: int, other: int) -> bool:
    return chr(one).lower() == chr(other).lower()


def _in(item: Any, character: int) -> bool:
    kind, value = str(item[0]), item[1]
    if kind == "RANGE":
        return bool(value[0] <= character <= value[1])
    if kind == "CATEGORY":
        letter = chr(character)
        return {
            "CATEGORY_WORD": letter.isalnum() or letter == "_",
            "CATEGORY_DIGIT": letter.isdigit(),
            "CATEGORY_SPACE": letter.isspace(),
            "CATEGORY_NOT_SPACE": not letter.isspace(),
            "CATEGORY_NOT_WORD": not (letter.isalnum() or letter == "_"),
        }[str(value)]
    return kind == "LITERAL" and _same(value, character)


class Counted:
    """A compiled pattern that adds the steps of each use to a count, and does what the pattern does."""

    def __init__(self, pattern: re.Pattern[str] | Lazy, count: "Count") -> None:
        self._pattern = cast(re.Pattern[str], pattern)
        self._steps = Steps(pattern.pattern, highest=sys.maxsize)
        self._count = count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)

    def match(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None:
        self._count.taken += self._steps.once(text[:endpos], pos, anywhere=False)
        return self._pattern.match(text, pos, endpos)

    def fullmatch(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None:
        self._count.taken += self._steps.once(text[:endpos], pos, anywhere=False)
        return self._pattern.fullmatch(text, pos, endpos)

    def search(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None:
        self._count.taken += self._steps.once(text[:endpos], pos, anywhere=True)
        return self._pattern.search(text, pos, endpos)

    def finditer(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> Iterator[re.Match[str]]:
        self._count.taken += self._steps.over(text[pos:endpos])
        return self._pattern.finditer(text, pos, endpos)

    def findall(self, text: str) -> list[Any]:
        self._count.taken += self._steps.over(text)
        return self._pattern.findall(text)

    def split(self, text: str) -> list[Any]:
        self._count.taken += self._steps.over(text)
        return self._pattern.split(text)

    def sub(self, replacement: Any, text: str, count: int = 0) -> str:
        self._count.taken += self._steps.once(text, 0, anywhere=True) if count else self._steps.over(text)
        return self._pattern.sub(replacement, text, count=count)


class Count:
    """The steps of all patterns of some modules, while they are counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, modules: list[ModuleType]) -> None:
        self.taken = 0
        counted = cache(lambda pattern: Counted(re.compile(pattern), self))
        for module in modules:
            for name, value in list(vars(module).items()):
                if isinstance(value, re.Pattern | Lazy) and isinstance(value.pattern, str):
                    monkeypatch.setattr(module, name, Counted(value, self))
            if "compiled" in vars(module):
                monkeypatch.setattr(module, "compiled", counted)
