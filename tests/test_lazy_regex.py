"""Patterns that are compiled on use, and a worker that has not imported what its first answer does not need."""

import gc
import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import claude_mem_lite
from claude_mem_lite.lazy_regex import Lazy, lazy


def _modules() -> Iterator[str]:
    for module in pkgutil.walk_packages(claude_mem_lite.__path__, "claude_mem_lite."):
        if ".hook." not in module.name and not module.name.endswith("__main__"):
            yield module.name


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    made, compiled = lazy(r"(?P<word>[a-z]+)-(\d)", re.I), re.compile(r"(?P<word>[a-z]+)-(\d)", re.I)
    text = "a-1, B-2 and -3"
    assert made.pattern == compiled.pattern
    assert [one.groupdict() for one in made.finditer(text)] == [one.groupdict() for one in compiled.finditer(text)]
    assert made.sub(r"\2", text) == compiled.sub(r"\2", text) == "1, 2 and -3"
    assert made.findall(text, 3) == compiled.findall(text, 3)
    assert (made.groups, dict(made.groupindex)) == (compiled.groups, dict(compiled.groupindex))
    assert made.match(text) is not None
    assert made.fullmatch(text) is None


def test_a_pattern_is_compiled_at_its_first_use() -> None:
    wrong = Lazy("(", 0)
    with pytest.raises(re.error, match="missing \\)"):
        wrong.search("a")
    wrong.pattern = ""  # the next test compiles every pattern that is still there


def test_every_pattern_can_be_compiled() -> None:
    for name in _modules():
        importlib.import_module(name)
    made = [one for one in gc.get_objects() if type(one) is Lazy]
    assert len(made) > 500
    for one in made:
        assert one.groups >= 0, one.pattern  # compiles it


def test_a_worker_that_only_hooks_talk_to_has_neither_the_api_nor_a_compiled_rule() -> None:
    program = """
import gc, sys
import claude_mem_lite.worker.api.app, claude_mem_lite.worker.composition
from claude_mem_lite.lazy_regex import Lazy
print(*sys.modules)
print(*(one.pattern for one in gc.get_objects() if type(one) is Lazy and "search" in vars(one)))
"""
    ran = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    imported, compiled = ran.stdout.split("\n")[:2]
    assert {"pydantic", "numpy", "anthropic", "openai", "httpx"} & set(imported.split()) == set()
    assert compiled == ""
