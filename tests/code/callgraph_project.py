"""A project of a few files, and questions about who calls whom in it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

from claude_mem_lite.code.callgraph import graph
from claude_mem_lite.code.callgraph.graph import Edge, Walks
from claude_mem_lite.code.callgraph.lookup import Definition, Lookup
from claude_mem_lite.code.callgraph.resolve import Resolver
from claude_mem_lite.code.freshness.code_cache import CallsRead, CodeCache

POSSIBLE = "?"
"""After a name: that it is called is possible, not sure."""


class Project:
    """Every question reads what changed first, as a request to the worker does."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        self.cache = CodeCache(folder / "code.db", lambda: time.time_ns() + 1_000_000_000)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(dedent(text))

    def read(self) -> CallsRead:
        return self.cache.read_calls(str(self.root), Walks().find_sources(str(self.root)).paths)

    def symbols(self, name: str) -> list[str]:
        with self._looking() as lookup:
            return [f"{one.file}::{one.name}" for one in graph.find_symbols(lookup, name)]

    def suggestions(self, name: str) -> list[str]:
        with self._looking() as lookup:
            return graph.suggest(lookup, name)

    def callers(self, name: str) -> set[str]:
        """What calls the one symbol of a name."""
        return _named(self.caller_edges(name))

    def caller_edges(self, name: str) -> tuple[Edge, ...]:
        with self._looking() as lookup:
            return graph.callers(lookup, Resolver(lookup), _only(lookup, name)).edges

    def heirs(self, name: str) -> int:
        with self._looking() as lookup:
            return graph.callers(lookup, Resolver(lookup), _only(lookup, name)).heirs

    def unclear(self, name: str) -> int:
        with self._looking() as lookup:
            return graph.callers(lookup, Resolver(lookup), _only(lookup, name)).unclear

    def callees(self, name: str) -> set[str]:
        """What the one symbol of a name calls."""
        with self._looking() as lookup:
            return _named(graph.callees(lookup, Resolver(lookup), _only(lookup, name)).edges)

    def foreign(self, name: str) -> dict[str, int]:
        with self._looking() as lookup:
            return dict(graph.callees(lookup, Resolver(lookup), _only(lookup, name)).foreign)

    @contextmanager
    def _looking(self) -> Iterator[Lookup]:
        self.read()
        with self.cache.reading() as db:
            yield Lookup(db, str(self.root))


def _only(lookup: Lookup, name: str) -> Definition:
    found = graph.find_symbols(lookup, name)
    assert len(found) == 1, (name, found)
    return found[0]


def _named(edges: tuple[Edge, ...]) -> set[str]:
    return {f"{edge.file}::{edge.name}{'' if edge.sure else POSSIBLE}" for edge in edges}
