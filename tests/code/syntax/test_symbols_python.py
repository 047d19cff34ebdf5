"""What tree-sitter finds in Python, compared with Python's own parser over the standard library."""

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from claude_mem_lite.code.syntax.symbols import read_definitions, read_symbols

NAMES = (
    "json",
    "asyncio",
    "argparse",
    "dataclasses",
    "typing",
    "unittest",
    "email",
    "http",
    "concurrent",
    "importlib",
    "multiprocessing",
    "enum",
    "inspect",
    "pathlib",
    "logging",
)
Definition = tuple[str, str, int, int]


def sources(name: str) -> list[Path]:
    module = importlib.import_module(name)
    if hasattr(module, "__path__"):
        return sorted(path for folder in module.__path__ for path in Path(folder).rglob("*.py"))
    assert module.__file__
    return [Path(module.__file__)]


@cache
def by_ast(path: Path) -> list[Definition]:
    return sorted(_walk(ast.parse(path.read_text("utf-8")), "", False))


def _walk(node: ast.AST, around: str, in_class: bool) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{around}.{child.name}" if around else child.name
            is_class = isinstance(child, ast.ClassDef)
            kind = "class" if is_class else "method" if in_class else "function"
            yield name, kind, child.lineno, child.end_lineno or 0
            yield from _walk(child, name, is_class)
        else:
            # What stands in an `if` or a `with` stands in what is around that.
            yield from _walk(child, around, in_class)


def by_tree_sitter(text: str) -> list[Definition]:
    found = read_definitions(text, "python")
    assert found is not None
    return sorted((one.name, one.kind, one.first, one.last) for one in found)


@pytest.mark.parametrize("name", NAMES)
def test_every_definition_of_the_standard_library_is_found_as_python_itself_finds_it(name: str) -> None:
    compared = 0
    for path in sources(name):
        expected = by_ast(path)
        assert by_tree_sitter(path.read_text("utf-8")) == expected, path.name
        compared += len(expected)
    assert compared > 5


def test_the_packages_that_are_compared_hold_thousands_of_definitions() -> None:
    counted = sum(len(by_ast(path)) for name in NAMES for path in sources(name))
    assert counted > 5_000


@pytest.mark.parametrize("name", ["json", "asyncio", "argparse"])
def test_each_name_comes_once_where_definitions_are_folded(name: str) -> None:
    for path in sources(name):
        text = path.read_text("utf-8")
        found, definitions = read_symbols(text, "python"), read_definitions(text, "python")
        assert found is not None
        assert definitions is not None
        assert [one.name for one in found] == list(dict.fromkeys(one.name for one in definitions))


def test_signatures_are_what_stands_before_the_body() -> None:
    text = '''
@cached  # decorators are no part of it
def renew(
    self,
    token: str,  # the old one
    *,
    hours: int = 1,
) -> "Session":
    """Another hour."""


async def fetch(): ...


class Session(Base, metaclass=Meta):
    pass
'''
    found = read_symbols(text, "python")
    assert found is not None
    assert [(one.signature, one.first, one.last) for one in found] == [
        ('def renew(self, token: str, *, hours: int = 1) -> "Session"', 3, 9),
        ("async def fetch()", 12, 12),
        ("class Session(Base, metaclass=Meta)", 15, 16),
    ]
