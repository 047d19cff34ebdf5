"""`python -m benchmarks.prompt_speed [--home FOLDER]`: what an answer at a moment of need takes with 100,000 memories.

The home is that of `benchmarks.scale` (scale_home.py), with a thousand fixes of failures besides, in a copy. A worker
runs there, and is sent what hooks send, by its socket: prompts of 3 to 60 words (prompt_speed_asked.py), files that are
opened, commands that fail, and commands that pass, each in a session of its own, half in the project that has half of
everything and half in a small one. Timed is the whole way from the request to the last byte of the answer, when the
worker has nothing else to do. Twenty others come first. The time of the processor is told besides, of the same prompts
built in this process: other work on the machine distorts it less. With `--home` the home is kept there, and used
again."""

import argparse
import json
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.figures import Figure, keep, p95
from benchmarks.product import temporary_folder
from benchmarks.prompt_speed_asked import PLACES, Asked, Checkouts, all_asked, store_fixes
from benchmarks.scale_home import fill
from benchmarks.synthetic import NOW, Language
from claude_mem_lite.client.client import Client
from claude_mem_lite.client.worker_process import ensure_worker, stop_worker
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.context.prompt.builder import build_for_prompt
from claude_mem_lite.context.prompt.keywords import defaults
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.evaluation.in_process_worker import send_hook
from claude_mem_lite.event_names import new_name
from claude_mem_lite.paths import Home
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.vector_index import VectorIndex

SIZE = 100_000
PROMPTS = 300
OTHERS = 200
WARMING = 20
BAR_MS = 30.0
_BUDGET_TOKENS = 2_000
# Until the event before is taken in: that shares one interpreter with the answer.
_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class Timed:
    asked: Asked
    ms: float
    is_answered: bool


def main(arguments: Sequence[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.prompt_speed")
    options.add_argument("--home", type=Path, metavar="FOLDER")
    given = options.parse_args(arguments)
    with temporary_folder() as scratch:
        filled = (given.home or scratch) / str(SIZE)
        fill(filled, SIZE)
        timed = measure(filled, scratch / "asked")
        processor = processor_ms(filled, [one.asked for one in timed if one.asked.kind == "prompt"])
    figures = [*told(timed), _processor_figure(processor)]
    for figure in figures:
        print(figure.line(), flush=True)
    return keep(
        "prompt_speed", "What an answer to a prompt takes", figures, "nice -n -10 python -m benchmarks.prompt_speed"
    )


def measure(filled: Path, folder: Path, size: int = SIZE, prompts: int = PROMPTS, others: int = OTHERS) -> list[Timed]:
    """Ask a worker everything, on a copy of a filled home."""
    home = Home(folder / "home")
    home.make()
    shutil.copy(Home(filled).memory_db, home.memory_db)
    home.worker_python.symlink_to(sys.executable)
    store_fixes(home)
    checkouts = Checkouts(folder)
    language = Language()
    ensure_worker(home)
    try:
        for one in all_asked(language, checkouts, size, WARMING, WARMING, "warming"):
            _ask(home, one)
        return [_ask(home, one) for one in all_asked(language, checkouts, size, prompts, others, "asked")]
    finally:
        stop_worker(Client(home))


def _ask(home: Home, asked: Asked) -> Timed:
    time.sleep(_PAUSE_S)
    name = new_name(asked.event, datetime.now(UTC))
    (home.spool_new / name).write_bytes(asked.payload)
    began = time.perf_counter()
    answer = send_hook(home, asked.event, name)
    return Timed(asked, (time.perf_counter() - began) * 1000, bool(answer))


def processor_ms(filled: Path, prompts: Sequence[Asked]) -> list[float]:
    """What building takes of the processor, prompt by prompt, on a connection opened for each."""
    search = Search(StaticTable(), VectorIndex())
    taken = []
    for one in (*prompts[:WARMING], *prompts):
        asked = json.loads(one.payload)
        began = time.thread_time()
        with closing(open_for_reading(Home(filled).memory_db)) as db:
            request = ContextRequest(find_location(asked["cwd"]), NOW)
            build_for_prompt(db, asked["prompt"], request, (), _BUDGET_TOKENS, defaults(), search.score_memories)
        taken.append((time.thread_time() - began) * 1000)
    return taken[len(prompts[:WARMING]) :]


def told(timed: Sequence[Timed]) -> Iterator[Figure]:
    """Prompts are judged, all together and by project; the rest is told."""

    def chosen(is_meant: Callable[[Asked], bool]) -> list[Timed]:
        return [one for one in timed if is_meant(one.asked)]

    yield _figure("prompts", chosen(lambda one: one.kind == "prompt"), BAR_MS)
    for place in PLACES:
        group = chosen(lambda one, place=place: one.kind == "prompt" and one.place == place)  # type: ignore[misc]
        yield _figure(f"prompts in the {place} project", group, BAR_MS)
    yield _figure("prompts of common words", chosen(lambda one: one.kind == "prompt" and one.is_common), BAR_MS)
    yield _figure("prompts of 30 words and more", chosen(lambda one: one.kind == "prompt" and one.words >= 30), BAR_MS)
    yield _figure("files that are opened", chosen(lambda one: one.kind == "file"))
    yield _figure("commands that fail", chosen(lambda one: one.kind == "failure"))
    yield _figure("commands that pass", chosen(lambda one: one.kind == "passed"))


def _figure(name: str, timed: Sequence[Timed], bar: float | None = None) -> Figure:
    times = [one.ms for one in timed]
    answered = sum(one.is_answered for one in timed)
    note = f"p50 {statistics.median(times):.1f}, most {max(times):.1f} of {len(times)}; {answered} were given something"
    return Figure(f"{SIZE:,} memories, {name}, p95", round(p95(times), 1), "ms", bar, note=note)


def _processor_figure(times: Sequence[float]) -> Figure:
    note = f"p50 {statistics.median(times):.1f}, most {max(times):.1f} of {len(times)}; built alone, without a worker"
    return Figure(f"{SIZE:,} memories, processor time of a prompt, p95", round(p95(times), 1), "ms", note=note)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
