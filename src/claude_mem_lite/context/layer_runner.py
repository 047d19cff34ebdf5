"""The layers' candidates: layers take turns in one thread, and those that wait behind a slow one run beside it.

One that fails or takes too long costs only itself. All at once they would take a fifth to a third more of the
processor, and none would be done sooner (docs/context.md)."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass

from claude_mem_lite.context.layers.layer import Item, Layer
from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import Occasion

Connect = Callable[[], sqlite3.Connection]
OVERTIME = "overtime"
# With 10,000 memories all turns take about so long. The rest of the time is for those that wait behind one that hangs:
# they get in each other's way then, and take longer.
_TURNS_S, _SHARE_OF_TURNS = 0.1, 0.3
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """What a layer has to say, or why it says nothing."""

    layer: Layer
    items: list[Item]
    problem: str = ""


def find(connect: Connect, occasion: Occasion, setting: Setting, layers: Sequence[Layer]) -> list[Found]:
    """The candidates of each layer, in the order of the layers, whichever is done first."""
    if not layers:
        return []
    open_now: dict[str, sqlite3.Connection] = {}

    using = threading.Lock()  # what is closed may be another's a moment later

    def run(layer: Layer) -> list[Item]:
        with closing(connect()) as db:
            with using:
                open_now[layer.name] = db
            try:
                return layer.find(db, occasion, setting)
            finally:
                with using:
                    del open_now[layer.name]

    with _threads(1) as in_turn, _threads(len(layers)) as beside:
        begun = {layer.name: in_turn.submit(run, layer) for layer in sorted(layers, key=lambda one: not one.searches)}
        wait(begun.values(), _turns_s(occasion.until))
        futures = [beside.submit(run, layer) if (future := begun[layer.name]).cancel() else future for layer in layers]
        wait(futures, _left_s(occasion.until))
    found = [_outcome(layer, future) for layer, future in zip(layers, futures, strict=True)]
    with using:
        for one in found:
            if one.problem == OVERTIME and one.layer.name in open_now:
                open_now[one.layer.name].interrupt()
    return found


def _turns_s(until: float | None) -> float:
    """How long layers take turns."""
    left_s = _left_s(until)
    return _TURNS_S if left_s is None else min(_SHARE_OF_TURNS * left_s, _TURNS_S)


def _left_s(until: float | None) -> float | None:
    return None if until is None else max(until - time.monotonic(), 0)


@contextmanager
def _threads(most: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that nobody waits for in the end."""
    pool = ThreadPoolExecutor(most, thread_name_prefix="layer")
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _outcome(layer: Layer, future: Future[list[Item]]) -> Found:
    if future.cancelled() or not future.done():
        log.warning("layer took too long", extra={"layer": layer.name})
        return Found(layer, [], OVERTIME)
    error = future.exception()
    if error is None:
        return Found(layer, future.result())
    log.warning("layer failed", extra={"layer": layer.name, "error": type(error).__name__})
    return Found(layer, [], f"failed: {type(error).__name__}")
