"""`python -m benchmarks.scale [SIZE …] [--home FOLDER]`: search with up to a million memories.

Each size is a home of its own, filled with made-up memories of a realistic shape (synthetic.py) by the product's own
functions (scale_home.py), then searched with a fixed mix of queries (scale_queries.py) by `Search.search`, ten hits
each, with vectors, on a connection opened for each query as the worker's API does. Times include that connection.
Twenty other queries come first. Filling and searching have a process each, so that what the process takes is what
search takes. With `--home` the homes are kept there, and used again."""

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from benchmarks.figures import RESULTS, Figure, keep, p95
from benchmarks.plot import Line, Panel, svg
from benchmarks.product import temporary_folder
from benchmarks.scale_home import Filled, fill
from benchmarks.scale_queries import QUERIES, WARMING, ScaleQuery, filtered, queries
from benchmarks.synthetic import NOW, Language
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.queries import Where
from claude_mem_lite.client.worker_process import ensure_worker, stop_worker
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.paths import Home
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.text import query_words

SIZES = (10_000, 100_000, 1_000_000)
JUDGED = ("all queries", "in one project", "over all projects", "with common words")
BARS_MS = {100_000: 30.0, 1_000_000: 150.0}
THROUGH_WORKER = 100_000
"""The size that a worker is asked at too."""
HITS = 10
CANDIDATES = 200
"""How many of each kind `Search` asks its parts for."""
Times = tuple[float, ...]
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Searched:
    """What searching one home took: milliseconds by query and by what was done, and the process's memory in MB."""

    asked: tuple[ScaleQuery, ...]
    whole: Times
    processor: Times
    """Of the whole, the time this thread was at work: other work on the machine distorts it less."""
    by_words: Times
    by_meaning: Times
    with_filters: dict[str, Times]
    first: float
    first_again: float
    resident_mb: dict[str, float]
    found: int
    """How many of the queries had a hit."""


class Searching:
    """A search of a home, as the worker holds one."""

    def __init__(self, home: Home) -> None:
        self.found = 0
        self.processor_ms: list[float] = []
        self._database = home.memory_db
        self._embedder = StaticTable()
        self._index = VectorIndex()
        self._search = Search(self._embedder, self._index)

    def ask(self, query: ScaleQuery) -> float:
        """The milliseconds of one search."""
        began, worked = time.perf_counter(), time.thread_time()
        with closing(open_for_reading(self._database)) as db:
            hits = self._search.search(db, query.text, query.filters, NOW, HITS)
        taken = _ms_since(began)
        self.found += bool(hits)
        self.processor_ms.append((time.thread_time() - worked) * 1000)
        return taken

    def by_words(self, query: ScaleQuery) -> float:
        words = query_words(query.text)
        with closing(open_for_reading(self._database)) as db:
            began = time.perf_counter()
            fts.search(db, words, query.filters, CANDIDATES)
            passages.search(db, words, query.filters, CANDIDATES)
            return _ms_since(began)

    def by_meaning(self, query: ScaleQuery) -> float:
        with closing(open_for_reading(self._database)) as db:
            began = time.perf_counter()
            (vector,) = self._embedder.embed([query.text])
            self._index.nearest(db, vector, query.filters, CANDIDATES)
            return _ms_since(began)

    def release(self) -> None:
        self._search.release()


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    options.add_argument("sizes", nargs="*", type=int, default=list(SIZES), metavar="SIZE")
    options.add_argument("--home", type=Path, metavar="FOLDER")
    given = options.parse_args(arguments)
    figures: list[Figure] = []
    measured: list[tuple[Filled, Searched]] = []
    with temporary_folder() as scratch:
        for size in given.sizes:
            folder = (given.home or scratch) / str(size)
            measured.append((_alone(fill, folder, size), _alone(search, folder, size)))
            for figure in (*told(*measured[-1]), *(through_worker(folder, size) if size == THROUGH_WORKER else ())):
                print(figure.line(), flush=True)
                figures.append(figure)
    (RESULTS / "scale.svg").write_text(svg(panels(measured)))
    return keep("scale", "Scale", figures, "make bench-scale")


def search(folder: Path, size: int, number: int = QUERIES) -> Searched:
    """Ask everything."""
    language = Language()
    asked, others = queries(language, number, 1, size), queries(language, WARMING, 2, size)
    resident_mb = {"before": _resident_mb(os.getpid())}
    searching = Searching(Home(folder))
    first, *_ = map(searching.ask, others)
    searching.found, searching.processor_ms = 0, []
    whole = tuple(map(searching.ask, asked))
    found, processor = searching.found, tuple(searching.processor_ms)
    resident_mb["after searches"] = _resident_mb(os.getpid())
    by_words, by_meaning = tuple(map(searching.by_words, asked)), tuple(map(searching.by_meaning, asked))
    with_filters = {name: tuple(map(searching.ask, chosen)) for name, chosen in filtered(language, asked, size)}
    searching.release()
    resident_mb["let go"] = _resident_mb(os.getpid())
    again = searching.ask(others[0])
    return Searched(
        tuple(asked), whole, processor, by_words, by_meaning, with_filters, first, again, resident_mb, found
    )


def told(filled: Filled, searched: Searched) -> Iterator[Figure]:
    """What was measured at one size, judged where there is a bar."""
    yield from (_named(filled, figure) for figure in (*_of_search(filled, searched), *_of_home(filled)))


def through_worker(folder: Path, size: int) -> Iterator[Figure]:
    """The queries over all projects again, asked of a worker by its socket."""
    home = Home(folder)
    if not home.worker_python.is_symlink():
        home.worker_python.symlink_to(sys.executable)
    language = Language()
    ensure_worker(home)
    client = Client(home)
    everywhere = Where(str(folder), all_projects=True)
    try:
        for query in queries(language, WARMING, 2, size):
            client.search(query.text, everywhere, limit=HITS)
        times = []
        for query in (one for one in queries(language, QUERIES, 1, size) if one.place == "all"):
            began = time.perf_counter()
            client.search(query.text, everywhere, limit=HITS)
            times.append(_ms_since(began))
        resident_mb = _resident_mb(client.health().pid)
    finally:
        stop_worker(client)
    yield Figure(
        f"{size:,}: search by a worker's socket, over all projects, p95", _p95(times), "ms", note=_spread(times)
    )
    yield Figure(f"{size:,}: memory of that worker right after", round(resident_mb, 1), "MB", note="not idle yet")


def panels(measured: Sequence[tuple[Filled, Searched]]) -> list[Panel]:
    """Search times and sizes over the number of memories."""
    lines = []
    for colour, place in enumerate(("in one project", "over all projects")):
        for name, of, dashed in (("p95", p95, False), ("p50", statistics.median, True)):
            points = [(filled.memories, of(_groups(searched)[place])) for filled, searched in measured]
            lines.append(Line(f"{place}, {name}", points, colour, dashed))
    bars = [(filled.memories, BARS_MS[filled.memories]) for filled, _ in measured if filled.memories in BARS_MS]
    sizes = [Line("whole database", [(filled.memories, filled.bytes / 1e6) for filled, _ in measured], 0)]
    for colour, name in enumerate(("words", "vectors"), 1):
        if all(name in filled.parts for filled, _ in measured):
            points = [(filled.memories, filled.parts[name] / 1e6) for filled, _ in measured]
            sizes.append(Line(f"of that {name}", points, colour, dashed=True))
    return [Panel("Search, milliseconds", "memories", lines, bars), Panel("On disk, MB", "memories", sizes)]


def _of_search(filled: Filled, searched: Searched) -> Iterator[Figure]:
    for name, times in _groups(searched).items():
        bar = BARS_MS.get(filled.memories) if name in JUDGED else None
        yield Figure(f"search, {name}, p95", _p95(times), "ms", bar, note=_spread(times))
    note = f"{_spread(searched.processor)}; of the thread alone, without waiting"
    yield Figure("processor time of a search, p95", _p95(searched.processor), "ms", note=note)
    for name, times in (("words", searched.by_words), ("meaning", searched.by_meaning)):
        yield Figure(f"of that by {name}, p95", _p95(times), "ms", note=f"{_spread(times)}, this part alone")
    for name, times in searched.with_filters.items():
        yield Figure(f"search, {name}, p95", _p95(times), "ms", note=_spread(times))
    yield Figure("first search", round(searched.first_again, 1), "ms", note="after what was loaded was let go")
    yield Figure("first search of a process", round(searched.first, 1), "ms", note="imports numpy too")
    yield Figure("queries that found something", searched.found, "", note=f"of {len(searched.asked)}")
    held = searched.resident_mb["after searches"] - searched.resident_mb["before"]
    note = ", ".join(f"{name} {value:.0f}" for name, value in searched.resident_mb.items())
    yield Figure("memory that searching takes", round(held, 1), "MB", note=f"of this process, {note}")


def _of_home(filled: Filled) -> Iterator[Figure]:
    took = filled.store_s + filled.index_s
    note = f"{filled.store_s:.0f} s for storing with words, {filled.index_s:.0f} s for vectors"
    yield Figure("filling", round(filled.timed / took), "memories/s", note=f"{note}; with a third as many turns")
    note = f"{_spread(filled.add_ms)}; looks for what says the same, and commits"
    yield Figure("adding one memory, p50", round(statistics.median(filled.add_ms), 1), "ms", note=note)
    parts = sorted(filled.parts.items(), key=lambda part: -part[1])
    note = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in parts)
    yield Figure("on disk", round(filled.bytes / 1e6), "MB", note=note)
    yield Figure("on disk, by memory", round(filled.bytes / filled.memories), "bytes", note="turns counted in")


def _groups(searched: Searched) -> dict[str, Times]:
    def chosen(is_meant: Callable[[ScaleQuery], bool]) -> Times:
        return tuple(taken for one, taken in zip(searched.asked, searched.whole, strict=True) if is_meant(one))

    return {
        "all queries": searched.whole,
        "in one project": chosen(lambda one: one.place != "all"),
        "over all projects": chosen(lambda one: one.place == "all"),
        "with common words": chosen(lambda one: one.kind == "common"),
        "with common words in the huge project": chosen(lambda one: one.kind == "common" and one.place == "huge"),
        "in the small project": chosen(lambda one: one.place == "small"),
    }


def _alone(part: Callable[[Path, int], Made], folder: Path, size: int) -> Made:
    """What a function returns, run in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(part, folder, size).result()


def _named(filled: Filled, figure: Figure) -> Figure:
    return replace(figure, name=f"{filled.memories:,}: {figure.name}")


def _p95(times: Sequence[float]) -> float:
    return round(p95(times), 1)


def _spread(times: Sequence[float]) -> str:
    return f"p50 {statistics.median(times):.1f}, p95 {p95(times):.1f}, most {max(times):.1f} of {len(times)}"


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _resident_mb(pid: int) -> float:
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(shown.stdout) / 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
