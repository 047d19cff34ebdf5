"""The call graph of a real package against what reading it says; `rich_calls.toml` has that."""

import shutil
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
import rich

from claude_mem_lite.code.callgraph import graph
from claude_mem_lite.code.callgraph.graph import Edge
from claude_mem_lite.code.callgraph.lookup import Lookup
from claude_mem_lite.code.callgraph.resolve import Resolver
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.source_files import walk
from tests.code.callgraph.rich_calls import TRUTHS, VERSION, Truth

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
    cache.read_calls(root, walk(root).paths)
    with cache.reading() as db:
        yield Lookup(db, root)
    cache.release()


def test_the_package_is_large_and_the_names_are_of_all_sorts(lookup: Lookup) -> None:
    lines = sum(len((Path(lookup.root) / path).read_text("utf-8").splitlines()) for path in lookup.files)
    kinds = [lookup.definition(*one.name.split("::")) for one in TRUTHS]
    assert lines > 20_000
    assert len(TRUTHS) >= 30
    assert sum(one is not None and one.kind == "method" for one in kinds) >= 10


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_sure_callers_and_callees_are_right(truth: Truth, lookup: Lookup) -> None:
    (symbol,) = graph.find_symbols(lookup, truth.name)
    callers = graph.callers(lookup, Resolver(lookup), symbol).edges
    callees = graph.callees(lookup, Resolver(lookup), symbol).edges
    assert names(edge for edge in callers if edge.sure) <= truth.callers
    assert names(edge for edge in callees if edge.sure) <= truth.callees | truth.undecided


def test_most_callers_and_callees_are_found_and_few_others(lookup: Lookup) -> None:
    true = found = right = sure = 0
    for truth in TRUTHS:
        (symbol,) = graph.find_symbols(lookup, truth.name)
        callers = graph.callers(lookup, Resolver(lookup), symbol).edges
        callees = graph.callees(lookup, Resolver(lookup), symbol).edges
        for edges, expected in ((callers, truth.callers), (callees, truth.callees)):
            shown = names(edges) - truth.undecided
            true, found, right = true + len(expected), found + len(shown), right + len(shown & expected)
            sure += len(names(edge for edge in edges if edge.sure) & expected)
    assert right / true >= 0.95
    assert right / found >= 0.95
    assert sure / true >= 0.9


def names(edges: "Iterator[Edge] | tuple[Edge, ...]") -> set[str]:
    return {f"{edge.file}::{edge.name}" for edge in edges}
