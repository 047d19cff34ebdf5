"""Filters of words in `safety/injection.py` and its table, against texts generated from the patterns: none is lost."""

import random
import re
from importlib import import_module
from typing import Protocol

import pytest

from claude_mem_lite.safety.injection import Form, forms, lower_case

_OF_CATEGORY = {"CATEGORY_SPACE": " \t", "CATEGORY_WORD": "a", "CATEGORY_DIGIT": "1"}
_ANY = "a b,-"
_BEFORE, _AFTER = ("", "x ", ". ", "(", ",", "/", "#", "’", "*"), ("", " now", ". ", ",")
_TEXTS_OF_A_PATTERN = 100


class Parser(Protocol):
    """Python's parser of patterns."""

    def parse(self, pattern: str) -> object:
        """Return the parts of a pattern."""


PARSER: Parser = import_module("re._parser")


class Generator:
    """Generator of texts that a pattern may match; lookarounds are left out, so some texts do not match."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def text(self, pattern: str) -> str:
        before, after = self._random.choice(_BEFORE), self._random.choice(_AFTER)
        return before + self._text(PARSER.parse(pattern)) + after

    def _text(self, parts: object) -> str:
        data: object = getattr(parts, "data", parts)
        assert isinstance(data, list)
        return "".join(self._part(str(kind), value) for kind, value in data)

    def _part(self, kind: str, value: object) -> str:
        match kind, value:
            case "LITERAL", int(code):
                return chr(code)
            case "RANGE", (int(low), int(high)):
                return chr(self._random.randint(low, high))
            case "IN", [(first, _), *_] if str(first) == "NEGATE":
                return self._random.choice("a ,")
            case "IN", [*choices]:
                return self._text([self._random.choice(choices)])
            case "CATEGORY", category:
                return self._random.choice(_OF_CATEGORY.get(str(category), "a"))
            case "ANY" | "NOT_LITERAL", _:
                return self._random.choice(_ANY)
            case "SUBPATTERN", (*_, inner):
                return self._text(inner)
            case "BRANCH", (_, [*branches]):
                return self._text(self._random.choice(branches))
            case "MAX_REPEAT" | "MIN_REPEAT", (int(least), most, inner):
                number = self._random.randint(least, min(int(str(most)) if str(most).isdigit() else 9, least + 2))
                return "".join(self._text(inner) for _ in range(number))
        return ""


FORMS = [(table, number, form) for table, rows in forms().items() for number, form in enumerate(rows)]


@pytest.mark.parametrize(("table", "number", "form"), FORMS, ids=[f"{table}-{number}" for table, number, _ in FORMS])
def test_the_filtered_search_finds_what_the_plain_search_finds(table: str, number: int, form: Form) -> None:
    generator, found = Generator(seed=number), 0
    for pattern in form.patterns:
        plain = re.compile(pattern, re.IGNORECASE if form.is_as_written else 0)
        for _ in range(_TEXTS_OF_A_PATTERN):
            text = generator.text(pattern)
            text = text if table == "marks" else " ".join(text.split())  # only marks are searched with their lines
            lowered = lower_case(text)
            if plain.search(text if form.is_as_written else lowered):
                found += 1
                assert form.fits(text, lowered), text
    assert found
