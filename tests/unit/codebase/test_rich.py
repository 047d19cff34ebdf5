"""The call graph of a real package against what reading it says; `rich_truth.py` has that."""

import shutil
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import rich

from claude_mem_lite.codebase import graph
from claude_mem_lite.codebase.cache import CodeCache
from claude_mem_lite.codebase.graph import Edge
from claude_mem_lite.codebase.lookup import Lookup
from claude_mem_lite.codebase.project import find_sources
from claude_mem_lite.codebase.resolving import Resolver
from tests.unit.codebase.rich_truth import TRUTHS, VERSION, Truth

pytestmark = pytest.mark.skipif(
    metadata.version("rich") != VERSION, reason=f"what is true was read in rich {VERSION}, as constraints.txt has it"
)


@pytest.fixture(scope="module")
def lookup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lookup]:
    folder = tmp_path_factory.mktemp("rich")
    package = Path(rich.__file__).parent
    shutil.copytree(package, folder / "project" / "rich", ignore=shutil.ignore_patterns("__pycache__"))
    root = str(folder / "project")
    cache = CodeCache(folder / "code.db", lambda: time.time_ns() + 1_000_000_000)
    cache.read_calls(root, find_sources(root).paths)
    with cache.reading() as db:
        yield Lookup(db, root)
    cache.let_go()


def test_the_package_is_large_and_the_names_are_of_all_sorts(lookup: Lookup) -> None:
    lines = sum(len((Path(lookup.root) / path).read_text("utf-8").splitlines()) for path in lookup.files)
    kinds = [lookup.definition(*one.name.split("::")) for one in TRUTHS]
    assert lines > 20_000
    assert len(TRUTHS) >= 30
    assert sum(one is not None and one.kind == "method" for one in kinds) >= 10


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_callers_are_those_that_reading_finds(truth: Truth, lookup: Lookup) -> None:
    (symbol,) = graph.find_symbols(lookup, truth.name)
    found = graph.callers(lookup, Resolver(lookup), symbol)
    assert names(found.edges) == truth.callers
    assert names(edge for edge in found.edges if edge.sure) == truth.callers


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_callees_are_those_that_reading_finds(truth: Truth, lookup: Lookup) -> None:
    (symbol,) = graph.find_symbols(lookup, truth.name)
    found = graph.callees(lookup, Resolver(lookup), symbol)
    assert names(found.edges) - truth.undecided == truth.callees


def names(edges: "Iterator[Edge] | tuple[Edge, ...]") -> set[str]:
    return {f"{edge.file}::{edge.name}" for edge in edges}
