"""Every module of the package has a test file of its name, or is imported or named by a test."""

import re
from pathlib import Path

import claude_mem_lite

PACKAGE = Path(claude_mem_lite.__file__).parent
TESTS = Path(__file__).parent
_FROM = re.compile(r"from (claude_mem_lite[\w.]*) import (\([^)]*\)|[^\n]*)")
_DOTTED = re.compile(r"claude_mem_lite(?:\.\w+)+")
_OPENING = re.compile(r'"""Tests of .*?"""', re.DOTALL)
_PATH = re.compile(r"`(\w+(?:/\w+)*)\.py`")


def test_every_module_is_found_from_its_tests() -> None:
    texts = [path.read_text("utf-8") for path in TESTS.rglob("*.py")]
    files = " ".join(f"{path.stem}_" for path in TESTS.rglob("test_*.py"))
    named = {name for text in texts for name in (*_names(text), *_modules_named(text))}
    missing = [module for module in _modules() if module not in named and f"_{module.rpartition('.')[2]}_" not in files]
    assert missing == []


def test_docstrings_of_tests_name_modules_that_exist() -> None:
    named = {name for path in TESTS.rglob("*.py") for name in _modules_named(path.read_text("utf-8"))}
    assert named - set(_modules()) == set()


def _modules() -> list[str]:
    paths = (path for path in PACKAGE.rglob("*.py") if path.stem not in ("__init__", "__main__"))
    return sorted(".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)) for path in paths)


def _names(text: str) -> set[str]:
    """Return the dotted names in a test, and the modules that its imports take from a package."""
    imported = {f"{package}.{name}" for package, names in _FROM.findall(text) for name in re.findall(r"\w+", names)}
    return imported | set(_DOTTED.findall(text))


def _modules_named(text: str) -> set[str]:
    """Return the modules that a test's module docstring names by their paths: "Tests of `store/feed.py` …"."""
    opening = _OPENING.match(text)
    paths = _PATH.findall(opening.group()) if opening else []
    return {".".join((PACKAGE.name, *path.split("/"))) for path in paths}
