"""`python -m benchmarks.team_speed [--only PART …]`: what a team costs, and how fast it is.

Parts: `waiting` (hooks and contexts with a server that is well, slow, silent or dead, against no team, and the memory
of the worker), `push` and `pull` (entries sent and received a second), `search` (`search --team` on a server with up to
a million memories). Figures of parts that do not run are kept from the last time."""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

from tests.support.postgres import Database, fresh_database, running_server

from benchmarks import team_waiting
from benchmarks.figures import RESULTS, Figure, keep, p95
from benchmarks.plot import Line, Panel, svg
from benchmarks.product import temporary_folder
from benchmarks.synthetic import Language
from benchmarks.team_exchange import (
    Exchanged,
    LocalHome,
    exchange,
    fill_log,
    invited,
    joined_home,
    remember_all,
    show_log,
)
from benchmarks.team_search import FilledServer, Searched, enlarge
from claude_mem_lite.limits import LIMITS
from claude_mem_lite.team.address import Address

PUSHED = 10_000
PULLED = (10_000, 30_000, 100_000)
MAX_PUSH_S, MAX_PULL_S = 600.0, 600.0
SIZES = (10_000, 100_000, 1_000_000)
MAX_VECTORS = 100_000
IDLE_S = LIMITS.rest_s + 15


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.team_speed")
    options.add_argument("--only", nargs="+", choices=tuple(_PARTS), default=tuple(_PARTS), metavar="PART")
    chosen = options.parse_args(arguments).only
    measured: dict[str, list[Figure]] = {}
    for name in (name for name in _PARTS if name in chosen):
        load = Figure(
            f"{name}: load of the machine before",
            round(os.getloadavg()[0], 1),
            "",
            note=f"{os.cpu_count()} cores; above their number, the machine was shared with other work",
        )
        for figure in itertools.chain([load], _PARTS[name]()):
            print(figure.line(), flush=True)
            measured.setdefault(name, []).append(figure)
    # Read at the end: another part may have run beside this one.
    figures = [figure for name in _PARTS for figure in measured.get(name) or _kept(name)]
    return keep("team_speed", "What a team costs, and how fast it is", figures, "python -m benchmarks.team_speed")


def waiting() -> Iterator[Figure]:
    """Hooks, contexts and the memory of the worker."""
    with running_server() as server, fresh_database(server) as database, team_waiting.asked_homes(database) as homes:
        yield from _named("waiting", team_waiting.measure(homes))
        for home in homes.values():
            home.made.client.drain(10.0)
        for name in (team_waiting.HEALTHY, "dead server"):
            homes[name].begin_synchronisation()
        time.sleep(IDLE_S)
        note = f"{IDLE_S:g} s after the last question; the driver of PostgreSQL stays loaded"
        for name in (team_waiting.NONE, team_waiting.HEALTHY, "dead server"):
            pid = homes[name].made.client.health().pid
            yield Figure(f"waiting: memory of the worker, idle: {name}", round(_resident_mb(pid), 1), "MB", note=note)


def pushing() -> Iterator[Figure]:
    """Entries sent: what a home has when it joins a team."""
    with temporary_folder() as folder, running_server() as server, fresh_database(server) as database:
        with database.connect() as connection:
            address = invited(connection, "ana", database.address)
        home = joined_home(folder / "ana", "ana")
        with closing(home.db):
            remember_all(home, Language(), PUSHED)
            sent = exchange(home, address, MAX_PUSH_S)
        yield _rate(f"push: of {PUSHED:,} memories, policy and redaction included", sent, sent.counts.pushed)


def pulling() -> Iterator[Figure]:
    """Entries received: what a home gets when it joins a team."""
    with temporary_folder() as folder, running_server() as server, fresh_database(server) as database:
        with database.connect() as connection:
            invited(connection, "ana", database.address)
            address = invited(connection, "ben", database.address)
            device = fill_log(connection, "ana", Language(), PULLED[-1])
        home = joined_home(folder / "ben", "ben")
        with closing(home.db):
            yield from _first_pull(database, home, address, device)


def _first_pull(database: Database, home: LocalHome, address: Address, device: str) -> Iterator[Figure]:
    """A first pull in parts, so that its growth shows; the last figure is about the whole."""
    done: list[Exchanged] = []
    for before, last in zip((0, *PULLED), PULLED, strict=False):
        with database.connect() as connection:
            show_log(connection, device, last)
        left_s = MAX_PULL_S - sum(part.seconds for part in done)
        done.append(exchange(home, address, left_s))
        yield _rate(f"pull: entries {before:,} to {last:,}", done[-1], done[-1].counts.pulled)
        if not done[-1].counts.is_whole:
            break
    pulled, seconds = sum(part.counts.pulled for part in done), sum(part.seconds for part in done)
    seconds += (PULLED[-1] - pulled) / done[-1].a_second
    how = "measured" if pulled == PULLED[-1] else f"{pulled:,} measured, the rest at the last rate"
    longest = max(part.longest_write_s for part in done)
    note = f"{how}; longest write {1000 * longest:.0f} ms of the processor"
    yield Figure(f"pull: the first, of {PULLED[-1]:,} entries", round(seconds), "s", note=note)


def searching() -> Iterator[Figure]:
    """Search on the server, by size, with and without vectors."""
    language = Language()
    found: list[Searched] = []
    with running_server() as server:
        for has_vectors in (True, False):
            with fresh_database(server) as database:
                enlarge(server, database)
                filled = FilledServer(database, language, has_vectors=has_vectors)
                for size in SIZES:
                    if not has_vectors or size <= MAX_VECTORS:
                        seconds = filled.fill(size, at_once=size != SIZES[0])
                        found.append(filled.search())
                        yield from _searched(found[-1], seconds)
    (RESULTS / "team_speed.svg").write_text(_drawn(found))


def _searched(searched: Searched, seconds: float) -> Iterator[Figure]:
    kind = "words and vectors" if searched.has_vectors else "words"
    name = f"search: {searched.size:,} memories, {kind}"
    note = f"p50 {statistics.median(searched.whole):.1f}, most {max(searched.whole):.1f} of {len(searched.whole)}"
    search = f"on an open connection p95 {p95(searched.alone):.1f}"
    yield Figure(
        f"{name}, p95", round(p95(searched.whole), 1), "ms", note=f"{note}; {search}; filled in {seconds:.0f} s"
    )
    note = f"an entry {searched.entry_bytes:.0f}, a head {searched.head_bytes:.0f}"
    whole = searched.entry_bytes + searched.head_bytes
    yield Figure(f"{name}, bytes a memory", round(whole), "", note=f"{note}, indexes included")


def _drawn(found: Sequence[Searched]) -> str:
    def line(name: str, has_vectors: bool, value: Callable[[Searched], float], colour: int) -> Line:
        return Line(name, [(one.size, value(one)) for one in found if one.has_vectors is has_vectors], colour)

    times = [
        line("words, p95", False, lambda one: p95(one.whole), 0),
        line("words and vectors, p95", True, lambda one: p95(one.whole), 1),
    ]
    sizes = [
        line("words", False, lambda one: one.size * (one.entry_bytes + one.head_bytes) / 1e6, 0),
        line("words and vectors", True, lambda one: one.size * (one.entry_bytes + one.head_bytes) / 1e6, 1),
    ]
    return svg([Panel("search --team, ms", "memories", times), Panel("database, MB", "memories", sizes)])


def _rate(name: str, done: Exchanged, entries: int) -> Figure:
    processor = f"{1000 * done.processor_s / max(entries, 1):.2f} ms of the client's processor each"
    note = f"{entries:,} in {done.seconds:.0f} s; {processor}"
    return Figure(name, round(done.a_second), "entries/s", note=note)


def _named(part: str, figures: Iterator[Figure]) -> Iterator[Figure]:
    for figure in figures:
        yield Figure(f"{part}: {figure.name}", figure.value, figure.unit, figure.bar, figure.floor, figure.note)


def _kept(part: str) -> Iterator[Figure]:
    """The figures of a part from the last time."""
    path = RESULTS / "team_speed.json"
    told = json.loads(path.read_text())["figures"] if path.exists() else []
    for one in told:
        if one["name"].startswith(f"{part}:"):
            yield Figure(one["name"], one["value"], one["unit"], one["bar"], one["floor"], one["note"])


def _resident_mb(pid: int) -> float:
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024


_PARTS: Mapping[str, Callable[[], Iterator[Figure]]] = {
    "waiting": waiting,
    "push": pushing,
    "pull": pulling,
    "search": searching,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
