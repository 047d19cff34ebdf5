"""How many steps a pattern takes over a text, counted by a small matcher that goes back like `re` does.

Bounds of repeats are lowered to a few: what is bounded costs the same for each character of a text however long it is,
and what is not shows in short texts already."""

import importlib
from collections.abc import Iterator
from typing import Any

_parser = importlib.import_module("re._parser")
_constants = importlib.import_module("re._constants")
_HIGHEST = 5


class Steps:
    """One pattern and the count of what it tried."""

    def __init__(self, pattern: str) -> None:
        self._nodes = list(_parser.parse(pattern))
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

    def _sequence(self, nodes: list[Any], index: int, at: int) -> Iterator[int]:
        if index == len(nodes):
            yield at
            return
        for end in self._one(nodes[index], at):
            yield from self._sequence(nodes, index + 1, end)

    def _one(self, node: Any, at: int) -> Iterator[int]:
        self.taken += 1
        kind, value = str(node[0]), node[1]
        if kind in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            if at < len(self._text) and self._fits(kind, value, ord(self._text[at])):
                yield at + 1
        elif kind == "BRANCH":
            for branch in value[1]:
                yield from self._sequence(list(branch), 0, at)
        elif kind == "SUBPATTERN":
            yield from self._sequence(list(value[-1]), 0, at)
        elif kind in ("MAX_REPEAT", "MIN_REPEAT"):
            yield from self._repeat(value, at, 0, is_greedy=kind == "MAX_REPEAT")
        elif kind == "POSSESSIVE_REPEAT":
            end = next(self._repeat(value, at, 0, is_greedy=True), None)
            if end is not None:
                yield end
        elif kind in ("ASSERT", "ASSERT_NOT"):
            if self._holds(value, at) == (kind == "ASSERT"):
                yield at
        elif kind in ("AT", "GROUPREF"):
            yield at  # taken as given: at worst it is followed more often than it would be
        else:
            raise NotImplementedError(kind)

    def _repeat(self, value: Any, at: int, count: int, *, is_greedy: bool) -> Iterator[int]:
        least, most, nodes = value
        most = most if most == _constants.MAXREPEAT else min(most, _HIGHEST)
        enough = count >= min(least, _HIGHEST)
        if enough and not is_greedy:
            yield at
        if count < most:
            for end in self._sequence(list(nodes), 0, at):
                if end > at:
                    yield from self._repeat(value, end, count + 1, is_greedy=is_greedy)
        if enough and is_greedy:
            yield at

    def _holds(self, value: Any, at: int) -> bool:
        direction, nodes = value
        start = at - nodes.getwidth()[0] if direction < 0 else at
        return start >= 0 and next(self._sequence(list(nodes), 0, start), None) is not None

    def _fits(self, kind: str, value: Any, character: int) -> bool:
        if kind == "ANY":
            return character != ord("\n")
        if kind != "IN":
            return _same(value, character) == (kind == "LITERAL")
        is_negated = str(value[0][0]) == "NEGATE"
        return is_negated != any(_in(item, character) for item in value)


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
        }[str(value)]
    return kind == "LITERAL" and _same(value, character)
